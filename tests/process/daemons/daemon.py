"""A daemon under test: started with its output in a file, stopped or killed by pid, never left behind."""

import ctypes
import os
import signal
import subprocess

from processes import wait_for

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Daemon:
    def __init__(self, name, command, log, environment):
        self.name = name
        self.command = [str(word) for word in command]
        self.log = log
        self.environment = environment
        self.process = None

    @property
    def pid(self):
        return self.process.pid

    def start(self, *arguments):
        """Starts it; a daemon that is running stays."""
        if self.running():
            return self
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*self.command, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.environment, cwd="/", preexec_fn=die_with_parent, close_fds=True)
        return self

    def running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """kill -9, and gone when it returns."""
        if self.running():
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def stop(self, seconds=20):
        """TERM, and its exit code; one that does not go is killed and the test fails."""
        if self.running():
            self.process.terminate()
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError(f"{self.name} did not stop within {seconds} s of TERM\n{self.tail()}") from None
        return self.process.returncode if self.process else None

    def wait_exit(self, seconds):
        wait_for(lambda: not self.running(), seconds, f"{self.name} ends by itself")
        return self.process.returncode

    def text(self):
        try:
            return self.log.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""

    def tail(self, lines=15):
        return "\n".join([f"--- {self.name}"] + self.text().splitlines()[-lines:])
