"""Labels in the lists of executions: a filter with a chip, search words, and links."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import SimpleListFilter
from django.core.paginator import Page
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from executions.addresses import admin as admin_page
from executions.admin.changelist import PAGED, BoundedPaginator
from executions.admin.filters import id_bounds
from executions.admin.scope import scoped
from executions.labels import finding
from executions.labels.naming import in_search
from executions.language import lazy
from executions.models import Workflow, WorkflowExecution

PARAMETER = "label"
# The attribute of a request that holds the executions found by its labels, newest first.
FOUND = "labelled_executions"


class LabelFilter(SimpleListFilter):
    """Filter executions by labels, which links pass as `name:value`.

    `chip` is as in `EndedFilter`.
    """

    title = lazy("label")
    parameter_name = PARAMETER
    chip: tuple[str, str] | None = None

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """Return the URL's labels as the only choice; no choice if they are missing or invalid."""
        given = request.GET.get(PARAMETER, "")
        if not in_search(given)[0]:
            return []
        kept = {name: request.GET[name] for name in request.GET if name != PARAMETER}
        self.chip = (given, f"?{urlencode(kept)}")
        return [(given, given)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows unchanged: the search applies the labels, after all other filters."""
        return queryset


def listed(
    request: HttpRequest,
    rows: QuerySet[WorkflowExecution],
    searched: Mapping[str, str],
    states: tuple[str, ...],
    *,
    narrowed: bool,
) -> QuerySet[WorkflowExecution]:
    """Return a list's newest rows that have the labels of both the search and the filter.

    Without labels, returns all rows. The index of labels also selects by `states` and by the URL's
    workflow. `narrowed` says that other filters apply too: they are checked for each execution
    found, in bounded time.
    """
    filtered, _ = in_search(request.GET.get(PARAMETER, ""))
    labels = {**filtered, **searched}
    if not labels:
        return rows
    if any(labels[name] != value for name, value in filtered.items()):
        return rows.none()
    workflows = scoped(request, Workflow.objects.all())
    if (workflow := _uuid(request.GET.get("workflow", ""))) is not None:
        workflows = workflows.filter(pk=workflow)
    above, below = id_bounds(request)
    query = finding.LabelQuery(labels, workflows, states, above=above, below=below)
    found = finding.newest(rows if narrowed else None, query, PAGED)
    if found.reached is not None and len(found.ids) < PAGED:
        messages.warning(
            request,
            gettext(
                "The search took too long, so older executions are not shown. Choose a workflow, a "
                "state or an age too."
            ),
        )
    setattr(request, FOUND, found.ids)
    return rows.filter(pk__in=finding.among(found.ids))


class LabelledPaginator(BoundedPaginator):
    """Pages of executions that were found by their labels; a page reads only its own rows."""

    ids: Sequence[UUID] = ()

    @cached_property
    def count(self) -> int:
        """Return the number of executions, at most `PAGED`."""
        return len(self.ids)

    def page(self, number: int | str) -> Page[Any]:
        """Return the page with this number."""
        number = self.validate_number(number)
        first = (number - 1) * self.per_page
        rows: Any = self.object_list
        shown = rows.filter(pk__in=finding.among(self.ids[first : first + self.per_page]))
        return Page(shown, number, self)


def paginator(request: HttpRequest, usual: BoundedPaginator) -> BoundedPaginator:
    """Return the paginator of a list: `usual`, or a paginator of executions that `listed` found."""
    ids: Sequence[UUID] | None = getattr(request, FOUND, None)
    if ids is None:
        return usual
    made = LabelledPaginator(usual.object_list, usual.per_page)
    made.ids = ids
    return made


def newest(
    request: HttpRequest, rows: QuerySet[WorkflowExecution], labels: Mapping[str, str], many: int
) -> QuerySet[WorkflowExecution]:
    """Return the newest `many` of the executions that have the labels and that the user may see."""
    query = finding.LabelQuery(labels, scoped(request, Workflow.objects.all()))
    return rows.filter(pk__in=finding.among(finding.newest(None, query, many).ids))


def shown(labels: Mapping[str, str] | None) -> SafeString | str:
    """Return the labels as links to lists of the executions that have them; "" for no labels."""
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
