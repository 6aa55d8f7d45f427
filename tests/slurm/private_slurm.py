"""A Slurm of its own in a folder: munged, slurmctld and one slurmd, as the current user.

State, keys, sockets and logs are in the folder, and all ports are on the loopback interface. A
Slurm that the machine runs already is neither used nor changed.
"""
import getpass
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "sinfo", "scontrol", "setpriv"]
START_SECONDS = 30
STOP_SECONDS = 10

CONFIG = """\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=6
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_min_interval=0,sched_interval=1
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
KillWait=10
ReturnToService=2
NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP
"""


class Installation:
    """Where Slurm is: unpacked in a folder (unpack_slurm), or else installed."""

    def __init__(self, folder):
        unpacked = os.path.join(os.path.abspath(folder), "usr")
        self.path = f"{unpacked}/sbin:{unpacked}/bin:{os.environ['PATH']}:/usr/sbin"
        self.missing = [name for name in PROGRAMS if not shutil.which(name, path=self.path)]
        self.variables, self.config, self.slurmd_options = {"PATH": self.path}, "", []
        for plugins in glob.glob(f"{unpacked}/lib/*/slurm-wlm"):
            self.variables["LD_LIBRARY_PATH"] = f"{plugins}:{os.path.dirname(plugins)}"
            self.config = f"PluginDir={plugins}\n"
            self.slurmd_options = ["-d", f"{unpacked}/sbin/slurmstepd"]


class PrivateSlurm:
    """Use it in `with`: every process that it starts has ended when the block is left.

    `folder` does not exist yet. munged requires that all users can enter the folder above it.
    """

    def __init__(self, installation, folder, cpus):
        self.installation, self.folder = installation, folder
        self.daemons = []
        host = socket.gethostname().split(".")[0]
        ports = _free_ports(2)
        for name in ("state", "spool"):
            os.makedirs(os.path.join(folder, name))
        config = os.path.join(folder, "slurm.conf")
        with open(config, "w") as file:
            file.write(CONFIG.format(host=host, folder=folder, user=getpass.getuser(), cpus=cpus,
                                     controller_port=ports[0], node_port=ports[1]))
            file.write(installation.config)
        # No settings of a Slurm that this runs under.
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("SLURM", "SBATCH"))}
        self.environment = dict(kept, **installation.variables, SLURM_CONF=config)

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_):
        self._stop()

    def command(self, *words, **more):
        """What a Slurm command prints. `more`: environment variables."""
        done = subprocess.run(words, env=dict(self.environment, **more), cwd=self.folder,
                              capture_output=True, text=True, timeout=START_SECONDS)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout.strip()

    def submit(self, *words, **more):
        """The number of the job that sbatch starts. `more`: environment variables."""
        return self.command("sbatch", "--parsable", *words, **more)

    def tasks(self, job):
        """Task -> (state, exit code) of an array."""
        shown = self.command("scontrol", "--oneliner", "show", "job", job)
        found = re.findall(r"ArrayTaskId=(\d+) .*?JobState=(\w+) .*?ExitCode=(\d+):", shown)
        return {int(task): (state, int(code)) for task, state, code in found}

    def processes(self, **wanted):
        """The processes under this Slurm with these environment variables."""
        wanted = dict(wanted, SLURM_CONF=self.environment["SLURM_CONF"])
        entries = {f"{name}={value}".encode() for name, value in wanted.items()}
        found = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{process}/environ", "rb") as file:
                    if entries <= set(file.read().split(b"\0")):
                        found.append(int(process))
            except OSError:
                pass  # it has ended, or is another user's
        return found

    def logs(self):
        """The last lines of every daemon."""
        text = ""
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".log"):
                with open(os.path.join(self.folder, name), errors="replace") as file:
                    text += f"--- {name}\n" + "".join(file.readlines()[-20:])
        return text

    def _start(self):
        key = os.path.join(self.folder, "munge.key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(os.urandom(1024))
        munge = os.path.join(self.folder, "munge")
        self._daemon("munged", "--foreground", f"--key-file={key}", f"--socket={munge}.socket",
                     f"--pid-file={munge}.pid", f"--seed-file={munge}.seed", "--num-threads=4",
                     "--origin=127.0.0.1")
        self._wait_for("munged", lambda: os.path.exists(munge + ".socket"))
        self._daemon("slurmctld", "-D", "-i")
        self._daemon("slurmd", "-D", "-N", "node", *self.installation.slurmd_options)
        self._wait_for("slurmd", lambda: "idle" in self.command("sinfo", "-h", "-o", "%T"))

    def _daemon(self, name, *arguments):
        # It ends with this process, however this one ends.
        command = ["setpriv", "--pdeathsig", "TERM", name, *arguments]
        with open(os.path.join(self.folder, name + ".log"), "w") as log:
            self.daemons.append(subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                cwd=self.folder, start_new_session=True))

    def _wait_for(self, name, is_ready):
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and all(one.poll() is None for one in self.daemons):
            try:
                if is_ready():
                    return
            except RuntimeError:
                pass  # the controller does not listen yet
            time.sleep(0.1)
        raise RuntimeError(f"{name} does not start\n{self.logs()}")

    def _stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        # Jobs outlive the daemons.
        while left := self.processes():
            for process in left:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.05)


def _free_ports(count):
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports
