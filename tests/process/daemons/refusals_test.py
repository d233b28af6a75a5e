"""Bad input gets a clear error at submit or a named cause at start; nothing hangs, and good work goes on beside it."""

import case

IMPOSSIBLE = 1000


class RefusalsTest(case.BedCase):
    bed_options = {"nodes": ("n1", "n2")}

    def script(self, text, name="job.sh"):
        path = self.bed.home("u1") / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def submit(self, *words, **options):
        return self.bed.artel("submit", *words, seconds=20, **options)

    def test_an_unknown_option_names_the_nearest(self):
        self.assert_refused(self.submit("--nodez", "2", "--", "/bin/true"), "--nodez", "--nodes")

    def test_an_unknown_directive_names_file_and_line(self):
        path = self.script("#!/bin/sh\n#ARTEL --nodes 1\n#ARTEL --tiem 5m\ntrue\n")
        self.assert_refused(self.submit(path), "job.sh:3", "--tiem", "--time")

    def test_more_nodes_than_exist_are_refused_with_the_number(self):
        self.assert_refused(self.submit("-N", "3", "--", "/bin/true"), "3", "2")

    def test_zero_nodes_are_refused(self):
        self.assert_refused(self.submit("-N", "0", "--", "/bin/true"), "--nodes")

    def test_unknown_and_excluded_nodes_are_refused_by_name(self):
        self.assert_refused(self.submit("-w", "n9", "--", "/bin/true"), "n9")
        self.assert_refused(self.submit("-x", ",".join(self.bed.nodes), "--", "/bin/true"))

    def test_times_have_one_grammar(self):
        for bad in ("-5", "0", "1:60:00", "soon", "5m 5", "1000000w", ""):
            with self.subTest(bad):
                self.assert_refused(self.submit(f"--time={bad}", "--", "/bin/true"), "--time")
        for good, limit in (("90s", 90), ("1h", 3600), ("1d2h", 93600), ("2:30:00", 9000), ("90", 5400)):
            with self.subTest(good):
                job = self.bed.submit("-t", good, "--", "/bin/true")
                self.assertEqual(self.bed.show(job)["time_limit_ms"], limit * 1000)

    def test_a_missing_program_is_refused_by_name(self):
        self.assert_refused(self.submit("--", "/nowhere/program"), "/nowhere/program", "No such file")
        self.assert_refused(self.submit("--", "/etc/passwd"), "/etc/passwd", "not executable")

    def test_a_missing_or_unreadable_script_is_refused_by_name(self):
        self.assert_refused(self.submit("nowhere.sh"), "nowhere.sh")
        path = self.script("#!/bin/sh\ntrue\n", "closed.sh")
        path.chmod(0)
        self.assert_refused(self.submit(path), "closed.sh", "Permission denied")

    def test_windows_line_ends_are_refused_with_the_reason(self):
        self.assert_refused(self.submit(self.script(b"#!/bin/sh\r\necho hello\r\n")), "carriage return")

    def test_scripts_without_interpreter_or_empty_are_refused(self):
        self.assert_refused(self.submit(self.script("echo hello\n")), "#!")
        self.assert_refused(self.submit(self.script("")), "empty")

    def test_a_script_without_final_newline_runs_whole(self):
        job = self.bed.submit(self.script("#!/bin/sh\necho one\necho two"))
        self.assertEqual(self.bed.wait_final(job)["state"], "COMPLETED")
        self.assertEqual(self.bed.output(job), "one\ntwo\n")

    def test_the_command_line_wins_over_the_script(self):
        path = self.script("#!/bin/sh\n#ARTEL --name inside\n#ARTEL --time 1h\ntrue\n")
        job = self.bed.submit("--name", "outside", path)
        spec = self.bed.show(job)
        self.assertEqual((spec["name"], spec["time_limit_ms"]), ("outside", 3600_000))

    def test_a_directive_given_twice_is_refused(self):
        path = self.script("#!/bin/sh\n#ARTEL --nodes 1\n#ARTEL --nodes 2\ntrue\n")
        self.assert_refused(self.submit(path), "job.sh:3", "--nodes")

    def test_a_directive_after_the_first_command_is_mentioned(self):
        answer = self.submit(self.script("#!/bin/sh\necho hello\n#ARTEL --nodes 2\n"))
        self.assertIn("job.sh:3", answer.stderr)

    def test_a_directory_as_output_is_a_named_cause(self):
        place = self.bed.home("u1") / "place"
        place.mkdir(exist_ok=True)
        answer = self.submit("-o", place, "--", "/bin/true")
        if answer.returncode == 0:
            view = self.bed.wait_final(int(answer.stdout.split()[1]))
            self.assertEqual((view["state"], view["cause"]["code"]), ("FAILED", "output-failed"))
            self.assertIn(str(place), view["cause"]["text"])
        else:
            self.assertIn(str(place), answer.stderr)

    def test_output_where_the_user_may_not_write_is_a_named_cause(self):
        target = self.bed.folder / "root-only.out"
        job = self.bed.submit("-o", target, "--", "/bin/true")
        view = self.bed.wait_final(job)
        self.assertEqual((view["state"], view["cause"]["code"]), ("FAILED", "output-failed"))
        self.assertFalse(target.exists())

    def test_a_flood_of_impossible_requests_hinders_nobody(self):
        script = "import subprocess, sys\n" \
                 "for _ in range(int(sys.argv[1])):\n" \
                 "    answer = subprocess.run(sys.argv[2:], capture_output=True, text=True)\n" \
                 "    assert answer.returncode == 3, answer\n" \
                 "    assert '9' in answer.stderr and '8' in answer.stderr, answer\n"
        command = self.bed.command("u1", ["python3", "-c", script, str(IMPOSSIBLE), str(self.bed.programs / "artel"),
                                          "submit", "--gpus-per-node", "9", "--", "/bin/true"])
        case.run_checked(command, self.bed.user_environment("u1"), self.bed.home("u1"))
        job = self.bed.submit("--gpus-per-node", "8", "--", "/bin/true")
        self.assertEqual(self.bed.wait_final(job, 10)["state"], "COMPLETED")

    def test_requests_without_identity_are_refused(self):
        socket = self.bed.folder / "munge" / "socket"
        hidden = socket.with_name("hidden")
        socket.rename(hidden)
        try:
            self.assert_refused(self.bed.artel("queue", seconds=30), "munge")
        finally:
            hidden.rename(socket)

    def test_other_peoples_jobs_are_not_cancelled(self):
        job = self.bed.submit("-t", "5m", "--", "/bin/sleep", "300")
        answer = self.bed.artel("cancel", str(job), user="u2")
        self.assertEqual(answer.returncode, 7, answer.stderr)
        self.assertNotIn(self.bed.state(job), {"CANCELLED"})
        self.assertEqual(self.bed.artel("cancel", str(job), user="op").returncode, 0)
        self.assertEqual(self.bed.wait_final(job)["cause"]["actor_name"], self.bed.user_name("op"))


if __name__ == "__main__":
    case.main()
