"""The configuration of this app: read once, immutable and checked."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from executions.configuration import settings as valkyr_settings

# The memory for this process and its siblings: the machine's, or its cgroup's.


MEBIBYTE = 1024 * 1024
# An idle child of a pool takes 300 MiB of address space; libraries that compute reserve more.
LEAST, MOST = 1024, 4096
SHARE = 4  # of the memory: one step takes at most a quarter
GROUPS = Path("/proc/self/cgroup")
ROOT = Path("/sys/fs/cgroup")
LONGEST_NAME = 90  # characters of a worker, so that a lease has room for its other parts


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
        if text.isdigit():  # not `max`
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
        # A container may see its path on the host, which does not exist inside it.
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(top):
                yield folder / name


@dataclass(frozen=True, slots=True)
class Config:
    """The app's configuration; times are in seconds."""

    lease: float  # how long a claim lasts without a renewal
    heartbeat: float  # how often a long step's lease is renewed
    grace: float  # how long a step may take to stop after its deadline
    database_step: float  # how long a step may keep the transaction open that records it
    stall: float  # how long no other thread may run before the process is ended; 0: no limit
    patience: float  # how long a message may be under way before the sweeper acts
    drain: float  # how long running steps get to finish when their worker stops
    segment_steps: int  # effect steps in one message, at most
    segment_seconds: float  # the sum of their timeouts
    stretch_steps: int  # pure steps recorded in one statement, at most
    stretch_seconds: float  # the sum of their work
    pack_steps: int  # segments in one message, at most, of siblings or of executions
    pack_seconds: float  # the sum of their estimated work
    pack_patience: float  # after which a pack's worker returns what it has not begun
    pack_trial: float  # the same for a pack with a step that has no estimate yet
    batch_steps: int  # items of a pure map in one batch
    stay_seconds: float  # how long one message may keep a worker in the turns of a body
    poison: int  # crashes after which a step is not retried
    isolated: int  # suspect steps that one worker executes at once, each in its own process
    isolated_memory: int  # MiB of address space of such a process; 0: no limit
    chain_links: int  # segments in a Celery chain, at most
    chord_headers: int  # headers of a chord, at most
    stuck_threads: int  # threads past their deadline before a worker drains
    worker_memory: int  # MiB of address space of a prefork pool's process; 0: no limit


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
