"""The limits on a workspace's executions, read in one query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions.database import ahead, statements
from executions.ports import Port
from executions.states import QuotaWindow


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of `most` executions per window, for the whole workspace or for one user.

    `of` names the owner at the start of a sentence, such as "The tier 'free'".
    """

    user_id: Any
    window: QuotaWindow
    most: int
    of: str


@dataclass(frozen=True, slots=True)
class Ceilings:
    """A tier's name, its limits on running and waiting executions, and hourly and daily limits.

    `max_concurrent` and `max_pending` are None without a limit; `limits` has the tightest limit of
    each counter. `sealing_key` is the ID of the workspace's key for payloads.
    """

    tier: str
    max_concurrent: int | None
    max_pending: int | None
    limits: tuple[Limit, ...]
    archived: bool
    sealing_key: int | None = None


@dataclass(frozen=True, slots=True)
class CeilingsQuery:
    """The statement that reads a workspace's limits, and the function that converts its rows."""

    statement: statements.BoundStatement
    read: Callable[[list[tuple[Any, ...]]], Ceilings]


ceilings_query: Port[[UUID, Any], CeilingsQuery] = Port(
    "executions.quotas.limits.ceilings_query", "limits"
)
"""Return the query for the limits of a workspace and of one principal in it. Optional.

Its statement replaces the default statement, so it must also read the tier's limits.
"""


def ceilings(workspace_id: UUID, user_id: Any = None) -> Ceilings:
    """Return the limits of a workspace and of one principal in it. Uses at most one query."""
    query = query_of(workspace_id, user_id)
    return query.read(ahead.fetch(query.statement))


def query_of(workspace_id: UUID, user_id: Any) -> CeilingsQuery:
    """Return the query that `ceilings` runs, to run it together with other statements."""
    if ceilings_query.provided:
        return ceilings_query(workspace_id, user_id)
    asked = statements.asked("workspace_limits", {"workspace": workspace_id})
    return CeilingsQuery(asked, lambda rows: of_tier(rows[0]))


def of_tier(row: Sequence[Any], more: Sequence[Limit] = ()) -> Ceilings:
    """Return a tier's limits from a row of `workspace_limits.sql`, together with `more`."""
    name, concurrent, pending, hourly, daily, archived, key = row
    own = windowed(None, f"The tier {name!r} of this workspace", hourly, daily)
    return Ceilings(name, concurrent, pending, tightest([*own, *more]), archived, key)


def tightest(limits: Sequence[Limit]) -> tuple[Limit, ...]:
    """Return each counter's tightest limit, ordered: workspace before user, hour before day."""
    best: dict[tuple[Any, QuotaWindow], Limit] = {}
    for limit in limits:
        counter = (limit.user_id, limit.window)
        if counter not in best or limit.most < best[counter].most:
            best[counter] = limit
    return tuple(sorted(best.values(), key=_order))


def _order(limit: Limit) -> tuple[bool, bool]:
    # The sort key for the order in which counters are locked.
    return (limit.user_id is not None, limit.window != QuotaWindow.HOUR)


def windowed(user_id: Any, of: str, hourly: int | None, daily: int | None) -> list[Limit]:
    """Return the hourly and daily limits that are set."""
    given = ((QuotaWindow.HOUR, hourly), (QuotaWindow.DAY, daily))
    return [Limit(user_id, window, most, of) for window, most in given if most is not None]
