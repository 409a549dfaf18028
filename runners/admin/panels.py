"""Panels on an execution's page: the steps, why they are not running, and the family."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import CharField, QuerySet, Value
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from executions.admin import execution as execution_admin
from executions.admin import links, marks
from executions.admin.sections import Cell, PageSection
from executions.configuration import settings as valkyr_settings
from executions.explain.reason import Reason
from executions.language import lazy
from executions.models import WorkflowExecution
from executions.states import FINAL, ExecutionState
from runners.admin.run import duration_of, error_of, state_of, wait_of, waited_of
from runners.admin.steps import (
    RUNS,
    OpenTurn,
    ShownStep,
    Steps,
    place_link,
    runs_in,
    said,
    steps_of,
)
from runners.explain.explanation import Explained, explain
from runners.models import Run
from runners.states import RunState

TITLE = lazy("Steps")
HEADERS = (
    lazy("Step"),
    lazy("Attempt"),
    lazy("State"),
    lazy("Details"),
    lazy("Worker"),
    lazy("Queued"),
    lazy("Duration"),
)
# Maximum number of completed iterations that are shown; further ones are folded.
FEW = 6
NOUNS = {"loop": lazy("Iterations"), "map": lazy("Items")}
SHOW = {"loop": lazy("Show iterations"), "map": lazy("Show items")}
# For each kind of iteration: the run state that gives its mark the colours, and the mark's text.
KINDS = {
    "dead": ("DLQ", lazy("dead")),
    "failed": ("FAILED", lazy("failed")),
    "running": ("RUNNING", lazy("running")),
    "waiting": ("WAITING", lazy("waiting")),
    "cancelled": ("CANCELLED", lazy("cancelled")),
    "done": ("SUCCESS", lazy("done")),
}


@dataclass(frozen=True, slots=True)
class TurnLine:
    """The template data of one iteration of a loop, or of one item of a map."""

    name: Cell
    mark: Cell
    about: Cell
    lines: list["PanelLine"]
    link: Cell


@dataclass(frozen=True, slots=True)
class PanelLine:
    """The template data of one run and, for a container, of its iterations."""

    cells: list[Cell]
    title: str = ""
    turns: Sequence[TurnLine] = ()
    done: Sequence[TurnLine] = ()
    open: bool = False
    more: Cell = ""


def steps(request: HttpRequest, execution: WorkflowExecution) -> PageSection:
    """Return a section with the runs of the place in `?place=`, or with an error message."""
    place = request.GET.get("place", "")
    found = steps_of(execution, place)
    if found is None:
        text = format_html(
            gettext("“{}” is not a valid path to steps of this workflow. {}"),
            marks.clipped(place),
            place_link(execution.pk, "", gettext("Show all steps")),
        )
        return PageSection(TITLE, body=text)
    context = {
        "headers": HEADERS,
        "trail": _trail(execution.pk, place),
        "lines": [_line(execution.pk, shown) for shown in found.shown],
        "empty": gettext("No step has started here.")
        if place
        else gettext("No steps are planned yet."),
    }
    body = SafeString(render_to_string("runners/steps.html", context))
    return PageSection(TITLE, body=body, more=_more(execution, found))


def _trail(execution_id: UUID, place: str) -> list[Cell]:
    """Return links to the enclosing places, and this place's name; [] for the whole workflow."""
    if not place:
        return []
    trail: list[Cell] = [place_link(execution_id, "", gettext("Workflow"))]
    around = ""
    *outer, last = place.rstrip(".").split(".")
    for part in outer:
        around += f"{part}."
        trail.append(place_link(execution_id, around, part))
    return [*trail, last]


def _more(execution: WorkflowExecution, found: Steps) -> SafeString:
    parts: list[Cell] = []
    if found.more:
        parts.append(gettext("The first {number} are shown.").format(number=RUNS))
    if execution.epoch:
        parts.append(gettext("Rolled-back steps appear only in the list."))
    parts.append(links.link(runs_in(execution.pk, found.place), gettext("List all runs")))
    if flower := valkyr_settings().flower_url:
        parts.append(links.link(flower, gettext("Open in Flower")))
    return format_html_join(" · ", "{}", ((part,) for part in parts))


