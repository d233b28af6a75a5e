"""A store with a bad record, backups and the way back, old jobs that leave."""

import json
import sqlite3
import subprocess
import time

import case
from processes import wait_for

DAY_MS = 86_400_000


class RecoveryTest(case.BedCase):
    bed_options = {"nodes": ("n1",), "ctld": 'backup_every = "1s"\nbackup_keep = 3\nhistory = "3d"'}

    def store(self):
        return self.bed.ctld_state() / "state.db"

    def change_store(self, statement, *values):
        """While the controller is stopped."""
        connection = sqlite3.connect(self.store())
        with connection:
            self.assertGreater(connection.execute(statement, values).rowcount, 0)
        connection.close()

    def backups(self):
        return sorted((self.bed.ctld_state() / "backups").glob("state-*.db"))

    def wait_new_backup(self):
        """A backup that was begun after the call."""
        begin = time.time()
        fresh = lambda: [copy for copy in self.backups() if copy.stat().st_mtime > begin + 1]
        return wait_for(fresh, 20, self.bed.ctld.tail)[-1]

    def restore(self, copy):
        return subprocess.run([self.bed.bin / "artel-ctld", "--restore", copy], env=self.bed.daemon_environment(),
                              capture_output=True, text=True, check=False)

    def test_a_bad_record_is_set_aside_and_listed_for_operators(self):
        bad = self.bed.submit_held("--", "/bin/true")
        good = self.bed.submit_held("--", "/bin/true")
        self.bed.ctld.stop()
        self.change_store("UPDATE job SET state = 99 WHERE id = ?", bad)
        self.bed.start_ctld()
        self.bed.wait_nodes_up()
        self.assertIn(f"set aside: job {bad}: column state has the value 99", self.bed.ctld.text())
        self.assert_refused(self.bed.artel("admin", "lost-and-found"), "operators")
        text = self.bed.artel("admin", "lost-and-found", user="op").stdout
        self.assertRegex(text, rf"job +{bad} +column state has the value 99")
        answer = self.bed.artel("admin", "lost-and-found", "--json", user="op")
        self.assertEqual([record["name"] for record in json.loads(answer.stdout)["records"]], [str(bad)])
        self.assertEqual(self.bed.artel("release", str(good)).returncode, 0)
        self.assertEqual(self.bed.wait_final(good)["state"], "COMPLETED")
        self.bed.ctld.stop()
        self.change_store("UPDATE job SET state = 9, final = 1, ended_ms = submitted_ms WHERE id = ?", bad)

    def test_backups_are_made_beside_the_work_and_few_are_kept(self):
        self.bed.wait_final(self.bed.submit("--", "/bin/true"))
        for _ in range(4):
            copy = self.wait_new_backup()
        wait_for(lambda: len(self.backups()) == 3, 10, "the oldest go")
        self.assertEqual(copy.stat().st_mode & 0o777, 0o600)
        connection = sqlite3.connect(f"file:{copy}?mode=ro", uri=True)
        self.assertEqual(connection.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        connection.close()

    def test_a_restored_store_knows_what_its_backup_knew_and_gives_no_number_twice(self):
        known = self.bed.submit_held("--", "/bin/true")
        copy = self.wait_new_backup()
        kept = copy.rename(copy.parent / "kept.db")
        later = self.bed.submit("-t", "5m", "--", "/bin/sleep", "300")
        self.bed.wait_state(later, {"RUNNING"})
        self.assertIn("in use by process", self.restore(kept).stderr)
        self.bed.ctld.stop()
        missing = self.restore(self.bed.folder / "nothing.db")
        self.assertEqual(missing.returncode, 4)
        self.assertIn("the latest of", missing.stderr)
        done = self.restore(kept)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"to {later} may have been submitted since", done.stdout)
        before = self.bed.processes_of(later)
        self.bed.start_ctld()
        self.bed.wait_nodes_up()
        self.assertEqual(self.bed.state(known), "HELD")
        self.assertEqual(self.bed.artel("show", str(later)).returncode, 4)
        self.assertEqual(self.bed.processes_of(later), before)  # unknown is no reason to kill
        self.assertGreater(self.bed.submit_held("--", "/bin/true"), later)
        # Back to the store from before: what it knew is there again.
        self.bed.ctld.stop()
        aside = next(self.bed.ctld_state().glob("state.db.aside-*Z"))
        done = self.restore(aside)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.bed.start_ctld()
        self.bed.wait_nodes_up()
        self.assertEqual(self.bed.state(later), "RUNNING")
        self.assertEqual(self.bed.processes_of(later), before)

    def test_old_jobs_are_written_down_and_leave(self):
        old = self.bed.submit("--", "/bin/true")
        self.bed.wait_final(old)
        young = self.bed.submit("--", "/bin/true")
        self.bed.wait_final(young)
        self.bed.ctld.stop()
        self.change_store("UPDATE job SET submitted_ms = submitted_ms - ?, ended_ms = ended_ms - ? WHERE id <= ?",
                          4 * DAY_MS, 4 * DAY_MS, old)
        self.bed.start_ctld()
        self.bed.wait_nodes_up()
        wait_for(lambda: self.bed.artel("show", str(old)).returncode == 4, 20, self.bed.ctld.tail)
        lines = [json.loads(line) for path in (self.bed.ctld_state() / "history").iterdir()
                 for line in path.read_text().splitlines()]
        self.assertIn((old, "COMPLETED"), [(line["job"], line["state"]) for line in lines])
        self.assertEqual(self.bed.state(young), "COMPLETED")


if __name__ == "__main__":
    case.main()
