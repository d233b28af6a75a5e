"""What goes on while the controller is there but does not answer, and what is lost when a daemon dies for good."""

import os
import signal
import time

import case
import processes
from processes import wait_for

SILENCE = 4
TOLERANCE = 2
LEASE = 20


class SilenceTest(case.BedCase):
    bed_options = {"nodes": ("n1", "n2")}

    def sleeper(self, seconds, *options):
        job = self.bed.submit("-N", "2", *options, "--", "/bin/sleep", str(seconds))
        self.bed.wait_state(job, {"RUNNING"})
        return job

    def silence(self):
        """The controller stops in its tracks until resume()."""
        os.kill(self.bed.ctld.pid, signal.SIGSTOP)
        self.addCleanup(self.resume)

    def resume(self):
        if self.bed.ctld.running():
            os.kill(self.bed.ctld.pid, signal.SIGCONT)

    def gone_at(self, job, seconds):
        """When the last process of the job was gone, in milliseconds of the clock."""
        wait_for(lambda: not self.bed.processes_of(job), seconds, f"no process of job {job}")
        return time.time() * 1000

    def step_daemon(self, node):
        found = [pid for pid in processes.with_environment(ARTEL_NODE=node)
                 if "artel-stepd" in processes.command_of(pid)]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_an_end_during_the_silence_is_recorded_with_its_real_time(self):
        job = self.sleeper(2, "-t", "5m")
        waiting = self.bed.submit("-N", "2", "-t", "5m", "--", "/bin/true")
        self.silence()
        ended = self.gone_at(job, 20)
        wait_for(lambda: time.time() * 1000 > ended + SILENCE * 1000, SILENCE + 5, "the silence is long enough")
        self.resume()
        view = self.bed.wait_final(job)
        self.assertEqual(view["state"], "COMPLETED")
        first = view["attempts"][0]
        self.assertLess(abs(first["ended_ms"] - ended), TOLERANCE * 1000)
        later = self.bed.wait_final(waiting)
        self.assertEqual(later["state"], "COMPLETED", later["cause"])
        self.assertGreaterEqual(later["started_ms"], first["ended_ms"])

    def test_the_limit_passes_during_the_silence_and_still_ends_the_job(self):
        job = self.sleeper(300, "-t", "3s")
        self.silence()
        self.gone_at(job, 3 + 2 * TOLERANCE)
        self.resume()
        view = self.bed.wait_final(job)
        self.assertEqual((view["state"], len(view["attempts"])), ("TIMEOUT", 1), view["cause"])
        self.assertGreater(view["elapsed_ms"], 0)

    def assert_lost_step(self, job, node):
        """The first attempt ended for the lost step daemon, left nothing, and the job runs again as a whole."""
        def second_runs():
            view = self.bed.show(job)
            return len(view["attempts"]) == 2 and view["state"] == "RUNNING" and view
        view = wait_for(second_runs, 30, lambda: f"a second attempt runs; {self.bed.show(job)['attempts']}")
        first, second = view["attempts"]
        self.assertEqual((first["outcome"], first["cause"]["code"], first["cause"]["node"]),
                         ("NODE_FAIL", "step-lost", node))
        self.assertFalse(processes.with_environment(ARTEL_CLUSTER=self.bed.cluster, ARTEL_ATTEMPT_KEY=f"{job}.0.1"))
        self.assertGreaterEqual(second["allocated_ms"], first["ended_ms"])

    def test_a_new_agent_goes_on_with_the_lease_of_the_earlier_one(self):
        job = self.bed.submit("-N", "1", "-w", self.bed.nodes[0], "-t", "5m", "--", "/bin/sleep", "300")
        self.bed.wait_state(job, {"RUNNING"})
        contacts = self.bed.folder / "node" / self.bed.nodes[0] / "contacts"
        wait_for(contacts.exists, 10, "the last contact is kept")
        agent, peer = (self.bed.agents[node] for node in self.bed.nodes)
        os.kill(peer.pid, signal.SIGSTOP)
        self.silence()
        cut = time.monotonic()
        wait_for(lambda: time.monotonic() - cut > LEASE / 2, LEASE, "half of the lease is over")
        agent.kill()
        agent.start()
        wait_for(lambda: not self.bed.processes_of(job), 2 * LEASE, "the node ends the job by itself")
        self.assertLess(time.monotonic() - cut, LEASE + TOLERANCE * 2)
        os.kill(peer.pid, signal.SIGCONT)
        self.resume()

    def test_a_step_daemon_that_dies_ends_the_gang_and_leaves_nothing(self):
        job = self.sleeper(300, "-t", "5m")
        os.kill(self.step_daemon(self.bed.nodes[1]), signal.SIGKILL)
        self.assert_lost_step(job, self.bed.nodes[1])

    def test_an_agent_that_dies_with_its_step_daemon_finds_the_orphans_when_it_is_back(self):
        job = self.sleeper(300, "-t", "5m")
        node = self.bed.nodes[0]
        step = self.step_daemon(node)
        self.bed.agents[node].kill()
        os.kill(step, signal.SIGKILL)
        self.bed.agents[node].start()
        self.assert_lost_step(job, node)


if __name__ == "__main__":
    case.main()
