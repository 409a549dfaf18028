"""The configuration of this app: read once, immutable and checked."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from executions.configuration import settings as valkyr_settings

# The memory available to this process and its siblings: the machine's, or their cgroup's limit.


MEBIBYTE = 1024 * 1024
# Limits in MiB. An idle process of a pool uses 300 MiB of address space; numerical libraries
# reserve more.
LEAST, MOST = 1024, 4096
SHARE = 4  # divisor of the available memory: one step gets at most a quarter
GROUPS = Path("/proc/self/cgroup")
ROOT = Path("/sys/fs/cgroup")
# Maximum characters of a worker's name; leaves room for the other parts of a lease's holder.
LONGEST_NAME = 90


def share_of_a_process() -> int:
    """Return the default memory limit of one process, in MiB."""
    return share_of(memory())


def share_of(total: int) -> int:
    """Return the default memory limit of a process, in MiB, if `total` bytes are available."""
    return max(LEAST, min(MOST, total // SHARE // MEBIBYTE))


def limited() -> bool:
    """Return whether a cgroup gives this process less memory than the machine has."""
    return memory() < _machine()


def memory(groups: Path = GROUPS, root: Path = ROOT) -> int:
    """Return the lowest of the machine's memory and the enclosing cgroups' limits, in bytes."""
    found = _machine()
    for file in _limits(groups, root):
        try:
            text = file.read_text().strip()
        except OSError:
            continue
        if text.isdigit():  # `max` means no limit
            found = min(found, int(text))
    return found


def _machine() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _limits(groups: Path, root: Path) -> Iterator[Path]:
    """Yield the cgroup files with memory limits (v1 and v2), from the innermost group outwards."""
    try:
        lines = groups.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0":
            top, name = root, "memory.max"
        elif "memory" in controllers.split(","):
            top, name = root / "memory", "memory.limit_in_bytes"
        else:
            continue
        inner = top / path.lstrip("/")
        # A container may see its path on the host, which does not exist in the container, so try
        # the parents as well.
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(top):
                yield folder / name


@dataclass(frozen=True, slots=True)
class Config:
    """The app's configuration; times are in seconds."""

    lease: float  # lifetime of a claim without a renewal
    heartbeat: float  # interval between renewals of a long step's lease
    grace: float  # time that a step gets to stop after its deadline
    database_step: float  # time limit of the transaction in which a step runs and is recorded
    # Time without progress of its other threads after which a process is ended; 0: no limit.
    stall: float
    patience: float  # time that a message may be on its way before the sweeper acts
    drain: float  # time that running steps get to finish when their worker stops
    segment_steps: int  # maximum steps with effects in one message
    segment_seconds: float  # maximum sum of their timeouts
    stretch_steps: int  # maximum pure steps recorded in one statement
    stretch_seconds: float  # maximum time for executing these pure steps
    pack_steps: int  # maximum segments in one message, of siblings or of executions
    pack_seconds: float  # maximum sum of their estimated durations
    # Time after which a worker returns the segments of a pack that have not begun.
    pack_patience: float
    pack_trial: float  # the same for a pack with a step without an estimate
    batch_steps: int  # maximum items of a pure map in one batch
    # Time after which a worker stops continuing iterations of a body for one message.
    stay_seconds: float
    poison: int  # number of crashes after which a step is not retried
    isolated: int  # maximum suspects that one worker executes at once, each in its own process
    isolated_memory: int  # address space of such a process, in MiB; 0: no limit
    chain_links: int  # maximum segments in a Celery chain
    chord_headers: int  # maximum headers of a chord
    stuck_threads: int  # number of threads past their deadline at which a worker drains
    worker_memory: int  # address space of a prefork pool's process, in MiB; 0: no limit


@lru_cache(maxsize=1)
def config() -> Config:
    """Return the configuration, which is read from the settings at first use."""
    chosen = valkyr_settings()
    return Config(
        lease=chosen.lease_seconds,
        heartbeat=chosen.heartbeat_seconds,
        grace=chosen.grace_seconds,
        database_step=chosen.database_step_seconds,
        stall=chosen.stall_seconds,
        patience=chosen.patience_seconds,
        drain=chosen.drain_seconds,
        segment_steps=32,
        segment_seconds=600,
        stretch_steps=32,
        stretch_seconds=0.05,
        pack_steps=50,
        pack_seconds=0.05,
        pack_patience=1.0,
        pack_trial=0.25,
        batch_steps=256,
        stay_seconds=30,
        poison=3,
        isolated=chosen.isolated_steps,
        isolated_memory=chosen.isolated_memory_mb,
        chain_links=8,
        chord_headers=100,
        stuck_threads=chosen.stuck_threads,
        worker_memory=share_of_a_process()
        if chosen.worker_memory_mb is None
        else chosen.worker_memory_mb,
    )


def default_currency() -> str:
    """Return the default currency of costs, as an ISO 4217 code."""
    return valkyr_settings().currency


def pool() -> str:
    """Return this process's kind of pool: `prefork` (the default) or `threads`."""
    return os.environ.get("VALKYR_POOL", "prefork")


def worker_name() -> str:
    """Return the name of this process's worker, as leases store it; "" if it has no worker."""
    return os.environ.get("RUNNER_ID", "")[:LONGEST_NAME]
