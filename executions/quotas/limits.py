"""What limits the executions of a workspace, read in one query."""

from dataclasses import dataclass
from uuid import UUID

from executions.database import statements
from executions.states import QuotaWindow


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` executions a window, of the whole workspace or of one user; `of` says whose.

    `of` begins a sentence: "The tier 'free'", "Your quota".
    """

    user_id: int | None
    window: QuotaWindow
    most: int
    of: str


@dataclass(frozen=True, slots=True)
class Ceilings:
    """A tier's name and its limits on what runs and waits at once; and the counted limits.

    Of several limits on one counter only the tightest is listed; None means no limit.
    """

    tier: str
    max_concurrent: int | None
    max_pending: int | None
    limits: tuple[Limit, ...]
    archived: bool


def ceilings(workspace_id: UUID, user_id: int | None = None) -> Ceilings:
    """What limits a workspace and, in it, one principal. One query."""
    rows = statements.fetch("ceilings", {"workspace": workspace_id, "user": user_id})
    name, concurrent, pending, hourly, daily, archived = rows[0][:6]
    found = _limits(None, f"The tier {name!r} of this workspace", hourly, daily)
    for exists, whose, per_hour, per_day in (row[6:] for row in rows):
        if exists:
            of = "The quota of this workspace" if whose is None else "Your quota in this workspace"
            found += _limits(whose, of, per_hour, per_day)
    return Ceilings(name, concurrent, pending, tightest(found), archived)


def tightest(limits: list[Limit]) -> tuple[Limit, ...]:
    """One limit a counter: those of the workspace first, the hour before the day."""
    best: dict[tuple[int | None, QuotaWindow], Limit] = {}
    for limit in limits:
        counter = (limit.user_id, limit.window)
        if counter not in best or limit.most < best[counter].most:
            best[counter] = limit
    return tuple(sorted(best.values(), key=_order))


def _order(limit: Limit) -> tuple[bool, bool]:
    # The order in which counters are locked.
    return (limit.user_id is not None, limit.window != QuotaWindow.HOUR)


def _limits(user_id: int | None, of: str, hourly: int | None, daily: int | None) -> list[Limit]:
    given = ((QuotaWindow.HOUR, hourly), (QuotaWindow.DAY, daily))
    return [Limit(user_id, window, most, of) for window, most in given if most is not None]
