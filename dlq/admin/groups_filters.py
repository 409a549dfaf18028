"""The figures and the filters of the list of failure groups."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.postgres.aggregates import ArrayAgg
from django.core.exceptions import ValidationError
from django.db.models import BigIntegerField, Count, F, Max, Min, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Cast, Coalesce, Extract
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from dlq.admin import filter_form
from dlq.admin.entry_filters import LabelWordsField
from dlq.admin.filter_form import FieldsFilter, FiltersForm
from dlq.browse import bounded_list
from dlq.groups.labelled import labelled
from dlq.models import DeadLetterEntry, FailureGroup, GroupHour, GroupVersion, Resolution
from executions.admin.filters import AGES, TabFilter
from executions.admin.scope import scoped
from executions.language import lazy

# Additional data of the list of groups, with one query of each kind for a whole page.


DAY, WEEK = 24, 7 * 24
STEP = 6  # hours per bar of the week's chart


@dataclass(slots=True)
class GroupFigures:
    """A group's failures per hour (newest last), versions, oldest open entry and next expiry."""

    hours: list[int] = field(default_factory=lambda: [0] * WEEK)
    versions: tuple[int, int, int] = (0, 0, 0)  # lowest, highest, number of versions
    oldest_open: datetime | None = None
    expires: datetime | None = None

    @property
    def day(self) -> list[int]:
        """Return the number of failures in each of the last 24 hours."""
        return self.hours[-DAY:]

    @property
    def week(self) -> list[int]:
        """Return the numbers of failures in the last 7 days, one for each period of six hours."""
        return [sum(self.hours[at : at + STEP]) for at in range(0, WEEK, STEP)]


def hour_of(at: datetime) -> datetime:
    """Return the beginning of the hour that contains a time."""
    return at.replace(minute=0, second=0, microsecond=0)


def figures(groups: Sequence[FailureGroup]) -> dict[UUID, GroupFigures]:
    """Return the figures of these groups, keyed by group ID. Uses three queries."""
    ids = [group.pk for group in groups]
    found: dict[UUID, GroupFigures] = defaultdict(GroupFigures)
    start = hour_of(timezone.now()) - timedelta(hours=WEEK - 1)
    rows = GroupHour.objects.filter(group_id__in=ids, hour__gte=start).order_by()
    # A page of groups has 4,200 hours. One row per group is read in a third of the time.
    seconds = Cast(Extract("hour", "epoch", tzinfo=UTC), BigIntegerField())
    listed = rows.values("group_id").annotate(at=ArrayAgg(seconds), many=ArrayAgg("count"))
    for pk, times, counts in listed.values_list("group_id", "at", "many"):
        for time, many in zip(times, counts, strict=True):
            at = (time - int(start.timestamp())) // 3_600
            if at < WEEK:
                found[pk].hours[at] += many
    versions = GroupVersion.objects.filter(group_id__in=ids).values_list("group_id")
    for pk, *spread in versions.annotate(Min("number"), Max("number"), Count("number")):
        found[pk].versions = tuple(spread)
    for pk, oldest, expires in _waiting(ids):
        found[pk].oldest_open, found[pk].expires = oldest, expires
    return found


def _waiting(ids: Sequence[UUID]) -> Any:
    entries = DeadLetterEntry.objects.filter(group=OuterRef("pk"))
    oldest = entries.filter(resolution=Resolution.PENDING).order_by("id")
    expiring = entries.filter(expires_at__isnull=False, pinned=False).order_by("expires_at")
    return (
        FailureGroup.objects.filter(pk__in=ids)
        .order_by()
        .values_list(
            "pk",
            Subquery(oldest.values("quarantined_at")[:1]),
            Subquery(expiring.values("expires_at")[:1]),
        )
    )


def with_growth(groups: QuerySet[Any]) -> QuerySet[Any]:
    """Annotate groups with `growth`: failures in the last 24 hours minus those in the 24 before."""
    now = hour_of(timezone.now())
    day, before = now - timedelta(hours=DAY - 1), now - timedelta(hours=2 * DAY - 1)
    late = _sum(GroupHour.objects.filter(hour__gte=day))
    early = _sum(GroupHour.objects.filter(hour__gte=before, hour__lt=day))
    counted: QuerySet[Any] = groups.annotate(late=late, early=early)
    grown: QuerySet[Any] = counted.annotate(growth=F("late") - F("early"))
    return grown


