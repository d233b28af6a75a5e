"""Real accounts for a test: made with a name of their own, removed at its end, even of a test that was killed.

Each set of accounts holds a lock on a file that is named for its token. What a killed test left behind (accounts, their
processes, the folder of its bed) is found by the unlocked file and removed by the next one.
"""

import fcntl
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import subprocess

import processes

LOCKS = pathlib.Path("/var/tmp/artel-test-accounts")
PREFIX = "artelt"


def run(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def remove_users(token):
    for entry in pwd.getpwall():
        if entry.pw_name.startswith(PREFIX + token):
            for pid in processes.of_user(entry.pw_uid):
                os.kill(pid, signal.SIGKILL)
            run("userdel", "--force", entry.pw_name)


def remove_left(token):
    """What a killed test left: its step daemons first, so that nothing is started again."""
    for pid in processes.pids():
        if processes.environment_of(pid).get("ARTEL_NODE", "").endswith("-" + token):
            os.kill(pid, signal.SIGKILL)
    remove_users(token)
    shutil.rmtree(f"/var/tmp/artel-bed-{token}", ignore_errors=True)


class Accounts:
    def __init__(self):
        LOCKS.mkdir(mode=0o700, exist_ok=True)
        self._sweep()
        self.token = secrets.token_hex(3)
        self._path = LOCKS / self.token
        self._lock = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def add(self, label, home):
        """Makes an account with its home folder; the name is made of the token and `label`."""
        name = f"{PREFIX}{self.token}{label}"
        run("useradd", "--no-create-home", "--home-dir", str(home), "--shell", "/bin/bash", "--user-group", name)
        entry = pwd.getpwnam(name)
        home.mkdir(mode=0o755, parents=True, exist_ok=True)
        os.chown(home, entry.pw_uid, entry.pw_gid)
        return entry

    def close(self):
        remove_users(self.token)
        self._path.unlink(missing_ok=True)
        os.close(self._lock)

    @staticmethod
    def _sweep():
        for path in LOCKS.iterdir():
            try:
                lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_left(path.name)
                path.unlink(missing_ok=True)
            except BlockingIOError:
                pass  # its test is running
            finally:
                os.close(lock)