def _line(execution_id: UUID, shown: ShownStep, within: str = "") -> PanelLine:
    run = shown.run
    cells = [
        links.to("runners_run", run.pk, marks.path(run.step_path)),
        str(run.attempt),
        state_of(run),
        _details(execution_id, shown, within),
        marks.worker(run.leased_by),
        marks.ago(run.queued_at),
        duration_of(run),
    ]
    turns = shown.turns
    if not shown.open or turns is None:
        return PanelLine(cells)
    noun = NOUNS[shown.kind]
    done = [turn for turn in shown.open if turn.turn.kind == "done"]
    if len(done) in (len(shown.open), *range(FEW)):
        done = []
    shown_of = ""
    if len(shown.open) < turns.total:
        shown_of = gettext(
            ", of which {count:,} are shown, starting with those that need attention"
        ).format(count=len(shown.open))
    stem = shown.open[0].name.rpartition("[")[0] + "["
    return PanelLine(
        cells,
        title=f"{noun}: {turns.total:,}{shown_of}",
        turns=[_turn(execution_id, turn) for turn in shown.open if turn not in done],
        done=[_turn(execution_id, turn) for turn in done],
        open=run.state != RunState.SUCCESS or bool(turns.dead or turns.failed),
        more=links.link(
            runs_in(execution_id, stem), gettext("List all runs in {stem}…]").format(stem=stem)
        ),
    )


def _turn(execution_id: UUID, opened: OpenTurn) -> TurnLine:
    turn = opened.turn
    state, word = KINDS[turn.kind]
    runs = ngettext("{number:,} run", "{number:,} runs", turn.runs).format(number=turn.runs)
    parts: list[Any] = [
        runs
        if turn.done == turn.runs
        else gettext("{done:,} of {runs} succeeded").format(done=turn.done, runs=runs)
    ]
    parts.append(format_html(gettext("started {}"), marks.ago(turn.began)))
    if turn.kind == "done" and turn.ended is not None:
        parts.append(
            gettext("took {between}").format(between=marks.between(turn.began, turn.ended))
        )
    wrong = [shown.run for shown in opened.runs if shown.run.error]
    if turn.kind in ("dead", "failed") and wrong:
        parts.append(error_of(wrong[-1]))
    return TurnLine(
        name=format_html('<span class="vk-mono">{}</span>', marks.path(opened.name)),
        mark=marks.state(state, word),
        about=format_html_join(", ", "{}", ((part,) for part in parts)),
        lines=[_line(execution_id, shown, opened.place) for shown in opened.runs],
        link=place_link(
            execution_id, opened.place, gettext("Show only {name}").format(name=opened.name)
        ),
    )


def _details(execution_id: UUID, shown: ShownStep, within: str) -> Cell:
    """Return a run's progress, wait, child, cached result and error; a dash if there are none."""
    run, child = shown.run, shown.child
    parts: list[Any] = []
    if shown.kind:
        parts.append(said(run, shown.turns, shown.kind))
        if within:
            parts.append(place_link(execution_id, within, SHOW[shown.kind]))
    parts += [wait_of(run), waited_of(run, shown.wake)]
    if child is not None:
        name = f"{marks.clipped(child.workflow, 40)} …{str(child.id)[-8:]}"
        where = links.to("executions_workflowexecution", child.id, name)
        parts.append(format_html(gettext("child {} {}"), where, marks.state(child.state)))
    if run.cached_from is not None:
        parts.append(links.to("runners_run", run.cached_from, gettext("a cached result")))
    if run.error:
        parts.append(error_of(run))
    told = [part for part in parts if part]
    return format_html_join(" · ", "{}", ((part,) for part in told)) if told else marks.EMPTY


execution_admin.panels.append(steps)


# The panel of the execution's page that explains why an execution is not running.


REASONS_TITLE = lazy("Why is it not running?")
REASONS_SHOWN = 50
REASONS_HEADERS = (lazy("Step"), lazy("State"), lazy("Reason"), lazy("Since"), lazy("Until"))


