"""Processes as /proc shows them, and waiting by condition with a deadline."""

import os
import pathlib
import time

PROC = pathlib.Path("/proc")


class Overdue(AssertionError):
    """What was waited for did not happen in time."""


def wait_for(condition, seconds, what, interval=0.02):
    """The first true answer of `condition`, asked again and again until `seconds` are over."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise Overdue(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(interval)


def pids():
    return [int(name) for name in os.listdir(PROC) if name.isdigit()]


def environment_of(pid):
    """What /proc says of the process's environment when it was started; empty if it is gone or a zombie."""
    try:
        entries = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    pairs = (entry.decode(errors="replace").partition("=") for entry in entries if entry)
    return {name: value for name, _, value in pairs}


def command_of(pid):
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def stat_of(pid):
    """(state, parent, start time in ticks) of a process, or None."""
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[1]), int(fields[19])


def is_alive(pid):
    stat = stat_of(pid)
    return stat is not None and stat[0] not in "ZX"


def uid_of(pid):
    try:
        return (PROC / str(pid)).stat().st_uid
    except OSError:
        return None


def with_environment(**wanted):
    """Living processes that were started with these variables."""
    def matches(pid):
        variables = environment_of(pid)
        return all(variables.get(name) == value for name, value in wanted.items()) and is_alive(pid)
    return [pid for pid in pids() if matches(pid)]


def of_user(uid):
    return [pid for pid in pids() if uid_of(pid) == uid and is_alive(pid)]
