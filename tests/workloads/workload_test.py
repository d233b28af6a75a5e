"""Black-box tests of train_digits and mpi_probe under a plain mpirun on this host.

They hold the workloads to what tests of the scheduler rely on: results independent of the number
of ranks, resuming, leaving on a signal, and failing in the announced way. Programs come from
TRAIN_DIGITS, MPI_PROBE and MPIEXEC.
"""

import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import unittest
import zlib

TRAIN = os.environ.get("TRAIN_DIGITS", "train_digits")
PROBE = os.environ.get("MPI_PROBE", "mpi_probe")
MPIEXEC = os.environ.get("MPIEXEC", "mpirun")
DIGITS = pathlib.Path(__file__).parent / "digits" / "digits.csv"
TIMEOUT_S = 120
LEFT_ON_SIGNAL = 75


def mpi_environment(extra):
    """Ours without a surrounding launcher's variables.

    Ranks yield, as they outnumber the cores; mpirun kills at once what a failed rank left behind.
    """
    foreign = re.compile("OMPI_|PMIX_|PMI_|SLURM_|ARTEL_")
    inherited = {name: value for name, value in os.environ.items() if not foreign.match(name)}
    ours = {
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_btl": "tcp,self",
        "OMPI_MCA_odls_base_sigkill_timeout": "0",
    }
    return inherited | ours | extra


