"""The filters of the list of dead letters.

Most of them are converted to the syntax of `dlq.browse.filters`.
"""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from dlq.admin import filter_form
from dlq.admin.filter_form import YES_NO, Chip, FieldsFilter, FiltersForm
from dlq.browse import bounded_list, path_conditions
from dlq.browse.filters import chosen
from dlq.browse.path_conditions import BadCondition, Condition
from dlq.models import FailureGroup, FailureType
from executions.admin.changelist import PAGED
from executions.admin.filters import AGES, TabFilter
from executions.admin.marks import clipped
from executions.admin.scope import holds, scoped
from executions.database.clock import first_id_at
from executions.errors import SearchSealed
from executions.labels.naming import EXAMPLE, in_search
from executions.language import lazy
from executions.models import Workspace
from executions.states import Permission

LARGEST = 2**31 - 1
MANY = 50


class ResolutionFilter(TabFilter):
    """Filters dead letters by resolution; by default, shows the open ones."""

    title = lazy("state")
    parameter_name = field = "resolution"
    default = "open"
    groups = {
        "open": ("PENDING",),
        "requeued": ("REQUEUED",),
        "fixed": ("FIXED",),
        "skipped": ("SKIPPED",),
        "discarded": ("DISCARDED",),
    }


def resolution_counts(rows: QuerySet[Any]) -> dict[str, int | str]:
    """Return the number of rows in each tab, up to a limit; omit tabs that are not counted in time.

    The condition on the workspace lets PostgreSQL use the index `dlq_list` for users who may see
    every workspace, instead of reading all dead letters for a rare resolution.
    """
    rows = rows.filter(workspace__in=Workspace.objects.order_by().values("pk"))
    tabs = {
        word: rows.filter(resolution__in=values) for word, values in ResolutionFilter.groups.items()
    }
    counted = bounded_list.counts(tabs | {"all": rows}, PAGED)
    return {word: number if number < PAGED else f"{PAGED:,}+" for word, number in counted.items()}


