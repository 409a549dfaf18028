"""What was told of one watched thing, so that rows that look the same are not told again.

A row is written for reasons that nobody sees, such as a renewed lease. Forgetting one costs a
frame, never a change, so the memory is bounded.
"""

from executions.live.rows import Row

MOST = 10_000


class RowFingerprints:
    """Fingerprints of rows by id, the oldest forgotten first."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._told: dict[str, int] = {}

    def unknown(self, rows: list[Row]) -> list[Row]:
        """The rows that differ from what was told; they count as told from now on."""
        return [row for row in rows if self._learns(row)]

    def _learns(self, row: Row) -> bool:
        fingerprint = hash(tuple(row.values()))
        if self._told.get(row["id"]) == fingerprint:
            return False
        self._told.pop(row["id"], None)
        self._told[row["id"]] = fingerprint
        if len(self._told) > MOST:
            del self._told[next(iter(self._told))]
        return True