def explanation(request: HttpRequest, execution: WorkflowExecution) -> PageSection | None:
    """Return a panel with the reasons for the states of the execution and its unfinished steps.

    Return None if the execution has ended and has not failed.
    """
    if execution.state in FINAL and execution.state != ExecutionState.FAILED:
        return None
    found = explain(execution)
    own = [gettext("the execution"), marks.state(found.state), *_why(found.reason)]
    cut = found.more or len(found.steps) > REASONS_SHOWN
    return PageSection(
        REASONS_TITLE,
        headers=REASONS_HEADERS,
        rows=[own, *(_reason_row(step) for step in found.steps[:REASONS_SHOWN])],
        folded=True,
        more=gettext("Only the first {REASONS_SHOWN} steps are shown.").format(
            REASONS_SHOWN=REASONS_SHOWN
        )
        if cut
        else "",
    )


def _reason_row(step: Explained) -> list[str]:
    path = marks.path(step.path)
    return [
        links.to("runners_run", step.run_id, path) if step.run_id else path,
        marks.state(step.state)
        if step.state
        else marks.mark(gettext("not started"), "pending", "grey"),
        *_why(step.reason),
    ]


def _why(reason: Reason) -> list[str]:
    child = reason.details.get("executionId")
    message = reason.message
    if child:
        link = links.to("executions_workflowexecution", child, gettext("Open execution"))
        message = format_html("{} {}", message, link)
    return [message, marks.ago(reason.since), marks.ago(reason.until)]


execution_admin.panels.append(explanation)


# The panel of related executions on an execution's page: those it came from, and those that came
# from it.


FAMILY_SHOWN = 20
FAMILY_HEADERS = (
    lazy("Relation"),
    lazy("Execution"),
    lazy("Workflow"),
    lazy("State"),
    lazy("Created"),
    lazy("Started by step"),
)
ABOVE = {
    "parent_id": lazy("its parent execution"),
    "failure_of_id": lazy("the execution whose failure started it"),
    "origin_id": lazy("the original execution"),
}
BELOW = {
    "parent": lazy("a child execution"),
    "failure_of": lazy("its error execution"),
    "origin": "",  # a fork or a replay, as the row says
}
COLUMNS = (
    "pk", "relation", "workflow__name", "state", "created_at", "parent_run_id", "origin_point",
)  # fmt: skip


def family(request: HttpRequest, execution: WorkflowExecution) -> PageSection | None:
    """Return a section with the related executions; None if there are none.

    Shows each kind in `ABOVE`, and the newest 20 of each kind in `BELOW`. Uses one or two queries.
    """
    one, *others = _relatives(execution)
    found = list(one.union(*others, all=True))
    if not found:
        return None
    callers = [pk for pk in (execution.parent_run_id, *(row[5] for row in found)) if pk]
    paths = dict(Run.objects.filter(pk__in=callers).values_list("pk", "step_path"))
    order = [*ABOVE, *BELOW]
    found.sort(key=lambda row: order.index(row[1]))
    full = {name for name in BELOW if sum(row[1] == name for row in found) >= FAMILY_SHOWN}
    children = links.listing("executions_workflowexecution", q=str(execution.pk))
    return PageSection(
        gettext("Related executions"),
        headers=FAMILY_HEADERS,
        rows=[_family_row(execution, row, paths) for row in found],
        more=format_html(
            gettext("Shows the newest {} of each kind. {}"),
            FAMILY_SHOWN,
            links.link(children, gettext("List all child executions")),
        )
        if full
        else "",
    )


def _relatives(execution: WorkflowExecution) -> Iterator[QuerySet[WorkflowExecution, tuple]]:  # type: ignore[type-arg]
    rows = WorkflowExecution.objects.order_by("-pk")
    for name in ABOVE:
        yield _labelled(rows.filter(pk=getattr(execution, name)), name)[:1]
    for name in BELOW:
        yield _labelled(rows.filter(**{name: execution}), name)[:FAMILY_SHOWN]


def _labelled(rows: QuerySet[WorkflowExecution], name: str) -> QuerySet[WorkflowExecution, tuple]:  # type: ignore[type-arg]
    labelled = rows.annotate(relation=Value(name, output_field=CharField()))
    return labelled.values_list(*COLUMNS)


def _family_row(execution: WorkflowExecution, row: tuple, paths: dict[UUID, str]) -> list[Cell]:  # type: ignore[type-arg]
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
        return gettext("a fork, {point}").format(point=point) if point else gettext("a replay")
    if relation == "origin_id":
        return f"{ABOVE[relation]}, {execution.origin_point or gettext('the same input again')}"
    return (ABOVE | BELOW)[relation]


execution_admin.panels.append(family)
