"""How jobs end: codes, signals, limits, and nothing left behind; the environment that they get."""

import signal

import case
import processes
from processes import wait_for

SOON = 10


class EndsTest(case.BedCase):
    bed_options = {"nodes": ("n1", "n2")}

    def shell(self, text, *options, **more):
        return self.bed.submit("-t", "5m", *options, "--", "/bin/sh", "-c", text, **more)

    def final(self, job):
        return self.bed.wait_final(job, 30)

    def test_an_exit_code_is_kept(self):
        view = self.final(self.shell("exit 3"))
        self.assertEqual((view["state"], view["cause"]["exit_code"]), ("FAILED", 3))

    def test_a_signal_is_kept(self):
        view = self.final(self.shell("kill -9 $$"))
        self.assertEqual((view["state"], view["cause"]["signal"]), ("FAILED", signal.SIGKILL))

    def start_failure(self, prepare):
        """The cause of a job whose program is spoilt between submit and start."""
        path = self.bed.home("u1") / "program.sh"
        path.write_text("#!/bin/sh\ntrue\n")
        path.chmod(0o755)
        busy = self.bed.submit("-N", "2", "-t", "5m", "--", "/bin/sleep", "300")
        job = self.bed.submit("-t", "5m", "--", path)
        prepare(path)
        self.assertEqual(self.bed.artel("cancel", str(busy)).returncode, 0)
        view = self.final(job)
        self.assertEqual((view["state"], view["cause"]["code"]), ("FAILED", "exec-failed"), view["cause"])
        self.assertIn(str(path), view["cause"]["text"])
        return view["cause"]["text"]

    def test_a_program_gone_at_start_is_a_named_cause_and_not_just_127(self):
        self.assertIn("No such file", self.start_failure(lambda path: path.unlink()))

    def test_a_program_not_executable_at_start_is_a_named_cause(self):
        self.assertIn("Permission denied", self.start_failure(lambda path: path.chmod(0o644)))

    def test_a_missing_interpreter_is_a_named_cause(self):
        path = self.bed.home("u1") / "job.sh"
        path.write_text("#!/nowhere/interpreter\ntrue\n")
        view = self.final(self.bed.submit(path))
        self.assertEqual((view["state"], view["cause"]["code"]), ("FAILED", "exec-failed"), view["cause"])
        self.assertIn("/nowhere/interpreter", view["cause"]["text"])

    def test_wait_gives_the_code_of_the_program(self):
        answer = self.bed.artel("submit", "--wait", "--", "/bin/sh", "-c", "exit 7")
        self.assertEqual(answer.returncode, 7, answer.stderr)

    def test_run_prints_what_the_program_prints_and_gives_its_code(self):
        answer = self.bed.artel("run", "--", "/bin/sh", "-c", "echo hello; echo trouble >&2; exit 5")
        self.assertEqual((answer.returncode, answer.stdout), (5, "hello\n"), answer.stderr)
        self.assertIn("trouble\n", answer.stderr)

    def test_the_limit_ends_a_job_with_timeout_even_one_that_ignores_term(self):
        plain = self.bed.submit("-t", "3s", "--", "/bin/sleep", "300")
        stubborn = self.bed.submit("-t", "3s", "--", "/bin/sh", "-c", "trap '' TERM; while :; do sleep 1; done")
        for job in (plain, stubborn):
            view = self.final(job)
            self.assertEqual((view["state"], view["cause"]["actor"]), ("TIMEOUT", "limit"), view["cause"])
            self.assertFalse(self.bed.processes_of(job))

    def left_behind(self, tail):
        daemons = ("setsid sleep 1000 & nohup sleep 1000 >/dev/null 2>&1 & (sh -c 'sleep 1000 &' &) "
                   "; sh -c 'trap \"\" TERM; sleep 1000; sleep 1000' & echo ready; " + tail)
        job = self.shell(daemons)
        wait_for(lambda: "ready" in self.bed.output(job), 30, lambda: self.bed.logs())
        return job

    def assert_nothing_left(self, job):
        uid = self.bed.users["u1"].pw_uid
        wait_for(lambda: not processes.of_user(uid), SOON,
                 lambda: f"left: {[processes.command_of(pid) for pid in processes.of_user(uid)]}")
        self.final(job)

    def test_daemons_of_a_job_that_ends_are_ended(self):
        self.assert_nothing_left(self.left_behind("exit 0"))

    def test_daemons_of_a_job_that_is_cancelled_are_ended(self):
        job = self.left_behind("wait")
        self.assertEqual(self.bed.artel("cancel", str(job)).returncode, 0)
        self.assert_nothing_left(job)

    def test_the_environment_is_clean_unless_asked(self):
        poison = {"LD_PRELOAD": "/nowhere/evil.so", "PYTHONPATH": "/nowhere", "SECRET": "x", "BASH_FUNC_f%%": "() { :; }"}
        job = self.bed.submit("--", "/usr/bin/env", env=poison)
        self.assertEqual(self.final(job)["state"], "COMPLETED", self.bed.output(job))
        names = {line.partition("=")[0] for line in self.bed.output(job).splitlines()}
        self.assertFalse(names & {"LD_PRELOAD", "PYTHONPATH", "SECRET", "BASH_FUNC_f%%"}, names)
        for agent in self.bed.agents.values():
            self.assertNotIn("LD_PRELOAD", processes.environment_of(agent.pid))

    def test_what_is_asked_of_the_environment_arrives_exactly(self):
        value = "two\nlines = and spaces "
        job = self.bed.submit("--env", "PASSED", "--env", f"SET={value}", "--", "/usr/bin/env", "-0",
                              env={"PASSED": value, "OTHER": "1"})
        self.final(job)
        entries = self.bed.output(job).split("\0")
        self.assertIn(f"PASSED={value}", entries)
        self.assertIn(f"SET={value}", entries)
        self.assertNotIn("OTHER=1", entries)

    def test_the_schedulers_own_variables_win(self):
        job = self.bed.submit("--env", "RANK=77", "--env", "ARTEL_JOB_ID=1", "--", "/usr/bin/env")
        self.final(job)
        lines = self.bed.output(job).splitlines()
        self.assertIn("RANK=0", lines)
        self.assertIn(f"ARTEL_JOB_ID={job}", lines)


if __name__ == "__main__":
    case.main()
