"""Faults that need their own kind of servers: a separate environment for each.

The tables are keyed by the faults' slugs. This module is read before Django is set up, so it
imports no models.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from tests.chaos.servers.disk import small_disk
from tests.support import rabbitmq

# A context manager that yields the folder for the servers' data.
PLACES: dict[str, Callable[[], AbstractContextManager[Path]]] = {"disk-full": small_disk}
# PostgreSQL has a standby with everything that was confirmed (synchronous replication).
FOLLOWED = frozenset({"postgres-failover", "postgres-behind"})
# The fault's own broker, whatever broker the others use.
BROKERS = {"broker-failover": "sentinels", "rabbit-node-killed": "rabbitmq-cluster"}
APART = PLACES.keys() | FOLLOWED | BROKERS.keys()


def broker_of(slug: str, usual: str) -> str:
    """Return the broker of a run of only this fault; the usual one if its own cannot be started."""
    own = BROKERS.get(slug, usual)
    return usual if own == "rabbitmq-cluster" and rabbitmq.missing() else own
