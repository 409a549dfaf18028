"""Fetch data that a request will need soon, together with the rows that it needs now.

Within `reading`, the rows of statements named as likely are kept until the statement is requested
with the same values. Rows are used only once, because a later use needs fresh data. Unused rows are
dropped at the end of the request.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from executions.database.statements import BoundStatement, run, run_together

Rows = list[tuple[Any, ...]]
_kept: ContextVar[list[tuple[BoundStatement, Rows]] | None] = ContextVar("ahead", default=None)


@contextmanager
def reading() -> Iterator[None]:
    """Until the end of the block, which is one request, keep the rows that are read ahead."""
    token = _kept.set([])
    try:
        yield
    finally:
        _kept.reset(token)


def fetch(statement: BoundStatement, likely: Sequence[BoundStatement] = ()) -> Rows:
    """Return a statement's rows: kept earlier, or queried now together with those of `likely`."""
    kept = _kept.get()
    if kept is None:
        return run(statement)
    for number, (known, rows) in enumerate(kept):
        if known == statement:
            del kept[number]
            return rows
    if not likely:
        return run(statement)
    rows, *others = run_together([statement, *likely])
    kept.extend(zip(likely, others, strict=True))
    return rows


def drop() -> None:
    """Drop the kept rows, so that their statements are run again."""
    kept = _kept.get()
    if kept is not None:
        kept.clear()
