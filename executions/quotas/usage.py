"""How much of the limits is used in the present windows, for people to see."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q

from executions.database.clock import database_now
from executions.models import QuotaUse
from executions.quotas.windows import EXECUTIONS, LENGTHS, start_of
from executions.states import QuotaWindow


class Counter(NamedTuple):
    """Whose counter of what: a workspace's, or that of one user in it."""

    workspace_id: UUID
    user_id: int | None
    resource: str = EXECUTIONS
    target: str = ""


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
    used: Mapping[tuple[Counter, str], int]

    def window(self, counter: Counter, name: QuotaWindow, limit: int | None) -> Window:
        """One counter's window, seen under a limit."""
        used = self.used.get((counter, name.value), None if limit is None else 0)
        starts_at = start_of(name, self.now)
        return Window(limit, used, starts_at, starts_at + LENGTHS[name])


def present(counters: Iterable[Counter]) -> Present:
    """The counters' present windows; two queries, however many there are."""
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
