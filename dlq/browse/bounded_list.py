"""Read the first rows of a large filtered list within a time limit, or fail.

PostgreSQL cannot know how rare a value within JSON is. It may read a million rows in the list's
order to find a rare value, or fetch half the table through the GIN index for a common value. So
there are two attempts, each with its own time limit:

- walk: read the rows in the list's order, without bitmap scans. This finds a common value quickly.
- gather: read all matching rows, using any index, and sort them. The matches are usually few,
  because the first attempt finds common values.

If both attempts take too long, TooManyRows is raised, so that no request hangs.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from django.db import OperationalError
from django.db.models import QuerySet
from psycopg.errors import QueryCanceled

from executions.database import connection, transaction

WALK_MS = 100
GATHER_MS = 3_000
COUNT_MS = 40
# Without parallel workers: when their leader is cancelled, each of them would write a line to the
# server's log.
ALONE = "SET LOCAL max_parallel_workers_per_gather = 0"
WALKING = f"SET LOCAL enable_bitmapscan = off;{ALONE}"


class TooManyRows(Exception):
    """The search through the rows did not finish within the time limit."""


@dataclass(frozen=True, slots=True)
class Found:
    """The IDs, in the list's order, and the number of matches if it is known at no extra cost."""

    ids: list[Any]
    count: int | None = None


def first(rows: QuerySet[Any], many: int, bound: int) -> Found:
    """Return the first `many` IDs of `rows`, which are ordered by ID, and the count if it is known.

    The count stops at `bound`. Raises TooManyRows if the search takes too long.
    """
    try:
        with patience(WALK_MS, WALKING):
            ids = list(rows.values_list("id", flat=True)[:many])
    except TooManyRows:
        return _gather(rows, many, bound)
    return Found(ids, len(ids) if len(ids) < many else None)


def count(rows: QuerySet[Any], bound: int) -> int | None:
    """Return the number of rows, up to `bound`; None if counting takes too long."""
    return counts({"rows": rows}, bound).get("rows")


def counts(lists: Mapping[str, QuerySet[Any]], bound: int) -> dict[str, int]:
    """Return the number of rows of each list, up to `bound`, keyed by list name.

    All lists are counted in one transaction. If counting one list takes too long, that list and the
    lists after it are omitted.
    """
    found: dict[str, int] = {}
    with suppress(TooManyRows), patience(COUNT_MS, ALONE):
        for name, rows in lists.items():
            found[name] = rows.order_by().values("id")[:bound].count()
    return found


def _gather(rows: QuerySet[Any], many: int, bound: int) -> Found:
    """Return the first IDs: read all matches in any order, then sort them. Raises TooManyRows."""
    inner, values = rows.order_by().values("id").query.sql_with_params()
    order = "DESC" if str(rows.query.order_by[0]).startswith("-") else "ASC"
    sql = (
        f"WITH matching AS MATERIALIZED ({inner}) "  # noqa: S608 - Django's own SQL and an integer
        f"SELECT id FROM matching ORDER BY id {order} LIMIT {bound:d}"
    )
    with patience(GATHER_MS), connection.cursor() as cursor:
        cursor.execute(sql, values)
        ids = [row[0] for row in cursor.fetchall()]
    return Found(ids[:many], len(ids))


@contextmanager
def patience(milliseconds: int, settings: str = "") -> Iterator[None]:
    """Raise TooManyRows if a statement in the block takes too long; always roll the block back."""
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL statement_timeout = {milliseconds};{settings}")
            yield
            # Restore the settings, even within a longer transaction.
            transaction.set_rollback(True)
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TooManyRows from None
        raise
