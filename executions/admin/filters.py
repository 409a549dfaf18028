"""Filters of lists, such as by state (as tabs), age (using the time in the ID) or workflow."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from executions.admin.scope import scoped
from executions.database.by_state import in_states
from executions.database.clock import first_id_at
from executions.language import lazy
from executions.models import Workflow
from executions.states import VersionKind

AGES = {
    "1h": (lazy("last hour"), timedelta(hours=1)),
    "24h": (lazy("last 24 hours"), timedelta(hours=24)),
    "7d": (lazy("last 7 days"), timedelta(days=7)),
    "14d": (lazy("last 14 days"), timedelta(days=14)),
}


class TabFilter(SimpleListFilter):
    """A filter with one tab for each group of a field's values.

    `groups` maps a word to the values of its group.
    """

    field: ClassVar[str]
    groups: ClassVar[dict[str, tuple[str, ...]]]
    default: ClassVar[str | None] = None

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return one choice per group, and "all" if a default narrows the list."""
        words = [(word, gettext(word)) for word in self.groups]
        return [*words, ("all", gettext("all"))] if self.default else words

    def value(self) -> str | None:
        """Return the chosen word, or the default if the word is missing or unknown."""
        chosen = super().value()
        known = chosen in self.groups or (chosen == "all" and self.default is not None)
        return chosen if known else self.default

    def choices(self, changelist: Any) -> Any:
        """Return Django's choices, without Django's "All" if the filter has a default."""
        given = list(super().choices(changelist))
        return given[1:] if self.default else given

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows of the chosen group; all rows if none is chosen."""
        values = self.groups.get(self.value() or "")
        if values is None:
            return queryset
        if len(values) == 1:
            return queryset.filter(**{self.field: values[0]})
        return queryset.filter(**{f"{self.field}__in": values})


class StateTabFilter(TabFilter):
    """A filter with one tab for each group of execution or run states.

    Live and final states are in separate groups.
    """

    field = "state"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows of the chosen group, using an index; all rows if none is chosen."""
        states = self.groups.get(self.value() or "")
        return queryset if states is None else queryset.filter(in_states(*states))


class AgeFilter(SimpleListFilter):
    """Filter by the maximum age of the rows."""

    title = lazy("age")
    parameter_name = "since"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the ages to choose from."""
        return [(key, title) for key, (title, _) in AGES.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows up to the chosen age, using the time in the ID; all rows by default."""
        chosen = AGES.get(self.value() or "")
        if chosen is None:
            return queryset
        return queryset.filter(pk__gte=first_id_at(timezone.now() - chosen[1]))


class EndedFilter(SimpleListFilter):
    """Filter executions by the period in which they ended.

    Links pass the period as an ISO 8601 interval in UTC. `chip` consists of the period as text and
    the URL without the period.
    """

    title = lazy("ended")
    parameter_name = "ended"
    chip: tuple[str, str] | None = None

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the URL's period as the only choice; no choice if it is missing or invalid."""
        given = request.GET.get(self.parameter_name, "")
        found = _period(given)
        if found is None:
            return []
        text = "{:%d %b %H:%M} – {:%d %b %H:%M} UTC".format(*found)
        kept = {name: request.GET[name] for name in request.GET if name != self.parameter_name}
        self.chip = (text, f"?{urlencode(kept)}")
        return [(given, text)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows that ended in the period; all rows if no period is given.

        A condition on the ID also excludes rows created after the period, so that the primary key
        limits the scan.
        """
        found = _period(self.value() or "")
        if found is None:
            return queryset
        since, until = found
        ended = queryset.filter(finished_at__gte=since, finished_at__lt=until)
        return ended.filter(pk__lt=first_id_at(until))


def _period(text: str) -> tuple[datetime, datetime] | None:
    try:
        since, until = (datetime.fromisoformat(one) for one in text.split("/"))
    except ValueError:
        return None
    both = since.tzinfo and until.tzinfo
    return (since, until) if both and since < until else None


def id_bounds(request: HttpRequest) -> tuple[UUID, UUID]:
    """Return lower and upper bounds for IDs, from the URL's filters by age and by end time."""
    age, period = AGES.get(request.GET.get("since", "")), _period(request.GET.get("ended", ""))
    return (
        first_id_at(timezone.now() - age[1]) if age else UUID(int=0),
        first_id_at(period[1]) if period else UUID(int=2**128 - 1),
    )


class KindFilter(SimpleListFilter):
    """Filter executions by the kind of their version, such as test runs."""

    title = lazy("kind")
    parameter_name = "kind"
    path = "version__kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the kinds of versions."""
        return [(str(kind), kind.label) for kind in VersionKind]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows of the chosen kind; all rows if none is chosen."""
        if self.value() not in VersionKind.values:
            return queryset
        return queryset.filter(**{self.path: self.value()})


class VersionKindFilter(KindFilter):
    """Filter versions by kind."""

    path = "kind"


class WorkflowFilter(SimpleListFilter):
    """Filter by workflow; choices are the first 100 visible unarchived workflows by name."""

    title = lazy("workflow")
    parameter_name = "workflow"
    path = "workflow"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the IDs and names of the workflows to choose from, ordered by name."""
        rows = scoped(request, Workflow.objects.filter(archived_at=None))
        return [(str(pk), name) for pk, name in rows.values_list("pk", "name")[:100]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows of the chosen workflow; all rows if no valid one is chosen."""
        try:
            pk = UUID(self.value() or "")
        except ValueError:
            return queryset
        return queryset.filter(**{self.path: pk})