class Job:
    """An mpirun with its output; ends with the `with` block."""

    def __init__(self, ranks, *command, **env):
        words = [MPIEXEC, "--allow-run-as-root", "--oversubscribe", "-n", ranks, *command]
        self.process = subprocess.Popen(
            [str(word) for word in words],
            env=mpi_environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines = []
        self.watchdog = threading.Timer(TIMEOUT_S, self.process.terminate)
        self.watchdog.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.watchdog.cancel()
        if self.process.poll() is None:
            self.process.terminate()  # mpirun takes its ranks with it
            self.process.wait(TIMEOUT_S)
        self.process.stdout.close()

    def read_until(self, start):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if line.startswith(start):
                return
        raise AssertionError(f"no line starts with {start!r} in {self.lines}")

    def finish(self):
        self.lines += self.process.stdout.read().splitlines()
        self.code = self.process.wait(TIMEOUT_S)
        return self

    def signal_rank(self, rank, number):
        for proc in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                parent = int((proc / "stat").read_text().rsplit(")", 1)[1].split()[1])
                environ = (proc / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if parent == self.process.pid and b"OMPI_COMM_WORLD_RANK=%d" % rank in environ:
                os.kill(int(proc.name), number)
                return
        raise AssertionError(f"rank {rank} not found below mpirun")

    def epochs(self):
        """{epoch: (loss, accuracy)}"""
        pattern = re.compile(r"epoch (\d+) loss (\S+) accuracy (\S+)")
        found = (pattern.fullmatch(line) for line in self.lines)
        return {int(m[1]): (float(m[2]), float(m[3])) for m in found if m}

    def test_accuracy(self):
        return float(re.fullmatch(r"test accuracy (\d\.\d{4})", self.lines[-1])[1])


def run(ranks, *command, **env):
    with Job(ranks, *command, **env) as job:
        return job.finish()


class WorkloadTest(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="workload-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.checkpoints = self.dir / "deep" / "checkpoints"

    def train(self, ranks, *options, **env):
        return run(ranks, TRAIN, "--checkpoint-dir", self.checkpoints, *options, **env)

    def start(self, ranks, *options):
        return Job(ranks, TRAIN, "--checkpoint-dir", self.checkpoints, *options)

    def names(self):
        return sorted(path.name for path in self.checkpoints.iterdir())

    def assert_same_training(self, job, whole):
        """The epochs that `job` ran have the numbers of the uninterrupted, longer run."""
        self.assertEqual(job.code, 0, job.lines)
        self.assertTrue(job.epochs())
        for epoch, (loss, accuracy) in job.epochs().items():
            self.assertAlmostEqual(loss / whole.epochs()[epoch][0], 1, delta=1e-9)
            self.assertAlmostEqual(accuracy, whole.epochs()[epoch][1], delta=0.002)
        last_accuracy = whole.epochs()[max(job.epochs())][1]
        self.assertAlmostEqual(job.test_accuracy(), last_accuracy, delta=0.002)


class Training(WorkloadTest):
    @classmethod
    def setUpClass(cls):
        cls.alone = run(1, TRAIN)

    def assert_same_losses(self, job, epochs):
        for epoch in epochs:
            ratio = job.epochs()[epoch][0] / self.alone.epochs()[epoch][0]
            self.assertAlmostEqual(ratio, 1, delta=1e-6)

    def test_one_rank_learns_the_digits(self):
        self.assertEqual(self.alone.code, 0)
        self.assertGreaterEqual(self.alone.test_accuracy(), 0.97)
        self.assertEqual(sorted(self.alone.epochs()), list(range(1, 41)))

    def test_eight_ranks_agree_with_one(self):
        eight = run(8, TRAIN)
        self.assertEqual(eight.code, 0)
        self.assert_same_losses(eight, (1, 2, 3))
        self.assertAlmostEqual(eight.test_accuracy(), self.alone.test_accuracy(), delta=0.002)

    def test_ranks_that_do_not_divide_the_batch_agree_with_one(self):
        three = run(3, TRAIN, "--epochs", 5, ARTEL_NODE="hgx07")
        self.assert_same_losses(three, range(1, 6))
        self.assertEqual(three.lines[0], "world size 3 on nodes: hgx07 hgx07 hgx07")

    def test_ranks_without_a_sample_agree_with_one(self):
        losses = [run(ranks, TRAIN, "--epochs", 1, "--batch", 3).epochs()[1][0] for ranks in (1, 5)]
        self.assertAlmostEqual(losses[0] / losses[1], 1, delta=1e-6)

    def test_another_seed_is_another_run(self):
        other = run(1, TRAIN, "--epochs", 1, "--seed", 2)
        self.assertNotAlmostEqual(other.epochs()[1][0], self.alone.epochs()[1][0], places=6)


class Resuming(WorkloadTest):
    @classmethod
    def setUpClass(cls):
        cls.whole_dir = tempfile.mkdtemp(prefix="workload-")
        cls.addClassCleanup(shutil.rmtree, cls.whole_dir)
        cls.whole = run(2, TRAIN, "--epochs", 20, "--keep", 20, "--checkpoint-dir", cls.whole_dir)

    def path(self, epoch):
        return self.checkpoints / f"digits-{epoch:08}-000000.ckpt"

    def pretend_trained(self, *epochs):
        """The directory as if these epochs' checkpoints had been kept."""
        self.checkpoints.mkdir(parents=True)
        for epoch in epochs:
            shutil.copy(pathlib.Path(self.whole_dir) / self.path(epoch).name, self.checkpoints)

    def test_a_killed_run_goes_on_with_the_same_numbers(self):
        options = ("--epochs", 6, "--fail-at-epoch", "3:1:kill")
        self.assertNotEqual(self.train(4, *options).code, 0)
        again = self.train(4, *options)
        resuming = "resuming from checkpoint digits-00000003-000000.ckpt: epoch 3 done, step 0"
        self.assertIn(resuming, again.lines)
        self.assertEqual(sorted(again.epochs()), [4, 5, 6])
        self.assert_same_training(again, self.whole)

    def test_a_run_resumes_on_another_number_of_ranks(self):
        self.pretend_trained(1, 2)
        self.assert_same_training(self.train(3, "--epochs", 6), self.whole)

    def test_a_run_left_in_the_middle_of_an_epoch_goes_on_with_the_same_numbers(self):
        left = self.train(2, "--epochs", 6, "--fail-at-epoch", "2:1:warn")
        self.assertEqual(left.code, LEFT_ON_SIGNAL)
        again = self.train(2, "--epochs", 6)
        resuming = "resuming from checkpoint digits-00000002-000001.ckpt: epoch 2 done, step 1"
        self.assertIn(resuming, again.lines)
        self.assert_same_training(again, self.whole)

    def test_kills_at_any_moment_lose_no_finished_epoch(self):
        for done in (1, 3):
            with self.start(2, "--epochs", 20) as job:
                job.read_until(f"epoch {done + 1} ")
                job.signal_rank(0, signal.SIGKILL)
                self.assertNotEqual(job.finish().code, 0)
            # The line of an epoch comes before its checkpoint, so only the one before it is sure.
            self.assertGreaterEqual(self.names()[-1], self.path(done).name)
        again = self.train(2, "--epochs", 20)
        self.assertNotIn("ignoring", "\n".join(again.lines))
        self.assertNotIn(1, again.epochs())
        self.assert_same_training(again, self.whole)

    def test_a_finished_run_only_reports_again(self):
        self.pretend_trained(20)
        again = self.train(2, "--epochs", 20)
        self.assertEqual(again.code, 0)
        self.assertEqual(again.epochs(), {})
        self.assertEqual(again.test_accuracy(), self.whole.test_accuracy())

    def test_only_the_last_checkpoints_are_kept(self):
        self.pretend_trained(1, 2, 3)
        self.train(1, "--epochs", 5)
        self.assertEqual(self.names(), [self.path(4).name, self.path(5).name])
        self.assertEqual(len(list(pathlib.Path(self.whole_dir).iterdir())), 20)

    def test_damaged_newer_checkpoints_are_passed_over(self):
        self.pretend_trained(1, 2, 3, 4)
        whole = self.path(4).read_bytes()
        self.path(4).write_bytes(whole[:-1000])
        self.path(3).write_bytes(whole[:500] + bytes([whole[500] ^ 1]) + whole[501:])
        self.path(2).write_bytes(b"")
        again = self.train(2, "--epochs", 6)
        mismatch = "checksum does not match"
        for epoch, reason in ((4, mismatch), (3, mismatch), (2, "cut short")):
            self.assertIn(f"ignoring checkpoint {self.path(epoch).name}: {reason}", again.lines)
        self.assertEqual(sorted(again.epochs()), [2, 3, 4, 5, 6])
        self.assert_same_training(again, self.whole)

    def test_a_run_without_any_whole_checkpoint_starts_again(self):
        self.checkpoints.mkdir(parents=True)
        for epoch in (8, 9):
            self.path(epoch).write_bytes(b"ARTELCK1" + bytes(100))
        (self.checkpoints / "digits.tmp").write_bytes(b"left by a crash")
        again = self.train(2, "--epochs", 6)
        starting = f"no checkpoint in {self.checkpoints}, starting from the beginning"
        self.assertIn(starting, again.lines)
        self.assert_same_training(again, self.whole)
        self.assertIn(self.path(6).name, self.names())

    def test_a_checkpoint_of_another_run_is_refused(self):
        self.pretend_trained(1)
        other = self.train(1, "--epochs", 1, "--seed", 9)
        self.assertEqual(other.code, 1)
        self.assertIn("is of another run: seed 1, batch 64", "\n".join(other.lines))

    def test_a_checkpoint_has_the_described_format(self):
        self.pretend_trained(1)
        data = self.path(1).read_bytes()
        *fields, count = struct.unpack_from("<8s5QdQ", data)
        self.assertEqual(fields, [b"ARTELCK1", 1, 64, 1438, 1, 0, 0])
        self.assertEqual(len(data), 64 + 2 * 8 * count + 4)
        self.assertEqual(struct.unpack("<I", data[-4:])[0], zlib.crc32(data[:-4]))


class Leaving(WorkloadTest):
    def assert_leaves(self, job):
        job.finish()
        self.assertEqual(job.code, LEFT_ON_SIGNAL, job.lines)
        self.assertIn("checkpoint written, leaving on signal", job.lines)
        self.assertNotIn("test accuracy", "\n".join(job.lines))

    def test_one_rank_told_to_leave_takes_all_along(self):
        for rank, number in ((3, signal.SIGUSR1), (0, signal.SIGTERM)):
            with self.start(4, "--epochs", 9, "--epoch-delay", 600_000) as job:
                job.read_until("epoch ")
                job.signal_rank(rank, number)
                self.assert_leaves(job)

    def test_a_signal_to_the_launcher_reaches_the_ranks(self):
        with self.start(2, "--epochs", 9, "--epoch-delay", 600_000) as job:
            job.read_until("epoch 1 ")
            job.process.send_signal(signal.SIGUSR1)
            self.assert_leaves(job)

    def test_a_signal_during_the_very_last_step_lets_the_run_finish(self):
        job = self.train(2, "--epochs", 2, "--batch", 2000, "--fail-at-epoch", "1:0:warn")
        self.assertEqual(job.code, 0)
        self.assertEqual(list(job.epochs()), [1, 2])

    def test_leaving_without_a_checkpoint_directory_says_so(self):
        job = run(2, TRAIN, "--fail-at-epoch", "1:1:warn")
        self.assertEqual(job.code, LEFT_ON_SIGNAL)
        self.assertIn("no checkpoint directory, leaving on signal", job.lines)


class Failing(WorkloadTest):
    def test_a_planned_fault_ends_the_job_in_the_announced_way(self):
        for how, code in (("abort", 70), ("kill", 128 + signal.SIGKILL), ("exit5", 5)):
            job = run(3, TRAIN, "--epochs", 3, "--fail-at-epoch", f"1:2:{how}")
            self.assertEqual(job.code, code, job.lines)
            self.assertIn("rank 2 fails on purpose after epoch 1", job.lines)
            self.assertEqual(list(job.epochs()), [1])

    def test_a_rank_that_leaves_early_with_success_does_not_make_a_success(self):
        job = run(2, TRAIN, "--epochs", 3, "--fail-at-epoch", "0:1:exit0")
        self.assertNotEqual(job.code, 0, job.lines)
        self.assertEqual(job.epochs(), {})

    def test_a_checkpoint_that_cannot_be_written_ends_the_job(self):
        (self.dir / "file").touch()
        job = run(2, TRAIN, "--checkpoint-dir", self.dir / "file" / "below")
        self.assertEqual(job.code, 1)
        self.assertIn("cannot create checkpoint directory", "\n".join(job.lines))

    def test_malformed_digits_are_refused_with_their_line(self):
        lines = DIGITS.read_text().splitlines()[:20]
        bad = self.dir / "bad.csv"
        for wrong in (lines[6] + ",1", "17" + lines[6][1:]):
            bad.write_text("\n".join(lines[:6] + [wrong] + lines[7:]))
            job = run(1, TRAIN, "--data", bad)
            self.assertEqual(job.code, 1)
            reason = f"{bad}: line 7 is not 64 pixels from 0 to 16 and a digit"
            self.assertIn(f"train_digits: rank 0: {reason}", job.lines)


class Usage(unittest.TestCase):
    def refused(self, program, *options, **env):
        ended = subprocess.run(
            [program, *options], capture_output=True, text=True, env=mpi_environment(env)
        )
        self.assertEqual((ended.returncode, ended.stdout), (2, ""), options)
        return ended.stderr

    def test_wrong_options_end_with_code_2_and_a_reason(self):
        wrong = {
            TRAIN: "--bogus 1/--epochs 0/--epochs 3x/--epochs/word/--epoch 3/--data="
            "/--fail-at-epoch 1:2/--fail-at-epoch 1:0:burn/--fail-at-epoch 1:0:exit256",
            PROBE: "--bogus 1/--exit 1/--abort 1:300/--sleep -1",
        }
        for program, command_lines in wrong.items():
            for options in map(str.split, command_lines.split("/")):
                message = self.refused(program, *options)
                name = pathlib.Path(program).name
                self.assertRegex(message, f"^{name}: .*{options[0].rstrip('=')}.*see --help")

    def test_of_several_ranks_only_the_first_says_what_is_wrong(self):
        self.assertNotEqual(self.refused(TRAIN, "--bogus", PMIX_RANK="0"), "")
        self.assertEqual(self.refused(TRAIN, "--bogus", PMIX_RANK="1"), "")

    def test_help_needs_no_launcher_and_shows_an_example(self):
        for program in (TRAIN, PROBE):
            text = subprocess.check_output([program, "--help"], text=True)
            self.assertIn("Example:", text)

    def test_an_option_takes_its_value_after_an_equals_sign_too(self):
        job = run(1, TRAIN, "--epochs=1", f"--data={DIGITS}")
        self.assertEqual(list(job.epochs()), [1])


class Probing(WorkloadTest):
    def test_each_rank_says_where_it_is(self):
        job = run(4, PROBE, "--sleep", 0, ARTEL_NODE="hgx01")
        self.assertEqual(job.code, 0)
        pattern = re.compile(r"rank (\d) of 4 node hgx01 local (\d) pid \d+")
        found = [pattern.fullmatch(line) for line in job.lines]
        self.assertEqual(sorted(m[1] + m[2] for m in found), ["00", "11", "22", "33"])

    def test_the_chosen_rank_ends_in_the_chosen_way(self):
        self.assertEqual(run(3, PROBE, "--abort", "2:9").code, 9)
        self.assertEqual(run(3, PROBE, "--exit", "1:7").code, 7)


if __name__ == "__main__":
    unittest.main()
