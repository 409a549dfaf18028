"""Count executions in hourly and daily windows as they start, and report the counts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q

from executions.database import statements, transaction
from executions.database.clock import database_now
from executions.errors import QuotaExceeded
from executions.models import QuotaUse
from executions.quotas.limits import Ceilings, Limit
from executions.states import QuotaWindow

# Windows are full hours and days in UTC, by the database's clock. No I/O.


EXECUTIONS = "executions"  # the resource counted here
LENGTHS = {QuotaWindow.HOUR: timedelta(hours=1), QuotaWindow.DAY: timedelta(days=1)}


def start_of(window: QuotaWindow, now: datetime) -> datetime:
    """Return the start of the window that contains `now`."""
    hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour if window == QuotaWindow.HOUR else hour.replace(hour=0)


KEPT = timedelta(days=2)
PRUNED_AT_ONCE = 5_000


def count(workspace_id: UUID, ceilings: Ceilings, more: int) -> None:
    """Count `more` executions, all or none.

    Raises QuotaExceeded, which must roll the transaction back.

    Call it inside the starting transaction, after the workspace is locked and before keys and
    executions are locked. Without limits, it makes no query.
    """
    limits = ceilings.limits
    if not limits or not more:
        return
    rows = count_use(workspace_id, limits, more)
    found = {(user_id, window): rest for user_id, window, *rest in rows}
    refusals = []
    for limit in limits:
        used, starts_at, now = found[limit.user_id, limit.window.value]
        if used > limit.most:
            refusals.append(_exceeded(limit, used - more, more, starts_at, now))
    _refuse(refusals)


def check(workspace_id: UUID, ceilings: Ceilings, more: int) -> None:
    """Raise QuotaExceeded if `more` executions would exceed a limit; count and lock nothing."""
    counters = {limit: Counter(workspace_id, limit.user_id) for limit in ceilings.limits}
    seen = present(counters.values())
    refusals = []
    for limit, counter in counters.items():
        window = seen.window(counter, limit.window, limit.most)
        used = window.used or 0
        if used + more > limit.most:
            refusals.append(_exceeded(limit, used, more, window.starts_at, seen.now))
    _refuse(refusals)


def room(workspace_id: UUID, ceilings: Ceilings) -> int | None:
    """Lock the counters, and return how many more executions fit into every window.

    Returns None if there are no limits. Call it under the same conditions as `count`.
    """
    if not ceilings.limits:
        return None
    rows = count_use(workspace_id, ceilings.limits, 0)
    used = {(user_id, window): found for user_id, window, found, *_ in rows}
    left = (limit.most - used[limit.user_id, limit.window.value] for limit in ceilings.limits)
    return max(0, int(min(left)))


def _refuse(refusals: Sequence[QuotaExceeded]) -> None:
    if refusals:
        # If an hour and its day end at the same time, report the day.
        raise max(reversed(refusals), key=lambda error: round(error.retry_after))


def count_use(
    workspace_id: UUID,
    limits: Sequence[Limit],
    more: int,
    *,
    resource: str = EXECUTIONS,
    target: str = "",
) -> list[tuple[Any, ...]]:
    """Count `more` uses of a resource in the windows of these limits, and lock the counters.

    Returns a row for each limit: its user and window, the use including `more`, the start of the
    window, and the current time.
    """
    return statements.fetch(
        "count_use",
        {
            "workspace": workspace_id,
            "resource": resource,
            "target": target,
            "more": more,
            "users": [limit.user_id for limit in limits],
            "windows": [limit.window.value for limit in limits],
        },
    )


def prune() -> int:
    """Delete counters of windows that began more than two days ago, at most 5,000.

    Returns the number of deleted counters.
    """
    old = QuotaUse.objects.filter(starts_at__lt=database_now() - KEPT)
    with transaction.atomic():
        rows = old.select_for_update(skip_locked=True).order_by("starts_at")
        ids = list(rows.values_list("pk", flat=True)[:PRUNED_AT_ONCE])
        return QuotaUse.objects.filter(pk__in=ids).delete()[0]


def _exceeded(
    limit: Limit, used: int, more: int, starts_at: datetime, now: datetime
) -> QuotaExceeded:
    ends_at = starts_at + LENGTHS[limit.window]
    asked = "one more execution was" if more == 1 else f"{more:,} more executions were"
    what = f"{limit.of} allows {limit.most:,} executions per {limit.window.value} (UTC)"
    so_far = f"{used:,} were started since {starts_at:%Y-%m-%d %H:%M}, and {asked} asked for"
    then = f"Try again after {ends_at:%Y-%m-%d %H:%M} UTC."
    if more > limit.most:
        then = f"This number exceeds the limit: request at most {limit.most:,}."
    return QuotaExceeded(
        f"{what}; {so_far}. {then}",
        retry_after=(ends_at - now).total_seconds(),
        facts={"limitedBy": limit.of, "limit": limit.most, "resetAt": ends_at.isoformat()},
    )


# The use of limits in the current windows, for display.


class Counter(NamedTuple):
    """A counter: its owner (a workspace or one of its users), and the resource that it counts."""

    workspace_id: UUID
    user_id: Any
    resource: str = EXECUTIONS
    target: str = ""


@dataclass(frozen=True, slots=True)
class Window:
    """One window of a counter, with its limit and its use.

    The limit is None if none is set, and the use is None if it is not counted.
    """

    limit: int | None
    used: int | None
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class Present:
    """The values of some counters in the windows that contain the time `now`."""

    now: datetime
    used: Mapping[tuple[Counter, str], int]

    def window(self, counter: Counter, name: QuotaWindow, limit: int | None) -> Window:
        """Return a counter's current window for this limit: its use, its start and its end."""
        used = self.used.get((counter, name.value), None if limit is None else 0)
        starts_at = start_of(name, self.now)
        return Window(limit, used, starts_at, starts_at + LENGTHS[name])


def present(counters: Iterable[Counter]) -> Present:
    """Return the current values of the counters. Uses two queries, regardless of their number."""
    wanted = set(counters)
    now = database_now()
    starts = {name.value: start_of(name, now) for name in QuotaWindow}
    users = {counter.user_id for counter in wanted if counter.user_id is not None}
    rows = QuotaUse.objects.filter(
        Q(user_id__isnull=True) | Q(user_id__in=users),
        workspace_id__in={counter.workspace_id for counter in wanted},
        resource__in={counter.resource for counter in wanted},
        target__in={counter.target for counter in wanted},
        starts_at__in=set(starts.values()),
    ).values_list("workspace_id", "user_id", "resource", "target", "window", "starts_at", "used")
    found = {
        (counter, window): used
        for workspace_id, user_id, resource, target, window, starts_at, used in rows
        if starts_at == starts[window]
        and (counter := Counter(workspace_id, user_id, resource, target)) in wanted
    }
    return Present(now, found)
