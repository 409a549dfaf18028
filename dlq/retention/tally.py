"""What went, or would go, of one kind."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(slots=True)
class PruningTally:
    """How many rows of a kind, when the first and the last of them ended, and why others stay.

    `parts` counts what goes along, by kind: the runs of executions. `more` says that time was over
    before all was looked at.
    """

    kind: str
    rows: int = 0
    first: datetime | None = None
    last: datetime | None = None
    parts: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    more: bool = False

    def span(self, first: datetime | None, last: datetime | None) -> None:
        """Take in when some of them ended."""
        if first is not None:
            self.first = first if self.first is None else min(self.first, first)
        if last is not None:
            self.last = last if self.last is None else max(self.last, last)
