"""How much of the limits is used in the present windows, for people to see."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from executions.clock import database_now
from executions.models import QuotaUse
from executions.quotas.windows import LENGTHS, start_of
from executions.states import QuotaWindow, Resource

# Whose counter: a workspace's, or that of one user in it.
Counter = tuple[UUID, int | None]


@dataclass(frozen=True, slots=True)
class Window:
    """One window of a counter: what is allowed and used; None where nothing limits or counts."""

    limit: int | None
    used: int | None
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class Present:
    """What some counters say now."""

    now: datetime
    used: Mapping[tuple[UUID, int | None, str], int]

    def window(self, counter: Counter, name: QuotaWindow, limit: int | None) -> Window:
        """One counter's window, seen under a limit."""
        used = self.used.get((*counter, name.value), None if limit is None else 0)
        starts_at = start_of(name, self.now)
        return Window(limit, used, starts_at, starts_at + LENGTHS[name])


def present(counters: Iterable[Counter]) -> Present:
    """The counters' present windows; two queries, however many there are."""
    wanted = set(counters)
    now = database_now()
    starts = {name.value: start_of(name, now) for name in QuotaWindow}
    users = {user_id for _, user_id in wanted if user_id is not None}
    rows = QuotaUse.objects.filter(
        Q(user_id__isnull=True) | Q(user_id__in=users),
        workspace_id__in={workspace_id for workspace_id, _ in wanted},
        resource=Resource.EXECUTIONS,
        target="",
        starts_at__in=set(starts.values()),
    ).values_list("workspace_id", "user_id", "window", "starts_at", "used")
    found = {
        (workspace_id, user_id, window): used
        for workspace_id, user_id, window, starts_at, used in rows
        if starts_at == starts[window] and (workspace_id, user_id) in wanted
    }
    return Present(now, found)
