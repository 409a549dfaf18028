"""The number of times a client waits for PostgreSQL, for any way of sending statements."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection


class RoundTrips:
    """The number of round trips in a block that has ended."""

    def __init__(self) -> None:
        """Begin at zero."""
        self._number = 0

    def read(self, trace: Path) -> None:
        """Count the round trips in libpq's trace, which has one message per line.

        An answer is requested by a Sync, or by a simple Query. An empty Query is the pool's check
        of a connection, sent once in five seconds; it is not counted.
        """
        said = (line.split("\t")[1:] for line in trace.read_text().splitlines())
        self._number = sum(
            part[0] == "F" and (part[2] == "Sync" or (part[2] == "Query" and not _empty(part)))
            for part in said
            if len(part) >= 3
        )

    def __len__(self) -> int:
        return self._number


def _empty(part: list[str]) -> bool:
    return len(part) > 3 and part[3].strip() == '""'


@contextmanager
def round_trips() -> Iterator[RoundTrips]:
    """Count the round trips of this thread's connection in the block; read the number
    afterwards.
    """
    found = RoundTrips()
    connection.ensure_connection()
    with tempfile.NamedTemporaryFile() as trace:
        pgconn = connection.connection.pgconn
        pgconn.trace(trace.fileno())
        try:
            yield found
        finally:
            pgconn.untrace()
            found.read(Path(trace.name))
