"""After rows are written, end the iteration or the execution, or start more work.

The caller holds the execution's lock, except for `output_of`, `render_output` and `load_output`.
"""

import logging
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from executions import lifecycle, payload_store, payloads
from executions.database import connection, transaction
from executions.definition.graph.places import UNDO, Place
from executions.definition.graph.plan import plan, task_outcomes
from executions.definition.templates import TemplateError
from executions.definition.templating import render_guard
from executions.definition.templating.budget import while_planning
from executions.errors import PayloadError
from executions.payload_store import PayloadStoreUnavailable
from executions.sealing import SealBroken
from executions.states import ExecutionState
from runners.containers import iterations
from runners.dispatch import messages
from runners.models import Run
from runners.planning import compensation, plan_from_rows
from runners.segment import stored_results, template_data
from runners.segment.context import SegmentContext
from runners.segment.execution_lock import left_to_worker
from runners.segment.state import SegmentState
from runners.segment.template_data import TemplateData, described

log = logging.getLogger(__name__)

MAX_NAMED = 5


class NoOutput(Exception):
    """The workflow's output cannot be rendered, at least not in this process or transaction."""


def conclude(state: SegmentState, *, others: bool) -> None:
    """Handle a segment's end: close its iteration, end the execution, or start the remaining steps.

    `others` is true if other runs of the execution are in progress.
    """
    if state.resumed or state.prefix.endswith(UNDO):
        _whole(state)
    elif state.place.outer is not None:
        moved = _turn_over(state)
        if not moved and not others:
            _whole(state)
    elif not others:
        if state.settled:
            end_as_success(state)
        else:
            _whole(state)


def settle_or_end(state: SegmentState) -> bool:
    """Plan the execution from its rows: start the remaining steps, or end the execution.

    Return whether a step was started or the execution ended.
    """
    return _whole(state)


def _turn_over(state: SegmentState) -> bool:
    """Close the iterations that ended in this segment, or start the ready steps of the iteration.

    Returns whether anything was started or woken.
    """
    place = state.place
    ended, state.ended_turns = state.ended_turns, []
    failed: list[int] = []
    if state.settled:
        outcomes = state.outcomes
        over = True
    else:
        facts = plan_from_rows.place_facts(state, place)
        planned = plan(place.graph, facts)
        if plan_from_rows.begin(state, place, planned):
            return True
        over = planned.finished and not planned.dead and not planned.blocked
        outcomes = task_outcomes(place.graph, facts)
    if over:
        ended = [*ended, place.index]
        if iterations.failed_in(place, outcomes):
            failed = [place.index]
    if not ended and not state.batch:
        return False
    return iterations.turn_over(state, place, ended=ended, failed=failed)


def _whole(state: SegmentState) -> bool:
    undoing = compensation.go_on(state)
    if undoing is not None:
        return undoing
    found = plan_from_rows.plan_all(state)
    blocked = found.moved or state.paused or state.left_to_worker
    if blocked or compensation.has_live_run(state.context.execution_id):
        return found.moved
    if found.dead:
        _fail(state, _death(state, found.dead))
    elif found.live or found.blocked:
        names = ", ".join(found.blocked[:MAX_NAMED]) or "a container"
        log.error("execution %s is stuck: %s", state.context.execution_id, names)
        _fail(state, f"No step runs or is due, but these tasks are waiting: {names}.")
    else:
        if state.place.outer is not None:
            state.data.enter(Place("", state.context.version.graph))
        state.outcomes = found.outcomes
        end_as_success(state)
    return True


def end_as_success(state: SegmentState) -> None:
    """End an unpaused execution as SUCCESS, or fail it if its output cannot be rendered.

    A process that must not render templates, such as a web process, leaves this to a worker.
    """
    if state.paused or left_to_worker(state, state.context.version.graph.output):
        return
    try:
        output = _output(state)
    except stored_results.LoadsOutside:
        # A process that plans from rows loads the values and plans again; otherwise a worker does
        # so. Planning itself sends no message: while the store is unavailable, that message would
        # be sent again and again.
        state.loads_output = True
        if state.segment:
            transaction.on_commit(
                partial(messages.advance, state.context.execution_id), robust=True
            )
        return
    except (TemplateError, PayloadError, SealBroken) as error:
        _fail(state, f"The workflow's output could not be rendered: {error}")
        return
    lifecycle.finish(
        state.context.execution_id,
        ExecutionState.SUCCESS,
        output=output,
        sealer=state.context.sealer,
        metrics=compensation.figures(state.context.execution_id),
    )


