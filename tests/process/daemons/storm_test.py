"""Daemons die all the time while people submit, cancel, drain and resume: what was answered holds."""

import json
import os
import random
import threading
import time

import case

KILLS = int(os.environ.get("ARTEL_STORM_KILLS", "50"))
UNREACHABLE = 5


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
        self.submitted, self.cancelled = [], []
        self.orders = 0

    def ask(self, *words, user="u1"):
        """Asks again where the controller stays away for longer than the command waits."""
        while True:
            answer = self.bed.artel(*words, user=user)
            if answer.returncode != UNREACHABLE:
                return answer

    def submit(self):
        marker = self.bed.home("u1") / "runs"
        script = f"echo $ARTEL_JOB_ID >> {marker}; sleep 0.$(( $$ % 10 ))"
        answer = self.ask("submit", "--json", "--gpus-per-node", "1", "-t", "2m", "--", "/bin/sh", "-c", script)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.submitted.append(json.loads(answer.stdout)["job"])

    def cancel(self):
        """Of a job that would run for longer than anybody waits here."""
        answer = self.ask("submit", "--json", "--gpus-per-node", "1", "-t", "10m", "--", "/bin/sleep", "600")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        job = json.loads(answer.stdout)["job"]
        time.sleep(self.random.uniform(0, 0.5))
        answer = self.ask("cancel", str(job))
        # The answer to the first try may be lost with the controller.
        self.assertTrue(answer.returncode == 0 or "has ended" in answer.stderr, answer.stderr)
        self.cancelled.append(job)

    def drain_and_resume(self):
        """Nobody else gives orders to this node, so it stays what it was made."""
        node = self.bed.nodes[0]
        for word, expected in (("drain", True), ("resume", False)):
            reason = ["--reason", "storm"] if word == "drain" else []
            answer = self.ask(word, node, *reason, user="op")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.orders += 1
            for _ in range(3):
                time.sleep(0.3)
                views = json.loads(self.ask("nodes", "--json", user="root").stdout)["nodes"]
                view = next(view for view in views if view["node"] == node)
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
        jobs = self.submitted + self.cancelled
        self.assertEqual(len(set(jobs)), len(jobs), "an id was given twice")
        self.assertGreater(len(self.submitted), KILLS / 5)
        self.assertGreater(len(self.cancelled), 1)
        self.assertGreater(self.orders, 1)
        for job in jobs:
            expected = "COMPLETED" if job in self.submitted else "CANCELLED"
            self.assertEqual(self.bed.wait_final(job, 120)["state"], expected, f"job {job}, seed {self.seed}")
        written = [int(line) for line in (self.bed.home("u1") / "runs").read_text().split()]
        # What nobody was answered for may run as well, but once.
        self.assertEqual(len(set(written)), len(written), f"each runs once, seed {self.seed}")
        self.assertLessEqual(set(self.submitted), set(written), f"seed {self.seed}")


if __name__ == "__main__":
    case.main()
