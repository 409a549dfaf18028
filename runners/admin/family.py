"""The executions that an execution came from, and those that came from it, on its page."""

from collections.abc import Iterator
from uuid import UUID

from django.db.models import CharField, QuerySet, Value
from django.http import HttpRequest
from django.utils.html import format_html

from executions.admin import execution as execution_admin
from executions.admin import links, marks
from executions.admin.sections import Cell, PageSection
from executions.models import WorkflowExecution
from runners.models import Run

SHOWN = 20
HEADERS = ("This is", "Execution", "Workflow", "State", "Created", "By step")
ABOVE = {
    "parent_id": "its parent execution",
    "failure_of_id": "the execution whose failure it was started for",
    "origin_id": "the execution it comes from",
}
BELOW = {
    "parent": "a child execution",
    "failure_of": "its error workflow",
    "origin": "",  # a fork or a replay, as the row says
}
COLUMNS = (
    "pk", "relation", "workflow__name", "state", "created_at", "parent_run_id", "origin_point",
)  # fmt: skip


def family(request: HttpRequest, execution: WorkflowExecution) -> PageSection | None:
    """A row an execution: those it came from, then the newest that came from it; two queries."""
    one, *others = _relatives(execution)
    found = list(one.union(*others, all=True))
    if not found:
        return None
    callers = [pk for pk in (execution.parent_run_id, *(row[5] for row in found)) if pk]
    paths = dict(Run.objects.filter(pk__in=callers).values_list("pk", "step_path"))
    order = [*ABOVE, *BELOW]
    found.sort(key=lambda row: order.index(row[1]))
    full = {name for name in BELOW if sum(row[1] == name for row in found) >= SHOWN}
    children = links.listing("executions_workflowexecution", q=str(execution.pk))
    return PageSection(
        "Related executions",
        headers=HEADERS,
        rows=[_row(execution, row, paths) for row in found],
        more=format_html(
            "The newest {} of a kind are shown. {}",
            SHOWN,
            links.link(children, "All its children as a list"),
        )
        if full
        else "",
    )


def _relatives(execution: WorkflowExecution) -> Iterator[QuerySet[WorkflowExecution, tuple]]:  # type: ignore[type-arg]
    rows = WorkflowExecution.objects.order_by("-pk")
    for name in ABOVE:
        yield _labelled(rows.filter(pk=getattr(execution, name)), name)[:1]
    for name in BELOW:
        yield _labelled(rows.filter(**{name: execution}), name)[:SHOWN]


def _labelled(rows: QuerySet[WorkflowExecution], name: str) -> QuerySet[WorkflowExecution, tuple]:  # type: ignore[type-arg]
    labelled = rows.annotate(relation=Value(name, output_field=CharField()))
    return labelled.values_list(*COLUMNS)


def _row(execution: WorkflowExecution, row: tuple, paths: dict[UUID, str]) -> list[Cell]:  # type: ignore[type-arg]
    pk, relation, workflow, state, created_at, run_id, point = row
    if relation == "parent_id":
        run_id = execution.parent_run_id
    elif relation != "parent":
        run_id = None
    return [
        _word(execution, relation, point),
        links.to("executions_workflowexecution", pk, marks.short(pk)),
        marks.clipped(workflow, 60),
        marks.state(state),
        marks.ago(created_at),
        links.to("runners_run", run_id, marks.path(paths[run_id])) if run_id in paths else "",
    ]


def _word(execution: WorkflowExecution, relation: str, point: str) -> str:
    if relation == "origin":
        return f"a fork of it, {point}" if point else "a replay of it"
    if relation == "origin_id":
        return f"{ABOVE[relation]}, {execution.origin_point or 'the same input again'}"
    return (ABOVE | BELOW)[relation]


execution_admin.panels.append(family)
