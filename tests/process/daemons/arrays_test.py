"""Arrays on a real cluster: tasks with their own files and ends, and a million of them in one call."""

import time

import case


class ArraysTest(case.BedCase):
    bed_options = {"nodes": ("n1", "n2")}

    def array(self, job):
        return self.bed.ask("show", str(job))["array"]

    def queue(self, job):
        return self.bed.ask("queue", str(job))["jobs"]

    def test_tasks_run_with_their_index_and_end_by_themselves(self):
        script = self.bed.home("u1") / "task.sh"
        script.write_text(
            "#!/bin/sh\n#ARTEL --array 3-9:2%2 --cpus-per-node 1\n"
            'echo "$ARTEL_ARRAY_JOB_ID $ARTEL_ARRAY_TASK_ID $ARTEL_ARRAY_TASK_COUNT" '
            '"$ARTEL_ARRAY_TASK_MIN $ARTEL_ARRAY_TASK_MAX $ARTEL_JOB_ID"\n'
            'test "$ARTEL_ARRAY_TASK_ID" != 7 || exit 4\n')
        job = self.bed.submit(str(script))
        view = self.bed.wait_final(job)
        self.assertEqual((view["state"], view["exit_code"]), ("FAILED", 4), view)
        self.assertEqual((view["array"]["completed"], view["array"]["failed"]), (3, 1), view)
        for rank, index in enumerate((3, 5, 7, 9), 1):
            task = self.bed.ask("show", f"{job}_{index}")
            self.assertEqual((task["job"], task["task"]["index"]), (job + rank, index), task)
            self.assertEqual(task["exit_code"], 4 if index == 7 else 0)
            text = (self.bed.home("u1") / f"artel-{job}_{index}.out").read_text()
            self.assertEqual(text, f"{job} {index} 4 3 9 {job + rank}\n")
        self.assertIn("3 9", self.bed.artel("logs", f"{job}_9").stdout)
        self.assert_refused(self.bed.artel("logs", str(job)), f"{job}_3")
        past = self.bed.ask("history", "--user", self.bed.user_name("u1"))["jobs"]
        self.assertEqual(len([one for one in past if job in (one["job"], (one["task"] or {}).get("array"))]), 5)

    def test_a_million_tasks_are_submitted_listed_kept_and_cancelled(self):
        begin = time.monotonic()
        job = self.bed.submit("--array", "0-999999%2", "--cpus-per-node", "1", "--", "/bin/sleep", "300")
        self.assertLess(time.monotonic() - begin, 5)
        first = [f"{job}_0", f"{job}_1"]
        for task in first:
            self.bed.wait_state(task, {"RUNNING"})
        self.assertEqual(self.array(job)["waiting"], "2-999999")
        self.assertEqual(len(self.queue(job)), 3)
        self.assertEqual(self.bed.ask("why", f"{job}_500000")["blockers"][0]["code"], "ArrayThrottle")
        self.assertEqual(self.bed.artel("cancel", f"{job}_[2-499999]", f"{job}_1").returncode, 0)
        self.assertEqual(self.bed.artel("hold", f"{job}_[500001-999999]").returncode, 0)
        self.bed.wait_state(f"{job}_500000", {"RUNNING"})
        self.bed.ctld.kill()
        self.bed.start_ctld()
        self.bed.wait_nodes_up()
        after = self.array(job)
        self.assertEqual((after["held"], after["cancelled"], after["active"]), ("500001-999999", 499999, 2), after)
        self.assertEqual(self.bed.state(f"{job}_0"), "RUNNING")
        self.assertEqual(self.bed.state(f"{job}_3"), "CANCELLED")
        self.assertEqual(self.bed.state(f"{job}_600000"), "HELD")
        self.assertEqual(self.bed.artel("cancel", str(job)).returncode, 0)
        self.assertEqual(self.bed.wait_final(job)["array"]["cancelled"], 1_000_000)
        self.assertEqual(self.queue(job), [])

    def test_wrong_lists_are_refused_where_they_are_wrong(self):
        for words, said in ((("--array", "9-3"), "write 3-9"), (("--array", "0-4000001"), "at most 4000000"),
                            (("--array", "0-1000000"), "max_array_tasks"),
                            (("--array", "0-9", "-o", "one"), "%t")):
            answer = self.bed.artel("submit", *words, "--", "/bin/true")
            self.assert_refused(answer, said)
        self.assert_refused(self.bed.artel("cancel", "1_x"), "1_x")


if __name__ == "__main__":
    case.main()
