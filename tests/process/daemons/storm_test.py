"""Daemons die all the time while people submit, cancel, drain and resume: what was answered holds."""

import json
import os
import random
import threading
import time

import case

KILLS = int(os.environ.get("ARTEL_STORM_KILLS", "50"))
OUT_OF_SERVICE = {"draining", "drained"}


class Person(threading.Thread):
    """Does one thing after another until the storm is over; what goes wrong is kept."""

    def __init__(self, act, over):
        super().__init__(daemon=True)
        self.act, self.over, self.failure = act, over, None

    def run(self):
        try:
            while not self.over.is_set():
                self.act()
        except Exception as failure:  # pylint: disable=broad-except
            self.failure = failure


class StormTest(case.BedCase):
    bed_options = {"nodes": ("n1", "n2", "n3")}

    def setUp(self):
        self.seed = int(os.environ.get("ARTEL_SEED", "0")) or random.randrange(1, 1 << 30)
        self.random = random.Random(self.seed)
        self.over = threading.Event()
        self.submitted, self.cancelled = [], set()
        self.orders = 0

    def submit(self):
        marker = self.bed.home("u1") / "runs"
        script = f"echo $ARTEL_JOB_ID >> {marker}; sleep 0.$(( $$ % 10 ))"
        answer = self.bed.artel("submit", "--json", "--gpus-per-node", "1", "-t", "2m", "--", "/bin/sh", "-c", script)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.submitted.append(json.loads(answer.stdout)["job"])

    def cancel(self):
        time.sleep(0.2)
        if self.submitted:
            job = self.random.choice(self.submitted[-20:])
            if self.bed.artel("cancel", str(job)).returncode == 0:
                self.cancelled.add(job)

    def drain_and_resume(self):
        """Nobody else gives orders to this node, so it stays what it was made."""
        node = self.bed.nodes[0]
        for word, expected in (("drain", True), ("resume", False)):
            reason = ["--reason", "storm"] if word == "drain" else []
            answer = self.bed.artel(word, node, *reason, user="op")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.orders += 1
            for _ in range(3):
                time.sleep(0.3)
                view = self.bed.node_views()[node]
                self.assertEqual(bool(view["drains"]), expected, view)

    def kill_some(self):
        """Most often the controller, else an agent; both come back before long."""
        for _ in range(KILLS):
            time.sleep(self.random.uniform(0.1, 0.7))
            victim = self.bed.ctld if self.random.random() < 0.6 else self.bed.agents[self.random.choice(self.bed.nodes)]
            victim.kill()
            time.sleep(self.random.uniform(0, 0.4))
            victim.start()

    def test_what_was_answered_holds(self):
        people = [Person(act, self.over) for act in (self.submit, self.submit, self.cancel, self.drain_and_resume)]
        for person in people:
            person.start()
        self.kill_some()
        self.over.set()
        for person in people:
            person.join(120)
        self.bed.start_ctld()
        for person in people:
            self.assertFalse(person.is_alive())
            self.assertIsNone(person.failure, f"seed {self.seed}: {person.failure}\n{self.bed.logs()}")
        self.bed.wait_nodes_up()
        self.bed.artel("resume", self.bed.nodes[0], user="op")
        self.check_jobs()
        print(f"{KILLS} kills, seed {self.seed}: {len(self.submitted)} jobs acknowledged, {len(self.cancelled)} cancels, "
              f"{self.orders} drains and resumes; none lost, no id twice")

    def check_jobs(self):
        self.assertEqual(len(set(self.submitted)), len(self.submitted), "an id was given twice")
        self.assertGreater(len(self.submitted), KILLS / 5)
        self.assertGreater(self.orders, 1)
        runs = []
        for job in self.submitted:
            state = self.bed.wait_final(job, 120)["state"]
            self.assertIn(state, {"COMPLETED", "CANCELLED"}, f"job {job}, seed {self.seed}")
            self.assertTrue(state == "COMPLETED" or job in self.cancelled, f"job {job} is {state}, seed {self.seed}")
            if state == "COMPLETED":
                runs.append(job)
        written = [int(line) for line in (self.bed.home("u1") / "runs").read_text().split()]
        for job in runs:
            self.assertEqual(written.count(job), 1, f"runs of job {job}, seed {self.seed}")


if __name__ == "__main__":
    case.main()
