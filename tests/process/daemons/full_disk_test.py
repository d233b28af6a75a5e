"""A disk of the controller that runs full: nothing that was acknowledged is lost, jobs go on, and room is all that is needed."""

import os

import case
from processes import wait_for

MIB = 1 << 20
EXIT_TRY_AGAIN = 10


class FullDiskTest(case.BedCase):
    bed_options = {"nodes": ("n1",), "disk": "32m",
                   "ctld": 'min_free = "6MiB"\nreserve = "2MiB"\nbackup_every = "0s"'}

    def free(self):
        status = os.statvfs(self.bed.ctld_state())
        return status.f_bavail * status.f_frsize

    def fill(self, leave):
        """Until so many bytes are free."""
        with open(self.bed.ctld_state() / "filler", "ab", buffering=0) as filler:
            while self.free() > leave:
                try:
                    filler.write(b"x" * min(MIB, max(4096, self.free() - leave)))
                except OSError:
                    break

    def clear(self):
        (self.bed.ctld_state() / "filler").unlink(missing_ok=True)

    def tearDown(self):
        self.clear()
        self.wait_taken(True)
        super().tearDown()

    def submit(self):
        return self.bed.artel("submit", "--gpus-per-node", "1", "-t", "1m", "--", "/bin/true")

    def wait_taken(self, taken):
        answers = []

        def reached():
            answers.append(self.submit())
            return (answers[-1].returncode == 0) == taken
        wait_for(reached, 30, lambda: f"{answers[-1]}\n{self.bed.logs()}", interval=0.2)
        return answers[-1]

    def start_waiting_job(self, label):
        """A job that ends when its marker is there, with exit code 3."""
        marker = self.bed.home("u1") / f"end-{label}"
        job = self.bed.submit("--gpus-per-node", "1", "-t", "5m", "--", "/bin/sh", "-c",
                              f"while ! [ -e {marker} ]; do sleep 0.1; done; exit 3")
        self.bed.wait_state(job, {"RUNNING"})
        return job, marker

    def test_below_the_watermark_new_jobs_are_refused_and_waiting_ones_do_not_start(self):
        held = self.bed.submit_held("-t", "1m", "--", "/bin/true")
        running, marker = self.start_waiting_job("low")
        self.fill(4 * MIB)
        refused = self.wait_taken(False)
        self.assertEqual(refused.returncode, EXIT_TRY_AGAIN, refused.stderr)
        for word in ("MiB free", "ctld.min_free", "try again in"):
            self.assertIn(word, refused.stderr)
        self.assertEqual(self.bed.artel("release", str(held)).returncode, EXIT_TRY_AGAIN)
        self.assertEqual(self.bed.state(running), "RUNNING")
        self.assertEqual(self.bed.artel("cancel", str(held)).returncode, 0)
        marker.touch()
        self.assertEqual(self.bed.wait_final(running)["exit_code"], 3)
        self.clear()
        self.wait_taken(True)

    def test_ends_on_a_full_disk_are_kept_over_a_kill_without_repair(self):
        jobs = [self.start_waiting_job(f"full-{i}") for i in range(3)]
        waits = self.bed.submit("--gpus-per-node", "8", "-t", "1m", "--", "/bin/true")
        self.fill(0)
        self.wait_taken(False)
        jobs[0][1].touch()
        self.assertEqual(self.bed.wait_final(jobs[0][0])["exit_code"], 3)
        self.assertEqual(self.bed.artel("cancel", str(jobs[1][0])).returncode, 0)
        self.bed.wait_final(jobs[1][0])
        pid = self.bed.ctld.pid
        self.fill(0)
        self.bed.ctld.kill()
        self.bed.start_ctld()
        self.assertNotEqual(self.bed.ctld.pid, pid)
        self.bed.wait_nodes_up()
        self.assertEqual(self.bed.show(jobs[0][0])["exit_code"], 3)
        self.assertEqual(self.bed.state(jobs[1][0]), "CANCELLED")
        self.assertEqual(self.bed.state(jobs[2][0]), "RUNNING")
        self.assertEqual(self.bed.state(waits), "PENDING")
        jobs[2][1].touch()
        self.assertEqual(self.bed.wait_final(jobs[2][0])["exit_code"], 3)
        self.assertEqual(self.bed.state(waits), "PENDING")
        self.clear()
        self.assertEqual(self.bed.wait_final(waits)["state"], "COMPLETED")
        wait_for((self.bed.ctld_state() / "reserve").exists, 10, "the reserve is there again")


if __name__ == "__main__":
    case.main()
