"""The training job on a bed, and what its log says."""

import re

import processes
from processes import wait_for

RANKS_PER_NODE = 2
EPOCH = re.compile(r"^epoch\s+(\d+)", re.MULTILINE)
ACCURACY = re.compile(r"^test accuracy (0\.\d+|1\.0+)", re.MULTILINE)


def submit_training(bed, *arguments, options=()):
    """A gang over all nodes of the bed, two ranks on each; runs as the first user."""
    return bed.submit("-N", str(len(bed.nodes)), "--tasks-per-node", str(RANKS_PER_NODE), "-t", "10m", *options, "--",
                      bed.programs / "train_digits", *arguments)


def slow_training(bed, epochs=60, delay_ms=200):
    """One that trains long enough to be disturbed, and is at it: its first epoch is done."""
    job = submit_training(bed, "--epochs", str(epochs), "--epoch-delay", str(delay_ms))
    wait_epoch(bed, job, 2)
    return job


def last_epoch(bed, job):
    epochs = EPOCH.findall(bed.output(job))
    return int(epochs[-1]) if epochs else 0


def wait_epoch(bed, job, epoch, seconds=60):
    wait_for(lambda: last_epoch(bed, job) >= epoch, seconds,
             lambda: f"epoch {epoch} of job {job}\n{bed.output(job)}\n{bed.artel('show', str(job)).stdout}\n{bed.logs()}")


def ranks(bed, job):
    """rank: (pid, start time) of the job's own processes; the processes that a rank starts carry the same variables, so
    the oldest of each rank is taken."""
    found = {}
    for pid in bed.processes_of(job):
        rank, stat = processes.environment_of(pid).get("RANK"), processes.stat_of(pid)
        if rank is None or stat is None or "train_digits" not in processes.command_of(pid):
            continue
        identity = (pid, stat[2])
        found[int(rank)] = min(found.get(int(rank), identity), identity, key=lambda one: (one[1], one[0]))
    return found
