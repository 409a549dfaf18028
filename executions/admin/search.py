"""Search the admin for objects by ID, key or label, workflows by name, and lists by title.

The command palette (`executions/static/executions/palette.js`) calls `search`. Each finder returns
only a few of the rows that the user may see; searches of large tables use an index.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib import admin
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext

from executions.addresses import admin as admin_page
from executions.admin import labels, links, marks
from executions.database.routing import is_ours
from executions.labels.naming import in_search
from executions.models import Workflow, WorkflowExecution

# Maximum number of results of one kind, and of characters in a search.
EACH = 5
LONGEST = 200
# Maximum number of workflows in whose executions an idempotency key is searched.
KEYED = 1_000


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A result: its title, its kind in words, an icon, and its page's URL."""

    title: str
    kind: str
    icon: str
    address: str


Finder = Callable[[HttpRequest, str], Iterable[SearchResult]]
FINDERS: list[Finder] = []


def visible(request: HttpRequest, model: type[Model]) -> QuerySet[Any]:
    """Return the rows that the user may see in the admin; none if the model is not registered."""
    if not admin.site.is_registered(model):
        return model._default_manager.none()
    page: Any = admin.site.get_model_admin(model)
    if not page.has_view_permission(request):
        return model._default_manager.none()
    rows: QuerySet[Any] = page.get_queryset(request)
    return rows.defer(*page.list_defer)


def as_id(term: str) -> UUID | None:
    """Return the term, with or without dashes, as a UUID; None if it is not a UUID."""
    try:
        return UUID(term)
    except ValueError:
        return None


def by_id(model: type[Model], kind: Any, icon: str, *more: str) -> Finder:
    """Return a finder that searches rows by ID and by the UUID columns in `more`."""
    label = f"{model._meta.app_label}_{model._meta.model_name}"

    def find(request: HttpRequest, term: str) -> Iterator[SearchResult]:
        wanted = as_id(term)
        if wanted is None:
            return
        for column in ("pk", *more):
            for row in visible(request, model).filter(**{column: wanted}).order_by("-pk")[:EACH]:
                yield SearchResult(str(row), str(kind), icon, links.page(label, row.pk))

    return find


def _executions(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    rows = visible(request, WorkflowExecution).select_related("workflow")
    rows = rows.only("id", "idempotency_key", "state", "workflow__name").order_by("-pk")
    ids = visible(request, Workflow).order_by("-pk").values_list("pk", flat=True)[:KEYED]
    matches = [rows.filter(workflow__in=list(ids), idempotency_key=term)]
    wanted = as_id(term)
    if wanted is not None:
        matches = [rows.filter(pk=wanted), rows.filter(trace_id=wanted.hex), *matches]
    for found in matches:
        for row in found[:EACH]:
            about = marks.clipped(row.idempotency_key or f"…{str(row.pk)[-8:]}", 40)
            address = links.page("executions_workflowexecution", row.pk)
            kind = f"{gettext('execution')}, {marks.MARKS[row.state][0]}"
            yield SearchResult(f"{row.workflow} · {about}", kind, "play_circle", address)


def _labelled(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    """Yield the newest executions with the labels of the term, such as `order:4711`."""
    found, rest = in_search(term)
    if not found or rest:
        return
    rows = visible(request, WorkflowExecution).select_related("workflow")
    rows = rows.only("id", "state", "workflow__name")
    for row in labels.newest(request, rows, found, EACH).order_by("-pk"):
        about = marks.clipped(", ".join(f"{name}:{value}" for name, value in found.items()), 40)
        address = links.page("executions_workflowexecution", row.pk)
        kind = f"{gettext('execution')}, {marks.MARKS[row.state][0]}"
        yield SearchResult(f"{row.workflow} · {about}", kind, "label", address)


def _workflows(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    rows = visible(request, Workflow).order_by("name")
    wanted = as_id(term)
    named = Q(name__icontains=term) | Q(slug__icontains=term)
    for row in rows.filter(Q(pk=wanted) if wanted else named)[:EACH]:
        address = links.page("executions_workflow", row.pk)
        yield SearchResult(str(row), gettext("workflow"), "account_tree", address)


def _places(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    """Yield the lists and the home page whose titles contain the term; all for an empty term."""
    words = term.casefold()
    home = SearchResult(gettext("Home"), gettext("page"), "home", admin_page("index"))
    lists = (
        SearchResult(
            _title(model), gettext("list"), "list",
            admin_page(f"{model._meta.app_label}_{model._meta.model_name}_changelist"),
        )
        for model in apps.get_models()
        if is_ours(model) and admin.site.is_registered(model)
        and admin.site.get_model_admin(model).has_view_permission(request)
    )  # fmt: skip
    yield from (place for place in (home, *lists) if words in place.title.casefold())


def _title(model: type[Model]) -> str:
    text = str(model._meta.verbose_name_plural)
    return text[:1].upper() + text[1:]


FINDERS += [_executions, _labelled, _workflows]


def search(request: HttpRequest) -> JsonResponse:
    """Respond to `?q=` with `{"results": [{"title", "kind", "icon", "address"}]}`."""
    term = request.GET.get("q", "").replace("\x00", "").strip()[:LONGEST]
    finders = [*FINDERS, _places] if term else [_places]
    found = {each.address: each for find in finders for each in find(request, term)}
    return JsonResponse({"results": [asdict(each) for each in found.values()]})
