"""The table of faults, in the order of docs/explanation/reliability.md."""

import sys
from collections.abc import Sequence

from tests.chaos.fault import Fault
from tests.chaos.faults import (
    agents,
    backlog,
    beat,
    broker,
    cells,
    children,
    clock,
    disk,
    failover,
    messages,
    migration,
    moves,
    networks,
    overload,
    packs,
    partition,
    postgres,
    rabbit,
    randomly,
    steps,
    together,
    transaction,
    workers,
)

TABLE: tuple[Fault, ...] = (
    children.CHILD_KILLED,
    agents.AGENT_KILLED,
    workers.WORKER_KILLED,
    workers.ALL_KILLED,
    workers.FROZEN_WORKER,
    broker.BROKER_STOPPED,
    broker.BROKER_EMPTIED,
    broker.BROKER_FAILOVER,
    rabbit.NODE_KILLED,
    postgres.POSTGRES_FAST,
    postgres.POSTGRES_IMMEDIATE,
    partition.PARTITION,
    networks.LOSSY,
    networks.ONE_WAY,
    networks.NAMES,
    failover.FAILOVER,
    failover.BEHIND,
    cells.CELL_KILLED,
    moves.WORKSPACE_MOVED,
    beat.BEAT_KILLED,
    beat.TWO_BEATS,
    messages.MESSAGES,
    clock.CLOCK,
    steps.POISON,
    steps.NEVER_RETURNS,
    steps.OUTPUTS,
    packs.PACK_KILLED,
    packs.PACK_STUCK,
    disk.DISK_FULL,
    transaction.TRANSACTION,
    together.TOGETHER,
    backlog.BACKLOG,
    migration.MIGRATION,
    overload.OVERLOAD,
    randomly.RANDOM,
)


def chosen(only: Sequence[str]) -> tuple[Fault, ...]:
    """Return the faults with these slugs, or all if none are given; exit if one does not exist."""
    known = {fault.slug: fault for fault in TABLE}
    if unknown := sorted(set(only) - set(known)):
        sys.exit(f"--only names {', '.join(unknown)}; there are {', '.join(known)}")
    return tuple(fault for fault in TABLE if not only or fault.slug in only)
