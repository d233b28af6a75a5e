"""Teams on a real cluster: what is borrowed is given back, questions are answered, orders outlive the controller."""

import signal

import case
from processes import wait_for

# Two nodes of 8 GPUs: one is promised to each team.
TEAMS = """
[[team]]
name = "red"
guarantee = { h100 = 8 }

[[team]]
name = "blue"
guarantee = { h100 = 8 }
"""


class TeamsTest(case.BedCase):
    bed_options = {"nodes": ("n1", "n2"), "teams": TEAMS}

    def sleeper(self, team, *options, seconds=300):
        return self.bed.submit("-A", team, "-t", "5m", *options, "--", "/bin/sleep", str(seconds))

    def cancel(self, *jobs):
        self.assertEqual(self.bed.artel("cancel", *map(str, jobs)).returncode, 0)
        for job in jobs:
            self.bed.wait_final(job)

    def restart_ctld(self):
        self.bed.ctld.kill()
        self.bed.start_ctld()
        self.bed.wait_nodes_up()

    def test_a_borrower_gives_way_is_told_why_and_comes_back(self):
        kept = self.sleeper("red")
        self.bed.wait_state(kept, {"RUNNING"})
        borrowed = self.sleeper("red")
        self.bed.wait_state(borrowed, {"RUNNING"})
        owed = self.sleeper("blue")
        self.bed.wait_state(owed, {"RUNNING"})
        view = self.bed.wait_state(borrowed, {"PENDING"})
        first = view["attempts"][0]
        self.assertEqual((first["outcome"], first["cause"]["code"]), ("PREEMPTED", "preempted"), first)
        self.assertIn(f"job {owed}", first["cause"]["text"])
        self.assertEqual(self.bed.state(kept), "RUNNING")
        # As a borrower it would have to wait out its back-off; inside the guarantee it starts at once.
        self.cancel(kept)
        again = self.bed.wait_state(borrowed, {"RUNNING"})
        self.assertEqual(len(again["attempts"]), 2)
        self.assertEqual(self.bed.state(owed), "RUNNING")
        self.cancel(owed, borrowed)

    def test_production_stays_inside_the_guarantee_and_says_so(self):
        first = self.sleeper("red", "--class", "production")
        self.bed.wait_state(first, {"RUNNING"})
        second = self.sleeper("red", "--class", "production")
        reason = self.bed.ask("why", str(second))["blockers"][0]
        self.assertEqual(reason["code"], "GuaranteeOnly", reason)
        self.assertIn("team red", reason["text"])
        self.cancel(first, second)

    def test_a_question_foresees_what_then_happens(self):
        running = [self.sleeper("red"), self.sleeper("red")]
        for job in running:
            self.bed.wait_state(job, {"RUNNING"})
        foreseen = self.bed.ask("submit", "--dry-run", "-A", "blue", "-t", "5m", "--", "/bin/sleep", "300")
        self.assertEqual([line["job"] for line in foreseen["evictions"]], [running[1]], foreseen)
        self.assertEqual(self.bed.state(running[1]), "RUNNING")
        owed = self.sleeper("blue")
        self.bed.wait_state(running[1], {"PENDING"})
        self.cancel(owed, *running)

    def reload(self, teams, said):
        """Writes the team files, and waits for the line of the log about them."""
        log = self.bed.folder / "log" / "ctld"
        before = log.stat().st_size
        self.bed.teams = teams
        self.bed.write_teams()
        self.bed.ctld.process.send_signal(signal.SIGHUP)
        wait_for(lambda: said in log.read_text()[before:], 10, lambda: f"'{said}' in the log\n{self.bed.logs()}")

    def test_new_terms_count_without_a_restart_and_mistakes_change_nothing(self):
        self.reload(TEAMS.replace("guarantee", "limit = { h100 = 8 }\nguarantee"), "2 cohorts and teams have new terms")
        running = self.sleeper("red")
        self.bed.wait_state(running, {"RUNNING"})
        waiting = self.sleeper("red")
        self.assertEqual(self.bed.ask("why", str(waiting))["blockers"][0]["code"], "QuotaLimit")
        self.reload(TEAMS.replace("guarantee", "guaranty"), "classes.toml:")
        self.reload(TEAMS + '[[team]]\nname = "green"\nguarantee = {}\n', "team 'green' is new")
        self.assertEqual(self.bed.state(waiting), "PENDING")
        self.reload(TEAMS, "2 cohorts and teams have new terms")
        self.bed.wait_state(waiting, {"RUNNING"})
        self.assertEqual(self.bed.show(running)["attempts"][0]["attempt"], 1)
        self.assertEqual(self.bed.state(running), "RUNNING")
        self.cancel(running, waiting)

    def test_holds_and_drains_outlive_the_controller(self):
        drained = self.bed.nodes[0]
        answer = self.bed.artel("drain", drained, "--reason", "fan is loud", user="op")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assert_refused(self.bed.artel("resume", drained), "operator")
        both = self.sleeper("red", "-N", "2")
        self.assertEqual(self.bed.ask("why", str(both))["blockers"][0]["code"], "NodesDown")
        self.assertEqual(self.bed.artel("hold", str(both)).returncode, 0)
        self.restart_ctld()
        self.assertEqual(self.bed.state(both), "HELD")
        view = self.bed.node_views()[drained]
        self.assertEqual(view["state"], "drained", view)
        self.assertIn("fan is loud", view["drain_reason"])
        for words in (("resume", drained), ("release", str(both))):
            answer = self.bed.artel(*words, user="op")
            self.assertEqual(answer.returncode, 0, answer.stderr)
        self.bed.wait_state(both, {"RUNNING"})
        self.cancel(both)


if __name__ == "__main__":
    case.main()
