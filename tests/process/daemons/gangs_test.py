"""Gangs start whole or not at all."""

import random

import case
from processes import wait_for

ROUNDS = 50


class GangsTest(case.BedCase):
    def all_cluster(self):
        return self.bed.popen("submit", "--json", "-N", str(len(self.bed.nodes)), "--gpus-per-node", "8", "-t", "1m", "--",
                              "/bin/sleep", "0.2")

    def holders(self):
        """Per job the number of nodes on which it holds GPUs."""
        jobs = self.bed.ask("queue", user="root")["jobs"]
        return {job["job"]: len(job["node_list"]) for job in jobs if job["state"] != "PENDING"}

    def test_of_two_all_cluster_gangs_one_runs_whole_and_the_other_holds_nothing(self):
        generator = random.Random(7)
        for _ in range(ROUNDS):
            pair = [self.all_cluster(), self.all_cluster()]
            if generator.random() < 0.5:
                pair.reverse()
            for process in pair:
                out, err = process.communicate(timeout=30)
                self.assertEqual(process.returncode, 0, out + err)
            seen = set()

            def over():
                holders = self.holders()
                self.assertLessEqual(len(holders), 1, holders)
                self.assertTrue(all(count == len(self.bed.nodes) for count in holders.values()), holders)
                seen.update(holders)
                return not self.bed.ask("queue", user="root")["jobs"]
            wait_for(over, 60, self.bed.logs, interval=0.05)

    def test_a_gang_waits_whole_while_one_node_is_busy_and_says_why(self):
        busy = self.bed.submit("-t", "5m", "-w", self.bed.nodes[3], "--", "/bin/sleep", "300")
        self.bed.wait_state(busy, {"RUNNING"})
        gang = self.bed.submit("-N", "4", "-t", "1m", "--", "/bin/true")
        view = wait_for(lambda: self.bed.show(gang), 5, "a view")
        self.assertEqual((view["state"], view["attempts"]), ("PENDING", []))
        wait_for(lambda: self.bed.show(gang)["wait"]["text"], 5, "a reason")
        self.assertEqual(self.bed.artel("cancel", str(busy)).returncode, 0)
        self.assertEqual(self.bed.wait_final(gang)["state"], "COMPLETED")

    def test_cancel_of_a_waiting_gang_is_final_at_once(self):
        busy = self.bed.submit("-N", "4", "-t", "5m", "--", "/bin/sleep", "300")
        waiting = self.bed.submit("-N", "4", "-t", "5m", "--", "/bin/sleep", "300")
        self.assertEqual(self.bed.artel("cancel", str(waiting), str(busy)).returncode, 0)
        self.assertEqual(self.bed.wait_final(waiting, 5)["state"], "CANCELLED")
        self.assertEqual(self.bed.wait_final(busy, 10)["state"], "CANCELLED")


if __name__ == "__main__":
    case.main()
