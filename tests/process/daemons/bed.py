"""The test bed: one controller, agents of several simulated nodes, munged and real accounts, all on this machine.

A bed has a folder, a token, a cluster name and node names of its own, so that two beds do not meet. It starts the real
programs from $ARTEL_BIN, and at its end it stops what it started and checks what must hold after every test (C0): no
process of an ended job is alive, no GPU is booked without a job that holds it, the daemons live.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess

import processes
from accounts import Accounts
from daemon import Daemon
from processes import wait_for

FINAL = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE"}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
BOOKED = ("jobs", "gpus_used", "cpus_used", "memory_used_bytes")
UP_SECONDS = 30
END_SECONDS = 60
GONE_SECONDS = 5

SITE = """\
[cluster]
name = "{cluster}"
controller = "127.0.0.1:{port}"

[munge]
socket = "{folder}/munge/socket"

[ctld]
listen = "127.0.0.1:{port}"
state = "{folder}/ctld"
node_keys = "{folder}/ctld-keys"
operators = ["root", "{operator}"]
prepare_timeout = "20s"
master_ports = "{master_first}-{master_last}"
{ctld}

[noded]
state = "{folder}/node/%n"
key = "{folder}/node-keys/%n.key"
"""

# Ends that have to be waited for are short.
TEAMS = """\
[[class]]
name = "development"
grace = "2s"
"""

NODE = """\
[[node]]
name = "{name}"
address = "127.0.0.1"
simulated = true
cpus = 16
memory = "64GiB"
gpus = {{ h100 = {gpus} }}
"""


def program_folder():
    folder = os.environ.get("ARTEL_BIN")
    return pathlib.Path(folder) if folder else pathlib.Path(__file__).resolve().parents[3] / "build" / "dev" / "bin"


def free_port_block(length):
    """First of `length` ports outside the range that the kernel gives to outgoing connections; the first one is free."""
    while True:
        first = random.randrange(20000, 32000 - length, length)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", first))
                return first
            except OSError:
                continue


def port_is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Bed:
    def __init__(self, nodes=("n1", "n2", "n3", "n4"), gpus=8, users=("u1", "u2", "op"), teams="", ctld="", disk=""):
        """`teams`: more of teams.d. `ctld`: more keys of [ctld]. `disk`: the controller's state lies on a tmpfs of this size."""
        self.bin = program_folder()
        self.node_labels, self.user_labels, self.gpus, self.teams = nodes, users, gpus, teams
        self.ctld_keys, self.disk = ctld, disk
        self.munged = self.ctld = self.disk_holder = None
        self.nodes, self.agents, self.users = [], {}, {}

    # -- life ------------------------------------------------------------------------------------------------------

    def start(self):
        self.accounts = Accounts()
        self.token = self.accounts.token
        self.folder = pathlib.Path(f"/var/tmp/artel-bed-{self.token}")
        try:
            self.folder.mkdir(mode=0o755)
            self._make_names()
            self._place_programs()
            self._write_config()
            self._start_munged()
            self._make_keys()
            self._make_disk()
            self._make_daemons()
            self.start_ctld("--first-start")
            for agent in self.agents.values():
                agent.start()
            self.wait_nodes_up()
        except BaseException:
            self.close()
            raise
        return self

    def start_ctld(self, *arguments):
        """Starts the controller and returns when it takes connections."""
        self.ctld.start(*arguments)
        wait_for(lambda: port_is_open(self.port), UP_SECONDS, self.ctld.tail)

    def close(self):
        """Stops what it started, whatever state it is in, and removes its folder and accounts."""
        for daemon in [*self.agents.values(), self.ctld, self.munged, self.disk_holder]:
            if daemon is not None:
                daemon.kill()
        for pid in self.stray_processes():
            self._kill(pid)
        wait_for(lambda: not self.stray_processes(), 10, "processes of the bed end")
        self.accounts.close()
        if os.environ.get("ARTEL_KEEP_BED"):
            print(f"kept {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def job_processes(self):
        """Step daemons, ranks and what they started: all carry the name of their node."""
        found = set(processes.with_environment(ARTEL_CLUSTER=self.cluster))
        for node in self.nodes:
            found |= set(processes.with_environment(ARTEL_NODE=node))
        return sorted(found)

    def stray_processes(self):
        """Whatever lives and is of this bed: processes of its jobs and of its users."""
        found = set(self.job_processes())
        for user in self.users.values():
            found |= set(processes.of_user(user.pw_uid))
        return sorted(found - {os.getpid()})

    @staticmethod
    def _kill(pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    # -- set-up ----------------------------------------------------------------------------------------------------

    def _make_names(self):
        self.cluster = f"bed-{self.token}"
        self.nodes = [f"{label}-{self.token}" for label in self.node_labels]
        for label in self.user_labels:
            self.users[label] = self.accounts.add(label, self.folder / "home" / label)
        self.config = self.folder / "etc"
        self.programs = self.folder / "bin"
        self.port = free_port_block(100)

    def _write_config(self):
        (self.config / "cluster.d").mkdir(parents=True)
        self.write_site()
        self.write_nodes()

    def _place_programs(self):
        """What users start lies in the bed's folder: the build's may be closed to them."""
        self.programs.mkdir(mode=0o755)
        digits = pathlib.Path(__file__).resolve().parents[2] / "workloads" / "digits" / "digits.csv"
        for source in [self.bin / "artel", self.bin / "train_digits", self.bin / "mpi_probe", digits]:
            try:
                os.link(source, self.programs / source.name)
            except OSError:
                shutil.copy(source, self.programs / source.name)

    def write_site(self, extra=""):
        text = SITE.format(cluster=self.cluster, folder=self.folder, port=self.port, operator=self.user_name("op"), ctld=self.ctld_keys,
                           master_first=self.port + 1, master_last=self.port + 99)
        (self.config / "artel.toml").write_text(text + extra)

    def write_nodes(self, gpus=None):
        text = "\n".join(NODE.format(name=name, gpus=gpus or self.gpus) for name in self.nodes)
        (self.config / "cluster.d" / "nodes.toml").write_text(text)
        self.write_teams()

    def write_teams(self):
        (self.config / "teams.d").mkdir(exist_ok=True)
        (self.config / "teams.d" / "classes.toml").write_text(TEAMS + self.teams)

    def _start_munged(self):
        folder = self.folder / "munge"
        folder.mkdir(mode=0o755)
        key = folder / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        command = ["munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder / 'socket'}",
                   f"--pid-file={folder / 'pid'}", f"--log-file={folder / 'log'}", f"--seed-file={folder / 'seed'}",
                   "--num-threads=2"]
        self.munged = Daemon("munged", command, folder / "stderr", {"PATH": PATH})
        self.munged.start()
        wait_for((folder / "socket").exists, UP_SECONDS, lambda: f"munged's socket\n{self.munged.tail()}")

    def _make_keys(self):
        for node in self.nodes:
            self.make_key(node)

    def make_key(self, node):
        """A key for the node, at the controller's and at the agent's place."""
        made = subprocess.run([self.bin / "artel-ctld", "--config", self.config, "--make-node-key", node],
                              env=self.daemon_environment(), capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise AssertionError(f"--make-node-key {node}: {made.stderr}")
        target = self.folder / "node-keys"
        target.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(self.folder / "ctld-keys" / f"{node}.key", target / f"{node}.key")
        (target / f"{node}.key").chmod(0o600)

    def daemon_environment(self):
        return {"PATH": PATH, "ARTEL_CONFIG": str(self.config), "LC_ALL": "C.UTF-8"}

    def _make_disk(self):
        """The file system lives as long as the process that holds its mount namespace."""
        if not self.disk:
            return
        state = self.folder / "ctld"
        state.mkdir(mode=0o700)
        mounted = self.folder / "mounted"
        script = f"mount -t tmpfs -o size={self.disk},mode=700 tmpfs '{state}' && touch '{mounted}' && exec sleep infinity"
        self.disk_holder = Daemon("disk", ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
                                  self.folder / "disk.log", {"PATH": PATH})
        self.disk_holder.start()
        wait_for(mounted.exists, UP_SECONDS, self.disk_holder.tail)

    def ctld_state(self):
        """The controller's state as this process sees it."""
        state = self.folder / "ctld"
        return pathlib.Path(f"/proc/{self.disk_holder.pid}/root{state}") if self.disk_holder else state

    def _make_daemons(self):
        logs = self.folder / "log"
        logs.mkdir()
        environment = self.daemon_environment()
        inside = ["nsenter", f"--mount=/proc/{self.disk_holder.pid}/ns/mnt", "--"] if self.disk_holder else []
        self.ctld = Daemon("artel-ctld", [*inside, self.bin / "artel-ctld"], logs / "ctld", environment)
        for node in self.nodes:
            command = [self.bin / "artel-noded", "--node", node]
            self.agents[node] = Daemon(node, command, logs / node, environment)

    # -- the command line ------------------------------------------------------------------------------------------

    def user_name(self, label):
        return self.users[label].pw_name if label in self.users else label

    def home(self, label):
        return self.folder / "home" / label if label in self.users else self.folder

    def user_environment(self, label, extra=None):
        return {"PATH": f"{self.programs}:{PATH}", "HOME": str(self.home(label)), "USER": self.user_name(label),
                "ARTEL_CONFIG": str(self.config), "LC_ALL": "C.UTF-8", **(extra or {})}

    def command(self, label, words):
        """The words as the user; nothing is read by a shell."""
        words = [str(word) for word in words]
        if label not in self.users:
            return words
        user = self.users[label]
        return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--", *words]

    def popen(self, *words, user="u1", env=None, **options):
        """Starts `artel WORDS` as the user in the user's home folder."""
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(self.command(user, [self.programs / "artel", *words]), env=self.user_environment(user, env),
                                cwd=self.home(user), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def artel(self, *words, user="u1", env=None, seconds=60):
        """Runs `artel WORDS` as the user; the answer has returncode, stdout and stderr."""
        process = self.popen(*words, user=user, env=env)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise AssertionError(f"artel {' '.join(map(str, words))} did not answer in {seconds} s\n{self.logs()}") from None
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def ask(self, *words, **options):
        """`artel WORDS --json`, parsed; fails where the command does."""
        command, *rest = words
        answer = self.artel(command, "--json", *rest, **options)
        if answer.returncode != 0:
            raise AssertionError(f"artel {' '.join(map(str, words))}: {answer.returncode} {answer.stderr}\n{self.logs()}")
        return json.loads(answer.stdout)

    def submit(self, *words, **options):
        """The id of the job."""
        return self.ask("submit", *words, **options)["job"]

    def submit_held(self, *words):
        """The id of a job that never had a chance to start."""
        for node in self.nodes:
            self.artel("drain", node, "--reason", "a held job is made", user="root")
        job = self.submit(*words)
        held = self.artel("hold", str(job))
        assert held.returncode == 0, held.stderr
        for node in self.nodes:
            self.artel("resume", node, user="root")
        return job

    def show(self, job, user="u1"):
        return self.ask("show", str(job), user=user)

    def state(self, job):
        return self.show(job)["state"]

    def wait_state(self, job, states, seconds=END_SECONDS):
        """The job's view as soon as its state is one of `states`."""
        seen = {}

        def reached():
            seen.update(self.show(job))
            return seen["state"] in states
        wait_for(reached, seconds, lambda: f"job {job} in {states}; is {json.dumps(seen)}\n{self.logs()}", interval=0.1)
        return seen

    def wait_final(self, job, seconds=END_SECONDS):
        return self.wait_state(job, FINAL, seconds)

    def node_views(self):
        return {view["node"]: view for view in self.ask("nodes", user="root")["nodes"]}

    def wait_nodes_up(self, seconds=UP_SECONDS):
        def up():
            answer = self.artel("nodes", "--json", user="root")
            if answer.returncode != 0:
                return False
            views = json.loads(answer.stdout)["nodes"]
            return len(views) == len(self.nodes) and all(view["contact"] == "up" for view in views)
        wait_for(up, seconds, lambda: f"all nodes up\n{self.logs()}", interval=0.1)

    # -- what is seen of jobs --------------------------------------------------------------------------------------

    def output(self, job, label="u1"):
        path = self.home(label) / f"artel-{job}.out"
        return path.read_text(errors="replace") if path.exists() else ""

    def processes_of(self, job, node=None):
        """Living processes started with the job's variables: ranks and what they started."""
        wanted = {"ARTEL_CLUSTER": self.cluster, "ARTEL_JOB_ID": str(job)}
        if node:
            wanted["ARTEL_NODE"] = node
        return processes.with_environment(**wanted)

    def logs(self):
        daemons = [self.ctld, *self.agents.values()]
        return "\n".join(daemon.tail() for daemon in daemons if daemon)

    # -- C0 --------------------------------------------------------------------------------------------------------

    def check_common(self):
        """What holds after every test; jobs that still run are cancelled first."""
        self.start_ctld()
        for agent in self.agents.values():
            agent.start()
        self.wait_nodes_up()
        for job in self.ask("queue", user="root")["jobs"]:
            self.artel("cancel", str(job["job"]), user="root")
        wait_for(lambda: not self.ask("queue", user="root")["jobs"], END_SECONDS,
                 lambda: f"the queue gets empty\n{self.artel('queue', user='root').stdout}{self.logs()}", interval=0.1)
        wait_for(lambda: not self.job_processes(), GONE_SECONDS,
                 lambda: f"left of ended jobs: {[processes.command_of(pid) for pid in self.job_processes()]}")
        booked = [view for view in self.node_views().values() if any(view[what] for what in BOOKED)]
        assert not booked, f"booked without a job: {booked}"
        assert self.ctld.running(), self.ctld.tail()
        assert all(agent.running() for agent in self.agents.values()), self.logs()
