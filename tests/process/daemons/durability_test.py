"""What was acknowledged stays, whatever happens to the controller and its state."""

import json
import os
import re
import time

import case
from processes import wait_for

KILLS = int(os.environ.get("ARTEL_KILLS", "200"))


class DurabilityTest(case.BedCase):
    bed_options = {"nodes": ("n1",)}

    def submit_and_kill(self):
        """The id, if one was printed; the controller is killed the moment it is."""
        process = self.bed.popen("submit", "-t", "1m", "--", "/bin/true")
        line = process.stdout.readline()
        self.bed.ctld.kill()
        process.communicate(timeout=30)
        found = re.fullmatch(r"job (\d+)\n", line)
        return int(found.group(1)) if found else None

    def test_every_acknowledged_job_is_there_and_no_id_is_used_twice(self):
        acknowledged = []
        for _ in range(KILLS):
            job = self.submit_and_kill()
            self.assertIsNotNone(job, self.bed.logs())
            acknowledged.append(job)
            self.bed.start_ctld()
        self.assertEqual(len(set(acknowledged)), KILLS, acknowledged)
        self.bed.wait_nodes_up()
        for job in acknowledged:
            view = self.bed.wait_final(job, 120)
            self.assertEqual(view["state"], "COMPLETED", view)
            self.assertEqual(view["user"], self.bed.user_name("u1"))

    def order_and_kill(self, *words):
        """The controller is killed the moment the order is acknowledged, and started again."""
        process = self.bed.popen(*words)
        line = process.stdout.readline()
        self.bed.ctld.kill()
        errors = process.communicate(timeout=30)[1]
        self.assertTrue(line.startswith("job "), (words, line, errors))
        self.bed.start_ctld()
        self.bed.wait_nodes_up()

    def test_orders_that_change_jobs_are_there_after_a_kill(self):
        runs = self.bed.submit("-t", "5m", "--", "/bin/sleep", "300")
        self.bed.wait_state(runs, {"RUNNING"})
        waits = self.bed.submit("-t", "5m", "--", "/bin/sleep", "300")
        self.order_and_kill("update", "-J", "short", "-t", "2m", str(waits))
        self.assertEqual([self.bed.show(waits)[key] for key in ("name", "time_limit_ms")], ["short", 120000])
        self.order_and_kill("hold", "--reason", "wrong data", str(waits))
        self.assertEqual(self.bed.state(waits), "HELD")
        self.assertIn("wrong data", self.bed.show(waits)["cause"]["text"])
        self.order_and_kill("release", str(waits))
        self.assertEqual(self.bed.state(waits), "PENDING")
        self.order_and_kill("requeue", "--reason", "new data", str(runs))
        wait_for(lambda: len(self.bed.show(runs)["attempts"]) == 2, 30, self.bed.logs)
        first = self.bed.show(runs)["attempts"][0]
        self.assertEqual(first["cause"]["code"], "requeue", first)
        self.assertIn("new data", first["cause"]["text"])
        self.bed.wait_state(runs, {"RUNNING"})
        self.assertEqual(self.bed.state(waits), "PENDING")
        self.assertNotEqual(self.bed.artel("update", "-N", "2", str(runs)).returncode, 0)
        for job in (runs, waits):
            self.bed.artel("cancel", str(job))

    def test_finished_stays_finished_over_three_restarts(self):
        marker = self.bed.home("u1") / "runs"
        good = self.bed.submit("--", "/bin/sh", "-c", f"echo good >> {marker}")
        bad = self.bed.submit("--", "/bin/sh", "-c", f"echo bad >> {marker}; exit 4")
        self.bed.wait_final(good)
        self.bed.wait_final(bad)
        for _ in range(3):
            self.bed.ctld.kill()
            self.bed.start_ctld()
            self.bed.wait_nodes_up()
            self.assertEqual(self.bed.state(good), "COMPLETED")
            self.assertEqual(self.bed.state(bad), "FAILED")
        self.assertEqual(sorted(marker.read_text().split()), ["bad", "good"])

    def test_an_empty_state_folder_is_refused_and_running_jobs_are_left_alone(self):
        jobs = [self.bed.submit("--gpus-per-node", "1", "-t", "5m", "--", "/bin/sleep", "300") for _ in range(2)]
        for job in jobs:
            self.bed.wait_state(job, {"RUNNING"})
        before = [self.bed.processes_of(job) for job in jobs]
        self.bed.ctld.stop()
        state, away = self.bed.folder / "ctld", self.bed.folder / "ctld-away"
        state.rename(away)
        self.bed.ctld.start()
        self.assertNotEqual(self.bed.ctld.wait_exit(20), 0)
        text = self.bed.ctld.text()
        self.assertIn(str(state), text)
        self.assertIn("--first-start", text)
        self.assertFalse((state / "state.db").exists())
        self.assertEqual([self.bed.processes_of(job) for job in jobs], before)
        if state.exists():
            state.rmdir()
        away.rename(state)
        self.bed.start_ctld()
        self.bed.wait_nodes_up()
        self.assertEqual([self.bed.state(job) for job in jobs], ["RUNNING", "RUNNING"])
        self.assertEqual([self.bed.processes_of(job) for job in jobs], before)

    def test_a_second_controller_on_the_same_state_is_refused(self):
        self.bed.artel("queue")
        twin = type(self.bed.ctld)("twin", self.bed.ctld.command, self.bed.folder / "log" / "twin",
                                   self.bed.daemon_environment())
        twin.start()
        self.assertNotEqual(twin.wait_exit(20), 0)
        self.assertRegex(twin.text(), rf"in use by process {self.bed.ctld.pid} on host \S+ since 20\S+Z")
        self.assertEqual(self.bed.artel("queue").returncode, 0)

    def test_a_second_controller_takes_over_within_ten_seconds(self):
        runs = self.bed.submit("-t", "5m", "--", "/bin/sleep", "300")
        self.bed.wait_state(runs, {"RUNNING"})
        before = self.bed.processes_of(runs)
        first = self.bed.ctld
        self.bed.ctld = type(first)("twin", first.command, self.bed.folder / "log" / "twin", self.bed.daemon_environment())
        first.kill()
        asked = self.bed.popen("queue", "--json")  # finds nobody and tries again
        begin = time.monotonic()
        self.bed.ctld.start()
        out, err = asked.communicate(timeout=30)
        self.assertEqual(asked.returncode, 0, err)
        self.assertEqual([job["job"] for job in json.loads(out)["jobs"]], [runs])
        self.bed.wait_nodes_up()
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(self.bed.processes_of(runs), before)
        self.assertEqual(self.bed.state(runs), "RUNNING")

    def test_an_agent_with_a_wrong_key_gets_no_work(self):
        node = self.bed.nodes[0]
        key = self.bed.folder / "node-keys" / f"{node}.key"
        right = key.read_text()
        agent = self.bed.agents[node]
        agent.stop()
        key.write_text("0" * 64 + "\n")
        agent.start()
        job = self.bed.submit("--", "/bin/true")
        wait_for(lambda: re.search("(?i)key|refus|proof", agent.text()), 20, agent.tail)
        self.assertEqual(self.bed.state(job), "PENDING")
        agent.kill()
        key.write_text(right)
        agent.start()
        self.assertEqual(self.bed.wait_final(job)["state"], "COMPLETED")


if __name__ == "__main__":
    case.main()
