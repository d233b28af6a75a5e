"""The main job: a gang of data-parallel ranks over all nodes, disturbed in every way that must not disturb it."""

import os
import re
import signal
import time

import case
import processes
from processes import wait_for
from training import ACCURACY, last_epoch, ranks, slow_training, submit_training, wait_epoch

WORLD = 8
GONE_SECONDS = 5
ACCURATE = 0.95


class TrainingTest(case.BedCase):
    def all_ranks(self, job):
        found = ranks(self.bed, job)
        self.assertEqual(sorted(found), list(range(WORLD)))
        return found

    def assert_trained(self, job, attempts=1):
        """COMPLETED once, by the attempts told, with a good model."""
        view = self.bed.wait_final(job, 120)
        self.assertEqual(view["state"], "COMPLETED", self.bed.output(job))
        self.assertEqual(len(view["attempts"]), attempts)
        accuracy = ACCURACY.findall(self.bed.output(job))
        self.assertEqual(len(accuracy), 1, self.bed.output(job))
        self.assertGreaterEqual(float(accuracy[0]), ACCURATE)
        return view

    def assert_all_gone(self, job, since):
        wait_for(lambda: not self.bed.processes_of(job), max(0.0, since + GONE_SECONDS - time.monotonic()),
                 lambda: f"no process of job {job}; {[processes.command_of(p) for p in self.bed.processes_of(job)]}")

    def test_a_gang_trains_on_four_nodes_with_a_world_of_eight(self):
        job = slow_training(self.bed)
        found = self.all_ranks(job)
        places = [processes.environment_of(pid) for pid, _ in found.values()]
        self.assertEqual({place["ARTEL_NODE"] for place in places}, set(self.bed.nodes))
        self.assertEqual({place["WORLD_SIZE"] for place in places}, {str(WORLD)})
        self.assertEqual({processes.uid_of(pid) for pid, _ in found.values()}, {self.bed.users["u1"].pw_uid})
        self.assert_trained(job)

    def test_mpi_itself_sees_one_world_over_all_nodes(self):
        job = self.bed.submit("-N", "4", "--tasks-per-node", "2", "-t", "5m", "--", self.bed.programs / "mpi_probe")
        self.assertEqual(self.bed.wait_final(job)["state"], "COMPLETED", self.bed.output(job))
        lines = re.findall(r"^rank (\d+) of (\d+) node (\S+) ", self.bed.output(job), re.MULTILINE)
        self.assertEqual(sorted(int(rank) for rank, _, _ in lines), list(range(WORLD)))
        self.assertEqual({size for _, size, _ in lines}, {str(WORLD)})
        self.assertEqual({node for _, _, node in lines}, set(self.bed.nodes))

    def test_kill_9_of_the_controller_does_not_disturb_the_training(self):
        job = slow_training(self.bed)
        before = self.all_ranks(job)
        self.bed.ctld.kill()
        wait_epoch(self.bed, job, last_epoch(self.bed, job) + 2)
        self.bed.start_ctld()
        self.bed.wait_nodes_up()
        self.assertEqual(self.bed.state(job), "RUNNING")
        self.assertEqual(self.all_ranks(job), before)
        self.assert_trained(job)
        self.assert_ended_once(job)

    def test_an_end_while_the_controller_is_dead_is_recorded_once(self):
        job = slow_training(self.bed, epochs=8)
        self.bed.ctld.kill()
        wait_for(lambda: not self.bed.processes_of(job), 60, "the training ends without a controller")
        self.bed.start_ctld()
        self.bed.wait_nodes_up()
        self.assert_trained(job)
        self.assert_ended_once(job)

    def test_kill_9_of_an_agent_does_not_disturb_the_training(self):
        job = slow_training(self.bed)
        before = self.all_ranks(job)
        agent = self.bed.agents[self.bed.nodes[1]]
        agent.kill()
        wait_epoch(self.bed, job, last_epoch(self.bed, job) + 2)
        agent.start()
        self.bed.wait_nodes_up()
        self.assertEqual(self.bed.state(job), "RUNNING")
        self.assertEqual(self.all_ranks(job), before)
        self.assert_trained(job)

    def test_an_end_while_an_agent_is_dead_is_known_when_it_is_back(self):
        job = slow_training(self.bed, epochs=8)
        agent = self.bed.agents[self.bed.nodes[2]]
        agent.kill()
        wait_for(lambda: not self.bed.processes_of(job), 60, "the training ends without the agent")
        agent.start()
        self.assert_trained(job)

    def test_kill_9_of_one_rank_ends_the_gang_and_names_it(self):
        job = slow_training(self.bed)
        pid, _ = self.all_ranks(job)[5]
        node = processes.environment_of(pid)["ARTEL_NODE"]
        since = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        self.assert_all_gone(job, since)
        view = self.bed.wait_final(job)
        self.assertEqual(view["state"], "FAILED")
        cause = view["cause"]
        self.assertEqual((cause["rank"], cause["node"], cause["signal"]), (5, node, signal.SIGKILL))
        for word in ("rank 5", node, "signal 9"):
            self.assertIn(word, cause["text"])

    def test_mpi_abort_of_one_rank_ends_the_gang_with_its_code(self):
        job = submit_training(self.bed, "--fail-at-epoch", "1:3:abort")
        view = self.bed.wait_final(job)
        self.assertEqual(view["state"], "FAILED")
        self.assertEqual((view["cause"]["rank"], view["cause"]["exit_code"]), (3, 70), view["cause"])
        self.assertFalse(self.bed.processes_of(job))

    def test_a_cancel_while_training_leaves_nothing_and_names_who(self):
        job = slow_training(self.bed)
        since = time.monotonic()
        answer = self.bed.artel("cancel", str(job))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assert_all_gone(job, since)
        view = self.bed.wait_final(job)
        self.assertEqual(view["state"], "CANCELLED")
        self.assertEqual(view["cause"]["actor_name"], self.bed.user_name("u1"))
        history = self.bed.artel("history").stdout
        line = next(line for line in history.splitlines() if line.split()[:1] == [str(job)])
        self.assertIn(self.bed.user_name("u1"), line)

    def assert_ended_once(self, job):
        """One row in the history, one attempt in the usage."""
        rows = [row for row in self.bed.ask("history")["jobs"] if row["job"] == job]
        self.assertEqual(len(rows), 1)
        view = self.bed.show(job)
        self.assertEqual([attempt["outcome"] for attempt in view["attempts"]], ["COMPLETED"])


if __name__ == "__main__":
    case.main()
