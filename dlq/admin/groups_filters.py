"""What the list of failure groups can be narrowed by."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from dlq.admin import choices
from dlq.admin.fields_filter import FieldsFilter, FiltersForm
from dlq.admin.group_figures import with_growth
from executions.admin.filters import AGES, TabFilter

OWNERS = [("", "anybody"), ("me", "me"), ("nobody", "nobody")]
GROWTH = [("", "either way"), ("up", "more than the day before"), ("down", "fewer")]


class StatusFilter(TabFilter):
    """Groups by status; those somebody should look at unless asked otherwise."""

    title = "status"
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


class GroupFilters(FiltersForm):
    """The fields above the list of groups."""

    workflow = forms.UUIDField(widget=forms.Select)
    module = forms.CharField(max_length=100)
    exception = forms.CharField(max_length=200)
    owner = forms.ChoiceField(choices=OWNERS)
    since = forms.ChoiceField(
        choices=[("", "any time"), *((key, title) for key, (title, _) in AGES.items())],
        label="Last seen",
    )
    growth = forms.ChoiceField(choices=GROWTH, label="Last 24 hours")

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self.offer("workflow", choices.workflows(request))
        self.suggestions = choices.suggestions(request)

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The groups that pass."""
        given = self.filled()
        same = {"workflow": "workflow_id", "module": "module", "exception": "exception"}
        rows = rows.filter(**{path: given[name] for name, path in same.items() if name in given})
        if owner := given.get("owner"):
            rows = rows.filter(owner_id=self.request.user.pk if owner == "me" else None)
        if since := given.get("since"):
            rows = rows.filter(last_seen__gte=timezone.now() - AGES[since][1])
        if growth := given.get("growth"):
            side = "growth__gt" if growth == "up" else "growth__lt"
            rows = with_growth(rows).filter(**{side: 0})
        return rows


class GroupFieldsFilter(FieldsFilter):
    """Everything else that the list of groups can be narrowed by."""

    form_class = GroupFilters
