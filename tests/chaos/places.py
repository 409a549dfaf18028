"""Faults that need servers of their own kind: a world of its own for each.

By slug; read before Django is set up: import no models.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from tests.chaos.servers.disk import small_disk

# A context manager that gives the folder in which the servers keep their data.
PLACES: dict[str, Callable[[], AbstractContextManager[Path]]] = {"disk-full": small_disk}
# PostgreSQL has a standby, which has everything that was confirmed (synchronous replication).
FOLLOWED = frozenset({"postgres-failover", "postgres-behind"})
