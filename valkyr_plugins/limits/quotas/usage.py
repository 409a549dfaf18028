"""How much of quotas is used in the present windows, for people to see."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count

from executions.public.database import ClockTimestamp
from executions.public.quotas import Counter, Present, QuotaWindow, Window, present
from valkyr_plugins.limits.models import Quota, QuotaHold


@dataclass(frozen=True, slots=True)
class QuotaUses:
    """What the counters of some quotas say now, and how many of their places are held, by id."""

    counters: Present
    held: Mapping[UUID, int]

    def running(self, quota: Quota) -> int | None:
        """How many steps hold a place of a quota; None where it counts none."""
        return None if quota.max_concurrent is None else self.held.get(quota.pk, 0)

    def window(self, quota: Quota, name: QuotaWindow, limit: int | None) -> Window:
        """One window of a quota, seen under a limit."""
        return self.counters.window(_counter_of(quota), name, limit)


def uses_of(quotas: Sequence[Quota]) -> QuotaUses:
    """The present use of each quota.

    Two queries, however many there are, and one more where there are places to count.
    """
    counted = [quota.pk for quota in quotas if quota.max_concurrent is not None]
    return QuotaUses(present(map(_counter_of, quotas)), _held(counted))


def _counter_of(quota: Quota) -> Counter:
    return Counter(quota.workspace_id, quota.user_id, quota.resource, quota.target)


def _held(quota_ids: Collection[UUID]) -> dict[UUID, int]:
    if not quota_ids:
        return {}
    live = QuotaHold.objects.filter(quota__in=quota_ids, until__gt=ClockTimestamp())
    counts = live.values("quota").annotate(count=Count("pk")).order_by()
    return dict(counts.values_list("quota", "count"))