class ConditionsField(forms.Field):
    """A field that parses the URL's `inputs=…` parameters as conditions."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> list[Condition]:
        """Return the conditions. Raises ValidationError if one is invalid or there are too many."""
        texts = [text for text in value or [] if text]
        if len(texts) > path_conditions.MAX_CONDITIONS:
            raise ValidationError(
                gettext("Enter at most {number} conditions on inputs.").format(
                    number=path_conditions.MAX_CONDITIONS
                )
            )
        try:
            return [path_conditions.from_text(text) for text in texts]
        except BadCondition as error:
            raise ValidationError(str(error)) from None


class LabelWordsField(forms.CharField):
    """A field for labels, written as `order:4711 country:DE`."""

    def clean(self, value: Any) -> dict[str, str] | None:
        """Return the values of the labels, keyed by name, or None if the field is empty.

        Raises ValidationError for text that is not a label.
        """
        found, rest = in_search(value or "")
        if rest:
            raise ValidationError(
                gettext("{text!r} is not a label; expected name:value, such as {example}.").format(
                    text=clipped(rest, 60), example=EXAMPLE
                )
            )
        return found or None


class GroupsField(forms.CharField):
    """A field for the IDs of groups, separated by commas."""

    def clean(self, value: Any) -> list[UUID]:
        """Return the IDs. Raises ValidationError for an invalid ID or more than `MANY` IDs."""
        try:
            found = [UUID(text) for text in (value or "").split(",") if text]
        except ValueError:
            raise ValidationError(
                gettext("Enter IDs of failure groups, separated by commas.")
            ) from None
        if len(found) > MANY:
            raise ValidationError(gettext("Select at most {number} groups.").format(number=MANY))
        return found


class EntryFilters(FiltersForm):
    """The form with the filters above the list of dead letters."""

    # Fields of the form → fields of the grammar.
    grammar = {
        "workflow": "workflowId", "execution": "executionId",
        "module": "module", "step": "stepPath", "exception": "exception", "kind": "failureType",
        "status": "httpStatus", "target": "target", "worker": "worker", "version": "version",
        "attempts": "attemptsFrom", "text": "text", "after": "quarantinedAfter",
        "before": "quarantinedBefore", "label": "label",
    }  # fmt: skip
    flags = ("redriven", "seen", "pinned")

    workflow = forms.UUIDField(widget=forms.Select, label=lazy("Workflow"))
    step = forms.CharField(max_length=1_000, label=lazy("Step path"))
    module = forms.CharField(max_length=100, label=lazy("Module"))
    exception = forms.CharField(max_length=200, label=lazy("Exception"))
    label = LabelWordsField(label=lazy("Label"))
    text = forms.CharField(max_length=300, label=lazy("Error contains"))
    kind = forms.ChoiceField(
        choices=[("", lazy("any")), *FailureType.choices], label=lazy("Reason")
    )
    status = forms.IntegerField(min_value=100, max_value=999, label=lazy("HTTP status"))
    target = forms.CharField(max_length=300, label=lazy("Target (host)"))
    worker = forms.CharField(max_length=200, label=lazy("Worker"))
    version = forms.IntegerField(min_value=0, max_value=LARGEST, label=lazy("Version"))
    attempts = forms.IntegerField(min_value=0, max_value=LARGEST, label=lazy("Minimum attempts"))
    redriven = forms.ChoiceField(choices=YES_NO, label=lazy("Requeued before"))
    seen = forms.ChoiceField(choices=YES_NO, label=lazy("Viewed"))
    pinned = forms.ChoiceField(choices=YES_NO, label=lazy("Pinned"))
    since = forms.ChoiceField(
        choices=[("", lazy("any")), *((key, title) for key, (title, _) in AGES.items())],
        label=lazy("Age"),
    )
    after = forms.DateTimeField(
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}), label=lazy("After")
    )
    before = forms.DateTimeField(
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}), label=lazy("Before")
    )
    group = GroupsField(widget=forms.HiddenInput)
    execution = forms.UUIDField(widget=forms.HiddenInput)
    inputs = ConditionsField()

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self.offer("workflow", filter_form.workflows(request))
        self.suggestions = filter_form.suggestions(request)
        self.sees_payloads = holds(request, Permission.VIEW_PAYLOADS)
        for name, hint in (("after", gettext("After (UTC)")), ("before", gettext("Before (UTC)"))):
            self.fields[name].label = hint

    def wanted(self) -> dict[str, Any]:
        """Return the filters in the syntax of `dlq.browse.filters`."""
        given = self.filled()
        found = {word: given[name] for name, word in self.grammar.items() if name in given}
        found |= {name: given[name] == "yes" for name in self.flags if name in given}
        if conditions := given.get("inputs"):
            found["inputs"] = [
                {"path": one.path, "op": one.op, "value": one.value} for one in conditions
            ]
        return found

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Return the matching rows. Raises ValidationError for a search of sealed payloads.

        Conditions on inputs match only rows whose payloads the user may see.
        """
        given = self.filled()
        if since := given.get("since"):
            rows = rows.filter(pk__gte=first_id_at(timezone.now() - AGES[since][1]))
        if groups := given.get("group"):
            same = {"group_id": groups[0]} if len(groups) == 1 else {"group_id__in": groups}
            rows = rows.filter(**same)
        if "inputs" in given:
            rows = scoped(self.request, rows, Permission.VIEW_PAYLOADS)
        try:
            return chosen(rows, self.wanted())
        except SearchSealed as error:
            raise ValidationError(error.message) from None

    def chips(self, changelist: Any) -> Iterator[Chip]:
        """Yield a chip for each filled visible field, each condition on inputs, and the groups."""
        yield from super().chips(changelist)
        yield from self._groups(changelist)
        texts = self.data.getlist("inputs")  # type: ignore[attr-defined]
        for at, text in enumerate(texts):
            rest = texts[:at] + texts[at + 1 :]
            try:
                said = path_conditions.from_text(text).said
            except BadCondition:
                said = text
            yield Chip(
                gettext("inputs: {said}").format(said=said),
                changelist.get_query_string({"inputs": rest or None}),
            )

    def _groups(self, changelist: Any) -> Iterator[Chip]:
        """Yield a chip that names the selected failure groups, if any are selected."""
        if ids := self.cleaned_data.get("group") if self.is_valid() else None:
            rows = scoped(self.request, FailureGroup.objects.filter(pk__in=ids))
            found = [str(row) for row in rows.only("place", "exception", "message")[:3]]
            more = gettext(" and {count} more").format(count=len(ids) - 3) if len(ids) > 3 else ""
            names = " | ".join(clipped(name, 60) for name in found) or gettext("unknown")
            yield Chip(
                gettext("group: {names}{more}").format(names=names, more=more),
                changelist.get_query_string({"group": None}),
            )


class EntryFieldsFilter(FieldsFilter):
    """All filters of the list of dead letters except the tabs, as fields of one form."""

    form_class = EntryFilters


class InputsForm(forms.Form):
    """A form that adds a condition on the inputs to the URL, as another `inputs=…` parameter."""

    input_path = forms.CharField(
        max_length=path_conditions.MAX_PATH,
        label=lazy("Path in the inputs"),
        help_text=lazy(
            "order.country, or lines[].sku, which matches if any object of the array has the value."
        ),
    )
    input_op = forms.ChoiceField(
        choices=list(path_conditions.OPERATORS.items()), label=lazy("Comparison")
    )
    input_value = forms.CharField(
        max_length=path_conditions.MAX_VALUE,
        required=False,
        label=lazy("Value"),
        help_text=lazy("JSON or plain text."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs["class"] = "vk-input"

    def clean(self) -> dict[str, Any]:
        """Return the cleaned data, with the parsed `condition` if the form is valid."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                given["condition"] = path_conditions.from_form(
                    given["input_path"], given["input_op"], given["input_value"]
                )
            except BadCondition as error:
                self.add_error("input_path", str(error))
        return given
