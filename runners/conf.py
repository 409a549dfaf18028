"""The numbers of this app, read once, frozen and checked."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from executions.configuration import settings as valkyr_settings

# How much memory there is for this process and its siblings: the machine's, or its cgroup's.


MEBIBYTE = 1024 * 1024
# A child of a pool takes 300 MiB of address space at rest; libraries that compute reserve more.
LEAST, MOST = 1024, 4096
SHARE = 4  # of the memory: one step takes no more than a quarter
GROUPS = Path("/proc/self/cgroup")
ROOT = Path("/sys/fs/cgroup")


def share_of_a_process() -> int:
    """MiB that a process may ask for where no setting says so."""
    return share_of(memory())


def share_of(total: int) -> int:
    """MiB that a process may ask for where there are so many bytes for all."""
    return max(LEAST, min(MOST, total // SHARE // MEBIBYTE))


def limited() -> bool:
    """Whether a cgroup gives this process and its siblings less than the machine has."""
    return memory() < _machine()


def memory(groups: Path = GROUPS, root: Path = ROOT) -> int:
    """Bytes of memory: the machine's, or the least that a cgroup around this process allows."""
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
    """The files that hold limits, of cgroup v2 and v1, from the innermost group outwards."""
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
        # A container may see the path on its host, which does not exist in it.
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(top):
                yield folder / name


@dataclass(frozen=True, slots=True)
class Config:
    """Seconds, unless a name says otherwise."""

    lease: float  # how long a claim lasts unrenewed
    heartbeat: float  # how often a long step's lease is renewed
    grace: float  # how long past its deadline a step may take to yield
    database_step: float  # how long a step may hold the transaction that records it open
    stall: float  # how long a process may run no other thread before it is ended; 0 is for ever
    patience: float  # how long a message may be on its way before anybody wonders
    drain: float  # how long steps under way get when their worker is asked to end
    segment_steps: int  # effect steps one message carries at most
    segment_seconds: float  # and their time-outs together
    stretch_steps: int  # pure steps recorded in one statement at most
    stretch_seconds: float  # and the work in them
    pack_steps: int  # segments one message carries at most, of siblings or of executions
    pack_seconds: float  # and the work in them, as estimated
    pack_patience: float  # after which a pack's worker leaves to others what it has not begun
    pack_trial: float  # the same for a pack that holds a step which nobody has timed
    batch_steps: int  # and of a pure map's items
    stay_seconds: float  # how long one message may lead a worker from turn to turn of a body
    poison: int  # crashes after which a step is not tried again
    isolated: int  # suspect steps that one worker executes at once, each in its own process
    isolated_memory: int  # MiB of address space that such a process may have; 0 is no limit
    chain_links: int  # segments a Celery chain links at most
    chord_headers: int  # headers a chord has at most
    stuck_threads: int  # threads past their deadline before a worker drains
    worker_memory: int  # MiB of address space that a process of a prefork pool may have; 0: any


@lru_cache(maxsize=1)
def config() -> Config:
    """The configuration; read from the settings at first use."""
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
    """The currency of costs that name none, in ISO 4217's letters."""
    return valkyr_settings().currency


def pool() -> str:
    """The pool this process was started with: `prefork`, or `threads`."""
    return os.environ.get("VALKYR_POOL", "prefork")
