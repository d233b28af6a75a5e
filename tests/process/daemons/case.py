"""The base of all tests here: one bed a class, C0 after every test, and an end in time even where a test hangs."""

import os
import signal
import subprocess
import sys
import unittest

from bed import Bed

# Below the TIMEOUT of the ctest entry, so that a test that hangs still cleans up.
CLASS_SECONDS = int(os.environ.get("ARTEL_CLASS_SECONDS", "850"))


def overdue(_signal, _frame):
    raise TimeoutError(f"the tests of this class took longer than {CLASS_SECONDS} s")


class BedCase(unittest.TestCase):
    bed_options = {}

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("real accounts need root")
        signal.signal(signal.SIGALRM, overdue)
        signal.signal(signal.SIGTERM, overdue)
        signal.alarm(CLASS_SECONDS)
        cls.bed = Bed(**cls.bed_options)
        cls.bed.start()
        cls.addClassCleanup(cls.bed.close)

    def tearDown(self):
        self.bed.check_common()

    def assert_refused(self, answer, *words):
        """The command failed and its message has all the words."""
        self.assertNotEqual(answer.returncode, 0, answer.stdout)
        for word in words:
            self.assertIn(word, answer.stderr)


def run_checked(command, environment, folder, seconds=120):
    """Runs a command to its end; its output is the failure's text."""
    answer = subprocess.run(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=seconds, check=False)
    if answer.returncode != 0:
        raise AssertionError(answer.stdout)


def main():
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[1:]])
