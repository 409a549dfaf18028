"""The runs' table partitioned by time, in the test database."""

from collections.abc import Iterator
from contextlib import contextmanager

from runners.partitions import switching, upkeep
from runners.partitions.short_locks import ATTEMPTS


@contextmanager
def partitioned(days: int = 1) -> Iterator[None]:
    """Convert the table, with partitions ahead, and back afterwards."""
    assert switching.turn_on(days)
    upkeep.add_ahead(attempts=ATTEMPTS)
    try:
        yield
    finally:
        switching.turn_off()
