"""How far somebody has read: the oldest transaction that was still open then.

Every version of a row names the transaction that wrote it (`xmin`). What a statement could not see
was written by a transaction that was open, or began later; both have ids from the snapshot's `xmin`
on. So who reads next what was written by that id or a later one misses nothing, however late a
commit comes and whatever the row's own times say; what comes twice was merely written meanwhile.
Savepoints have ids of their own, always above their transaction's.
"""

import re
from dataclasses import dataclass
from datetime import datetime

from executions.database import statements

_TEXT = re.compile(r"[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment to read on from: the database's time, and the cursor that belongs to it."""

    now: datetime
    cursor: int


def mark() -> Mark:
    """The present moment; taken before anything is read that shall be told of it."""
    row = statements.fetch_one("watch_mark", {})
    assert row is not None
    return Mark(row[0], row[1])


def read_cursor(text: str | None, latest: int) -> int | None:
    """The cursor of a viewer that was here before; None for what is none of this database.

    `latest` is the cursor now: one from beyond it comes from another database, or from nowhere.
    """
    if not text or not _TEXT.fullmatch(text) or int(text) > latest:
        return None
    return int(text)