def _sum(hours: QuerySet[GroupHour]) -> Any:
    own = hours.filter(group=OuterRef("pk")).order_by().values("group")
    total = Subquery(own.annotate(n=Sum("count")).values("n"), output_field=BigIntegerField())
    return Coalesce(total, 0, output_field=BigIntegerField())


OWNERS = [("", lazy("anyone")), ("me", lazy("me")), ("nobody", lazy("nobody"))]
GROWTH = [
    ("", lazy("any")),
    ("up", lazy("more than the day before")),
    ("down", lazy("fewer than the day before")),
]


class StatusFilter(TabFilter):
    """Filters groups by status; by default, shows the groups that need attention."""

    title = lazy("status")
    parameter_name = field = "status"
    default = "open"
    groups = {
        "open": ("NEW", "ACKNOWLEDGED", "REGRESSED", "REDRIVING"),
        "new": ("NEW",),
        "regressed": ("REGRESSED",),
        "snoozed": ("SNOOZED",),
        "resolved": ("RESOLVED",),
        "ignored": ("IGNORED",),
    }


# Maximum number of groups that are counted for the tabs, and the time limit in milliseconds.
COUNTED, COUNT_MS = 10_000, 500


def status_counts(rows: QuerySet[FailureGroup]) -> dict[str, int]:
    """Return the number of groups in each tab; {} for over 10,000 groups or after a timeout."""
    some = rows.order_by().values("pk")[: COUNTED + 1]
    counted = FailureGroup.objects.filter(pk__in=some).order_by().values_list("status")
    try:
        with bounded_list.patience(COUNT_MS, bounded_list.ALONE):
            by_status = dict(counted.annotate(Count("pk")))
    except bounded_list.TooManyRows:
        return {}
    total = sum(by_status.values())
    if total > COUNTED:
        return {}
    tabs = {
        word: sum(by_status.get(status, 0) for status in statuses)
        for word, statuses in StatusFilter.groups.items()
    }
    return tabs | {"all": total}


class GroupFilters(FiltersForm):
    """The form with the filters above the list of groups."""

    workflow = forms.UUIDField(widget=forms.Select, label=lazy("Workflow"))
    module = forms.CharField(max_length=100, label=lazy("Module"))
    exception = forms.CharField(max_length=200, label=lazy("Exception"))
    owner = forms.ChoiceField(choices=OWNERS, label=lazy("Owner"))
    since = forms.ChoiceField(
        choices=[("", lazy("any time")), *((key, title) for key, (title, _) in AGES.items())],
        label=lazy("Last seen"),
    )
    label = LabelWordsField(label=lazy("Label"))
    growth = forms.ChoiceField(choices=GROWTH, label=lazy("Last 24 hours"))

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self.offer("workflow", filter_form.workflows(request))
        self.suggestions = filter_form.suggestions(request)

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Return the groups that match the filled fields."""
        given = self.filled()
        same = {"workflow": "workflow_id", "module": "module", "exception": "exception"}
        rows = rows.filter(**{path: given[name] for name, path in same.items() if name in given})
        if owner := given.get("owner"):
            rows = rows.filter(owner_id=self.request.user.pk if owner == "me" else None)
        if since := given.get("since"):
            rows = rows.filter(last_seen__gte=timezone.now() - AGES[since][1])
        if labels := given.get("label"):
            rows = self._labelled(rows, labels)
        if growth := given.get("growth"):
            side = "growth__gt" if growth == "up" else "growth__lt"
            rows = with_growth(rows).filter(**{side: 0})
        return rows

    def _labelled(self, rows: QuerySet[Any], labels: dict[str, str]) -> QuerySet[Any]:
        """Return the groups of visible dead letters with these labels. Raises ValidationError."""
        letters = scoped(self.request, DeadLetterEntry.objects.all())
        if workflow := self.filled().get("workflow"):
            letters = letters.filter(workflow_id=workflow)
        try:
            return labelled(rows, labels, letters)
        except bounded_list.TooManyRows:
            raise ValidationError(
                gettext("Too many dead letters have this label. Choose a workflow too.")
            ) from None


class GroupFieldsFilter(FieldsFilter):
    """All filters of the list of groups except the tabs, as fields of one form."""

    form_class = GroupFilters
