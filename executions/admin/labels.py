"""Labels in the lists of executions: a filter with a chip, words of the search, links."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from executions.addresses import admin as admin_page
from executions.admin.changelist import PAGED
from executions.admin.scope import scoped
from executions.labels import finding
from executions.labels.naming import in_search
from executions.language import lazy
from executions.models import Workflow, WorkflowExecution

PARAMETER = "label"


class LabelFilter(SimpleListFilter):
    """Executions with labels, which links give as `name:value`. `chip` is as in `EndedFilter`."""

    title = lazy("label")
    parameter_name = PARAMETER
    chip: tuple[str, str] | None = None
    states: tuple[str, ...] = ()

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the given labels, the only choice; none without a valid one."""
        tabs = model_admin.list_filter[0]
        self.states = tabs.groups.get(request.GET.get(tabs.parameter_name, ""), ())
        given = request.GET.get(PARAMETER, "")
        if not in_search(given)[0]:
            return []
        kept = {name: request.GET[name] for name in request.GET if name != PARAMETER}
        self.chip = (given, f"?{urlencode(kept)}")
        return [(given, given)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the newest rows with these labels."""
        labels, _ = in_search(self.value() or "")
        return labelled(request, queryset, labels, states=self.states) if labels else queryset


def labelled(
    request: HttpRequest,
    rows: QuerySet[WorkflowExecution],
    labels: Mapping[str, str],
    *,
    states: tuple[str, ...] = (),
    many: int = PAGED,
) -> QuerySet[WorkflowExecution]:
    """Return the newest of the rows with the labels, as many as a list shows.

    `states` and the workflow of the list's URL are looked up in the index of labels.
    """
    workflows = scoped(request, Workflow.objects.all())
    if (workflow := _uuid(request.GET.get("workflow", ""))) is not None:
        workflows = workflows.filter(pk=workflow)
    found = finding.newest(None, finding.LabelQuery(labels, workflows, states), many)
    return rows.filter(pk__in=finding.among(found.ids))


def shown(labels: Mapping[str, str] | None) -> SafeString | str:
    """Return the labels as links to the list of executions with each."""
    if not labels:
        return ""
    address = admin_page("executions_workflowexecution_changelist")
    return format_html_join(
        " ",
        '<a class="vk-chip" href="{}">{}</a>',
        (
            (f"{address}?{urlencode({PARAMETER: _quoted(*one)})}", ":".join(one))
            for one in labels.items()
        ),
    )


def _quoted(name: str, value: str) -> str:
    return f'{name}:"{value}"' if " " in value else f"{name}:{value}"


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
