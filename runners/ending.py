"""Is the execution finished? Plan it whole from its rows; start what is ready, or end it.

The caller holds the execution's lock.
"""

from collections.abc import Iterable
from typing import Any

from executions import lifecycle, payloads
from executions.errors import PayloadError
from executions.graph.model import Graph
from executions.graph.plan import Plan, StepFact, StepStatus, plan, task_outcomes
from executions.states import ExecutionState
from executions.templates import TemplateError
from runners import dispatch, rows, statements
from runners.conf import config
from runners.journey import Journey
from runners.models import Run
from runners.states import LIVE

MAX_NAMED = 5


def note_state(journey: Journey, state: str) -> None:
    """Remember whether the locked execution is paused: a paused one cannot end."""
    journey.paused = state == "PAUSED"


def outcomes(graph: Graph, found: Iterable[tuple[Any, ...]]) -> dict[int, str]:
    """The outcomes of tasks from rows of `outcomes.sql`."""
    return task_outcomes(graph, dict(facts_of(graph, found)))


def facts_of(graph: Graph, found: Iterable[tuple[Any, ...]]) -> Iterable[tuple[int, StepFact]]:
    """Steps' facts from rows (path, state, outcome); a failed or cancelled step has none."""
    for path, state, outcome in found:
        index = graph.by_path.get(path)
        if index is None:
            continue
        if state in LIVE:
            yield index, StepFact(StepStatus.LIVE)
        elif state == "SUCCESS":
            yield index, StepFact(StepStatus.DONE, outcome)
        elif state == "SKIPPED":
            yield index, StepFact(StepStatus.SKIPPED)
        elif state == "FAILED" and outcome == "error":
            yield index, StepFact(StepStatus.FAILED_OVER)
        elif state == "DLQ":
            yield index, StepFact(StepStatus.DEAD)


def settle_or_end(journey: Journey, *, others: bool = False) -> Plan | None:
    """End the execution if all is done; start what was left behind; else leave it be."""
    graph = journey.graph
    if not others and not journey.resumed and len(journey.outcomes) == len(graph.tasks):
        if not journey.paused:
            _succeed(journey)
        return None
    facts = dict(
        facts_of(
            graph,
            statements.fetch("facts", {"execution": journey.execution_id, "epoch": journey.epoch}),
        )
    )
    planned = plan(graph, facts)
    begin(journey, planned)
    if planned.finished and not journey.paused:
        if planned.dead:
            _fail(journey, _death(journey, planned))
        elif planned.blocked:
            names = ", ".join(graph.tasks[i].id for i in planned.blocked[:MAX_NAMED])
            _fail(journey, f"Nothing runs and nothing is due, yet these tasks wait: {names}.")
        else:
            journey.outcomes = task_outcomes(graph, facts)
            _succeed(journey)
    return planned


def begin(journey: Journey, planned: Plan) -> None:
    """Insert the runs a plan starts and skips, and send the started ones after the commit."""
    graph, version = journey.graph, journey.version.id
    parts = [rows.pending(graph.steps[index], journey.prefix) for index in planned.start]
    parts += [
        rows.skipped(graph.steps[graph.tasks[task].steps[0]], journey.prefix)
        for task in planned.skip
    ]
    insert(journey, parts)
    if planned.start:
        dispatch.publish_after_commit(
            [dispatch.parcel(journey.execution_id, version, journey.priority, graph, planned.start)]
        )


def insert(journey: Journey, parts: list[str]) -> None:
    """Insert rows made by `rows` into the journey's execution."""
    if parts:
        owner = (
            f'"execution":"{journey.execution_id}","epoch":{journey.epoch},'
            f'"priority":{journey.priority},'
        )
        text = ",".join("{" + owner + part[1:] for part in parts)
        statements.fetch("insert", {"rows": f"[{text}]", "patience": config().patience})


def metrics(execution_id: Any) -> Any:
    """The figures kept with an execution that ends."""
    row = statements.fetch_one("metrics", {"execution": execution_id})
    return row[0] if row else None


def _succeed(journey: Journey) -> None:
    try:
        output = _output(journey)
    except (TemplateError, PayloadError) as error:
        _fail(journey, f"The workflow's output could not be made: {error}")
        return
    lifecycle.finish(
        journey.execution_id,
        ExecutionState.SUCCESS,
        output=output,
        metrics=metrics(journey.execution_id),
    )


def _fail(journey: Journey, message: str, trace: str = "") -> None:
    lifecycle.finish(
        journey.execution_id,
        ExecutionState.FAILED,
        error_message=message,
        stack_trace=trace,
        metrics=metrics(journey.execution_id),
    )


def _death(journey: Journey, planned: Plan) -> str:
    first = journey.graph.steps[planned.dead[0]].path
    run = (
        Run.objects.filter(execution_id=journey.execution_id, state="DLQ", step_path=first)
        .order_by("-attempt")
        .only("error")
        .first()
    )
    more = len(planned.dead) - 1
    others = f" (and {more} more)" if more else ""
    return f"Step {first} failed for good{others}: {run.error if run else ''}"


def _output(journey: Journey) -> Any:
    graph = journey.graph
    template = graph.output
    if template is None:
        return None
    if journey.started_at is None:
        row = statements.fetch_one("current", {"execution": journey.execution_id})
        assert row is not None
        journey.variables, journey.input, journey.started_at = row
    missing = [
        graph.steps[i].path
        for task in graph.output_reads
        if graph.tasks[task].id not in journey.results
        for i in graph.tasks[task].steps
    ]
    if missing:
        journey.learn(
            statements.fetch("results", {"execution": journey.execution_id, "reads": missing})
        )
    variables = journey.variables
    if graph.variables:
        row = statements.fetch_one("current", {"execution": journey.execution_id})
        variables = row[0] if row else variables
    value = template.render(
        {
            "input": journey.input,
            "vars": variables,
            "tasks": journey.results,
            "execution": journey.described(1),
        }
    )
    payloads.dump(value, "output of the workflow")
    return value