def _fail(state: SegmentState, message: str, trace: str = "") -> None:
    if compensation.fail(state, message, trace):
        return
    lifecycle.finish(
        state.context.execution_id,
        ExecutionState.FAILED,
        error_message=message,
        stack_trace=trace,
        sealer=state.context.sealer,
        metrics=compensation.figures(state.context.execution_id),
    )


def _death(state: SegmentState, dead: list[str]) -> str:
    first = dead[0]
    run = (
        Run.objects.filter(execution_id=state.context.execution_id, state="DLQ", step_path=first)
        .order_by("-attempt")
        .only("error")
        .first()
    )
    more = len(dead) - 1
    others = f" (and {more} more)" if more else ""
    return f"Step {first} failed permanently{others}: {run.error if run else ''}"


def output_of(state: SegmentState) -> Any:
    """Return the output of an execution whose tasks have all ended, rendered before the lock.

    Raises NoOutput if the output cannot be rendered, at least not in this process or transaction.
    """
    template = state.context.version.graph.output
    if not (template is None or template.constant or render_guard.renders_here()):
        raise NoOutput
    try:
        return _output(state)
    except (TemplateError, PayloadError, SealBroken, PayloadStoreUnavailable) as error:
        raise NoOutput from error


def _output(state: SegmentState) -> Any:
    if state.context.version.graph.output is None:
        return None
    context, variables = _present(state)
    return render_output(state.data, context, variables)


def _present(state: SegmentState) -> tuple[SegmentContext, dict[str, Any]]:
    """Return the context including the input, and the current variables."""
    context, variables = state.context, state.data.variables
    if context.started_at is None:
        variables, payload, started_at = template_data.current(context.execution_id)
        context = replace(context, started_at=started_at, input=payload)
    elif context.version.graph.variables:
        variables, _, _ = template_data.current(context.execution_id)
    return context, variables


def render_output(data: TemplateData, context: SegmentContext, variables: dict[str, Any]) -> Any:
    """Return the workflow's output, rendered from the results in `data`.

    `data` is the data of the workflow itself, not of a body. Raises TemplateError, PayloadError,
    and the errors of loading stored values.
    """
    template = context.version.graph.output
    if template is None:
        return None
    scope = {
        "input": context.input,
        "vars": variables,
        "tasks": data.results,
        "execution": described(context, context.version.graph, 1),
    }
    _complete(data, context, scope)
    value = template.render(scope, while_planning())
    value = stored_results.reference_to(data, value)
    if data.not_loaded:
        value = stored_results.passed_on(data, value)
    try:
        payloads.dump(value, "output of the workflow")
    except PayloadError:
        if not data.stored:
            raise
        # Too large for a row. Replace values that were loaded whole by their references.
        value = stored_results.passed_on(data, value, loaded=True)
        payloads.dump(value, "output of the workflow")
    return value


def load_output(state: SegmentState) -> None:
    """Load the stored values that the workflow's output reads, before the execution is locked.

    Errors are reported at rendering. Does nothing without a store, in a transaction or in a body.
    """
    template = state.context.version.graph.output
    if template is None or template.constant or not payload_store.enabled():
        return
    if state.place.outer is not None or connection.in_atomic_block:
        return
    with suppress(PayloadStoreUnavailable):
        try:
            context, variables = _present(state)
            _complete(state.data, context, {"input": context.input, "vars": variables})
        except (TemplateError, SealBroken) as error:
            state.data.unloadable = error


def _complete(data: TemplateData, context: SegmentContext, scope: dict[str, Any]) -> None:
    """Load the results that the workflow's output reads and that this worker does not have.

    Also load the stored values that the output reads, into the data and the scope.
    """
    graph = context.version.graph
    assert graph.output is not None
    missing = [
        graph.steps.path(i)
        for task in graph.output_reads
        if graph.tasks[task].id not in data.results
        for i in graph.tasks[task].steps
    ]
    if missing:
        data.learn(data.source.results(context.execution_id, missing))
    if payload_store.enabled():
        references = graph.output.references
        names = stored_results.names_read(references)
        found = {name: data.results[name] for name in names if name in data.results}
        given = stored_results.given_read(data, references, scope)
        stored_results.load_outputs(data, {**found, **given})
        stored_results.put_given(given, scope)
