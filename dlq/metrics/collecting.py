"""The readings together: taken at most every twelve seconds, by one request at a time.

Ten scrapers cost as one: whoever comes meanwhile gets what was last read, however many they are. A
reading that fails or takes too long is left out and said to be (`valkyr_reading_up`); after six
seconds the rest is left out too, so that a scrape ends in time whatever the database does.
"""

import logging
import threading
import time
from collections.abc import Iterable

from django.db import DatabaseError, connection
from prometheus_client.core import GaugeMetricFamily as Family
from prometheus_client.registry import Collector

from dlq.metrics.readings import READINGS, Reading
from executions.database.clock import database_now
from executions.database.time_limit import hurried
from executions.health import checking

log = logging.getLogger(__name__)
KEPT_SECONDS = 12.0
PATIENCE_SECONDS = 6.0


class DatabaseCollector(Collector):
    """The last readings, renewed where they are old."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._lock = threading.Lock()
        self._families: list[Family] = []
        self._read_at = float("-inf")

    def collect(self) -> Iterable[Family]:
        """What is known now."""
        # Only the very first scrapes wait for each other; later ones take what there is.
        if self._old() and self._lock.acquire(blocking=not self._families):
            try:
                if self._old():
                    self._families = read()
                    self._read_at = time.monotonic()
            finally:
                self._lock.release()
        return self._families

    def forget(self) -> None:
        """Read anew at the next scrape."""
        self._read_at = float("-inf")

    def _old(self) -> bool:
        return time.monotonic() - self._read_at > KEPT_SECONDS


def read() -> list[Family]:
    """Everything, now: what answers, and the readings if the database does."""
    began = time.monotonic()
    up = Family("valkyr_up", "Whether a part answers: 1 or 0.", labels=["part"])
    found = checking.statuses("database", "broker")
    for part, well in found.items():
        up.add_metric([part], int(well))
    taken = Family("valkyr_reading_up", "Whether a reading was had: 1 or 0.", labels=["reading"])
    families = [up]
    for name, reading in READINGS.items() if found["database"] else ():
        had = time.monotonic() - began < PATIENCE_SECONDS and _take(name, reading, families)
        taken.add_metric([name], int(had))
    took = Family(
        "valkyr_readings_duration_seconds",
        "What the readings from the database took, the last time they were taken.",
        time.monotonic() - began,
    )
    return [*families, taken, took]


def _take(name: str, reading: Reading, families: list[Family]) -> bool:
    try:
        with hurried():
            with connection.cursor() as cursor:
                # An index, or nothing: these are not worth a scan of what has ended.
                cursor.execute("SET LOCAL enable_seqscan = off")
            families.extend(list(reading(database_now())))
    except DatabaseError as error:
        log.warning("the reading %r was not had (%s)", name, error)
        return False
    return True


DATABASE = DatabaseCollector()
