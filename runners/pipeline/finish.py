"""What follows once the rows are written: the end of a turn, of the execution, or more work.

The caller holds the execution's lock.
"""

import logging
from typing import Any

from executions import lifecycle, payloads
from executions.definition.graph.places import Place
from executions.definition.graph.plan import plan, task_outcomes
from executions.definition.templates import TemplateError
from executions.errors import PayloadError
from executions.states import ExecutionState
from runners import statements
from runners.containers import iterations
from runners.models import Run
from runners.pipeline import plan_from_rows
from runners.segment.hand_over import left_to_worker
from runners.segment.state import Journey

log = logging.getLogger(__name__)

MAX_NAMED = 5


def conclude(journey: Journey, *, others: bool, figures: Any = None) -> None:
    """A segment is at its end: turn its body over, end the execution, or start what was left.

    `others` says whether anything else in the execution is in flight; `figures` are those to keep
    with it, where they were read.
    """
    if journey.resumed:
        _whole(journey)
    elif journey.place.outer is not None:
        moved = _turn_over(journey)
        if not moved and not others:
            _whole(journey)
    elif not others:
        if journey.settled:
            end_well(journey, figures)
        else:
            _whole(journey)


def settle_or_end(journey: Journey) -> bool:
    """Plan the execution whole: start what was left behind, or end it; whether anything moved."""
    return _whole(journey)


def _turn_over(journey: Journey) -> bool:
    """Take the turns that ended here off their container."""
    place = journey.place
    ended, journey.ended_turns = journey.ended_turns, []
    failed: list[int] = []
    if journey.settled:
        outcomes = journey.outcomes
        over = True
    else:
        facts = plan_from_rows.place_facts(journey, place)
        planned = plan(place.graph, facts)
        if plan_from_rows.begin(journey, place, planned):
            return True
        over = planned.finished and not planned.dead and not planned.blocked
        outcomes = task_outcomes(place.graph, facts)
    if over:
        ended = [*ended, place.index]
        if iterations.failed_in(place, outcomes):
            failed = [place.index]
    if not ended and not journey.batch:
        return False
    return iterations.turn_over(journey, place, ended=ended, failed=failed)


def _whole(journey: Journey) -> bool:
    found = plan_from_rows.plan_all(journey)
    if found.moved or journey.paused or journey.left_to_worker or _in_flight(journey):
        return found.moved
    if found.dead:
        _fail(journey, _death(journey, found.dead))
    elif found.live or found.blocked:
        names = ", ".join(found.blocked[:MAX_NAMED]) or "a container"
        log.error("execution %s is stuck: %s", journey.execution_id, names)
        _fail(journey, f"Nothing runs and nothing is due, yet these tasks wait: {names}.")
    else:
        if journey.place.outer is not None:
            journey.place, journey.results = Place("", journey.version.graph), {}
        journey.outcomes = found.outcomes
        end_well(journey)
    return True


def _in_flight(journey: Journey) -> bool:
    row = statements.fetch_one("in_flight", {"execution": journey.execution_id})
    return bool(row and row[0])


def metrics(execution_id: Any) -> Any:
    """The figures kept with an execution that ends."""
    row = statements.fetch_one("metrics", {"execution": execution_id})
    return row[0] if row else None


def end_well(journey: Journey, figures: Any = None) -> None:
    """RUNNING to SUCCESS, or FAILED where the output cannot be made; nothing during a pause.

    While a request is answered, an output that has to be rendered is left to a worker.
    """
    if journey.paused or left_to_worker(journey, journey.version.graph.output):
        return
    try:
        output = _output(journey)
    except (TemplateError, PayloadError) as error:
        _fail(journey, f"The workflow's output could not be made: {error}")
        return
    lifecycle.finish(
        journey.execution_id,
        ExecutionState.SUCCESS,
        output=output,
        metrics=figures or metrics(journey.execution_id),
    )


def _fail(journey: Journey, message: str, trace: str = "") -> None:
    lifecycle.finish(
        journey.execution_id,
        ExecutionState.FAILED,
        error_message=message,
        stack_trace=trace,
        metrics=metrics(journey.execution_id),
    )


def _death(journey: Journey, dead: list[str]) -> str:
    first = dead[0]
    run = (
        Run.objects.filter(execution_id=journey.execution_id, state="DLQ", step_path=first)
        .order_by("-attempt")
        .only("error")
        .first()
    )
    more = len(dead) - 1
    others = f" (and {more} more)" if more else ""
    return f"Step {first} failed for good{others}: {run.error if run else ''}"


def _output(journey: Journey) -> Any:
    graph = journey.version.graph
    template = graph.output
    if template is None:
        return None
    if journey.started_at is None:
        row = statements.fetch_one("current", {"execution": journey.execution_id})
        assert row is not None
        journey.variables, journey.input, journey.started_at = row
    missing = [
        graph.steps.path(i)
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
