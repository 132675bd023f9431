"""A real Slurm of one node on loopback: started by the tests, in a folder of theirs."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.services.registry import free_port

#: A command that fails while the daemons start is tried this often.
_TRIES = 300

_CONFIGURATION = """\
ClusterName=rra
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=512
ReturnToService=2
InactiveLimit=0
KillWait=2
MessageTimeout=5
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=ALL MaxTime=1 State=UP
"""


@dataclasses.dataclass
class Cluster:
    """A running Slurm.

    Attributes:
        folder: Its configuration, state and logs.
        daemons: Its processes by name.
    """

    folder: Path
    daemons: dict[str, subprocess.Popen[bytes]] = dataclasses.field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which Slurm's commands speak to this cluster."""
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self, name: str, *argv: str) -> None:
        """Start a daemon in the foreground of a process of ours."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.daemons[name] = subprocess.Popen(
                [name, *argv], env=self.environment, stdout=log, stderr=log
            )

    def start_controller(self) -> None:
        self.start("slurmctld", "-D")

    def end_controller(self) -> None:
        """End the controller as for maintenance; what runs on the node goes on."""
        self.daemons["slurmctld"].terminate()
        self.daemons["slurmctld"].wait(20)

    def kill_controller(self) -> None:
        """End the controller as a power cut does: what it had not saved is lost."""
        self.daemons["slurmctld"].kill()
        self.daemons["slurmctld"].wait(20)

    def ask(self, *argv: str) -> str:
        """Return what a command of Slurm prints; empty where it fails."""
        done = subprocess.run(
            argv, env=self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout if done.returncode == 0 else ""

    def wait_idle(self) -> None:
        """Wait until the node takes jobs."""
        for _ in range(_TRIES):
            if "idle" in self.ask("sinfo", "-h", "-o", "%T"):
                return
            time.sleep(0.1)
        logs = "\n".join(path.read_text()[-2000:] for path in self.folder.glob("*.log"))
        raise AssertionError(f"Slurm does not start:\n{logs}")

    def wait_up(self) -> None:
        """Wait until the controller answers."""
        for _ in range(_TRIES):
            if "UP" in self.ask("scontrol", "ping"):
                return
            time.sleep(0.1)
        raise AssertionError("the controller does not answer")

    def end(self) -> None:
        for daemon in reversed(self.daemons.values()):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    """Start munge, a controller and a node, and end them with the block."""
    for name in ("state", "spool", "munge"):
        (folder / name).mkdir(parents=True)
    key = folder / "munge/key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o600)
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    text = _CONFIGURATION.format(
        host=socket.gethostname(),
        folder=folder,
        controller=free_port(),
        node=free_port(),
        cores=os.cpu_count(),
        memory=pages * size * 8 // 10 >> 20,
    )
    (folder / "slurm.conf").write_text(text)
    cluster = Cluster(folder)
    try:
        places = {"key-file": "key", "socket": "socket", "pid-file": "pid", "seed-file": "seed"}
        files = [f"--{option}={folder}/munge/{name}" for option, name in places.items()]
        cluster.start("munged", "--foreground", "--force", *files)
        cluster.start_controller()
        cluster.start("slurmd", "-D")
        cluster.wait_idle()
        yield cluster
    finally:
        cluster.end()
