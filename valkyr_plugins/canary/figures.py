"""Count the newest executions of a canary's two versions, at most 5,000 of each."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from dlq.public.models import FailureGroup, GroupVersion
from executions.public.database import Statements
from runners.public.costs import spent_by
from valkyr_plugins.canary.models import Canary
from valkyr_plugins.canary.stop_rule import NewGroup, SideFigures, StopRule, slow_limit

_own = Statements(Path(__file__).with_name("sql"))
FOLDER, statement, is_kept = _own.folder, _own.text, _own.kept

MOST = 5_000
# Maximum number of executions of each version whose costs are counted.
MOST_COSTS = 1_000
# Maximum number of failure groups that are read: of all groups, and of the new ones.
MOST_GROUPS = 20


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """A failure group, and the numbers of its dead letters in the two versions."""

    id: UUID
    name: str
    canary: int
    latest: int
    is_new: bool  # whether no other version has this group


@dataclass(frozen=True, slots=True)
class Side:
    """The figures of one version; `ids` contains the IDs of its newest executions."""

    counts: SideFigures
    ids: Sequence[UUID]

    def costs(self) -> list[dict[str, Any]]:
        """Return the average cost of the newest executions in each currency. Uses one query."""
        if not spent_by.provided or not self.ids:
            return []
        return [
            {"currency": currency, "perExecution": str(_rounded(amount / len(self.ids)))}
            for currency, amount in sorted(spent_by(self.ids).items())
        ]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The figures of the canary and of the latest version, side by side."""

    canary: Side
    latest: Side
    groups: list[GroupCounts]

    @property
    def new_groups(self) -> list[NewGroup]:
        """Return the failure groups that only the canary version has."""
        return [NewGroup(one.name, one.canary) for one in self.groups if one.is_new]


def rule_of(canary: Canary) -> StopRule | None:
    """Return the rule that stops the canary automatically; None if there is none."""
    return None if canary.stop is None else StopRule(**canary.stop)


def compare(canary: Canary) -> SideBySide:
    """Return the current counts of both versions, and the failure groups of the canary.

    Uses at most six queries, regardless of the number of executions.
    """
    since = {"workflow": canary.workflow_id, "since": canary.created_at}
    latest = _side("latest_side", since | {"version": canary.latest_id}, None)
    rule = rule_of(canary)
    slow = None if rule is None else slow_limit(rule, latest.counts)
    return SideBySide(
        _side("canary_side", {"version": canary.version_id}, slow), latest, _groups(canary)
    )


def as_json(found: SideBySide) -> dict[str, Any]:
    """Return the comparison as it is stored with an ended canary."""
    return {
        "canary": _side_json(found.canary),
        "latest": _side_json(found.latest),
        "groups": [asdict(one) | {"id": str(one.id)} for one in found.groups],
    }


def _side_json(side: Side) -> dict[str, Any]:
    counts = side.counts
    rate = counts.failure_rate
    return {
        "started": counts.started,
        "ended": counts.ended,
        "failed": counts.failed,
        "cancelled": counts.cancelled,
        "failure_rate": None if rate is None else round(rate, 2),
        "p50_seconds": counts.p50,
        "p95_seconds": counts.p95,
        "costs": side.costs(),
    }


def _side(name: str, params: dict[str, Any], slow: float | None) -> Side:
    row = _own.fetch_one(name, params | {"slow": slow, "most": MOST, "ids": MOST_COSTS})
    assert row is not None, "it counts"
    started, ended, failed, cancelled, slow_ones, p50, p95, ids = row
    counts = SideFigures(
        started=started,
        ended=ended,
        failed=failed,
        cancelled=cancelled,
        slow=slow_ones,
        p50=p50,
        p95=p95,
    )
    return Side(counts, ids or [])


def _groups(canary: Canary) -> list[GroupCounts]:
    """Return the canary version's failure groups: the 20 largest, and the 20 largest new ones.

    A group's size is the number of its dead letters in the canary version.
    """
    numbers = {canary.version.number: "canary", canary.latest.number: "latest"}
    rows = GroupVersion.objects.filter(group__workflow_id=canary.workflow_id, count__gt=0)
    mine = rows.filter(number=canary.version.number).order_by("-count", "group_id")
    others = rows.filter(group=OuterRef("group")).exclude(number=canary.version.number)
    chosen = (mine, mine.exclude(Exists(others)))
    ids = {pk for some in chosen for pk in some.values_list("group_id", flat=True)[:MOST_GROUPS]}
    counts: dict[UUID, dict[str, int]] = {pk: {} for pk in ids}
    for pk, number, count in rows.filter(group__in=ids).values_list("group_id", "number", "count"):
        counts[pk][numbers.get(number, "other")] = count
    named = FailureGroup.objects.in_bulk(ids)
    groups = [_group(named[pk], found) for pk, found in counts.items() if pk in named]
    return sorted(groups, key=lambda group: (-group.canary, group.id))


def _group(group: FailureGroup, found: dict[str, int]) -> GroupCounts:
    # The name omits the message, which may quote values.
    name = ": ".join(filter(None, (group.place, group.exception or "failure")))
    return GroupCounts(
        group.pk, name, found["canary"], found.get("latest", 0), is_new=len(found) == 1
    )


def _rounded(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.000001")).normalize()
