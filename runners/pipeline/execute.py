"""Execute a claimed step and, in memory, the pure steps that follow it."""

import logging
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from executions import payload_store
from executions.database import connection
from executions.database.ids import uuid7
from executions.definition.graph.model import Step
from executions.definition.graph.places import Place
from executions.definition.templates import TemplateError
from executions.egress.rules import EgressRules
from executions.egress.workspace_rules import rules_of
from executions.errors import PayloadError
from executions.payloads import STORED
from executions.sealing.sealer import PayloadSealer
from runners.conf import config, pool
from runners.containers import loops_and_maps
from runners.dispatch import estimates
from runners.errors import LeaseLost
from runners.failures.classification import Failure, classify, template_failure
from runners.failures.failure_text import LONGEST_TARGET, storable_text
from runners.gates import gates
from runners.modules import registry
from runners.modules.base import StepError, Wait
from runners.modules.egress import egress_rules, ruled_by
from runners.observability.tracing import observed
from runners.pipeline import (
    lease_renewal,
    result_cache,
    reveal_secrets,
    self_stops,
    short_lived,
    stored_contents,
    stored_outputs,
)
from runners.pipeline.reveal_secrets import Revealed
from runners.process import activity
from runners.process.memory_limit import limited_megabytes, what_to_raise
from runners.secrets.scrubbing import scrubbed_logs
from runners.segment import run_rows, stored_results
from runners.segment.inputs import Prepared, prepare, put_away
from runners.segment.packs import Pack
from runners.segment.state import SegmentState
from runners.segment.step_context import Context, StepTimeout, time_limit
from runners.segment.work import Broken, Done, Unit, Work
from runners.states import ErrorType
from runners.waits import events

# Convert the error that ended a step into the failure to record.


def seconds_for(step: Step) -> float:
    """Return a step's timeout in seconds; for an inline step, at most half of the lease."""
    return min(step.timeout_seconds, config().lease / 2) if step.inline else step.timeout_seconds


def _seconds(work: Work) -> float:
    return seconds_for(work.step) if work.step.inline else work.seconds


def failure_of(
    error: BaseException, seconds: float, path: str, revealed: Revealed | None = None
) -> Failure:
    """Return the failure to record for an error, with the step's secrets removed from its text.

    `seconds` is the step's timeout.
    """
    if isinstance(error, StepTimeout):
        return Failure(
            ErrorType.TIMEOUT,
            f"Step {path} did not finish within its timeout of {seconds:g} s.",
            "StepTimeout",
            None,
            None,
            "",
        )
    if isinstance(error, registry.UnknownModule):
        # During a deployment, a newer or older worker may have the module.
        return Failure(ErrorType.TRANSIENT, str(error), "UnknownModule")
    known = _of_the_engine(error, path)
    return known or classify(error, None if revealed is None else revealed.scrub)


def _of_the_engine(error: BaseException, path: str) -> Failure | None:
    """Return the failure for a template, payload or memory-limit error; None for other errors."""
    if isinstance(error, TemplateError):
        return template_failure(error, path)
    if isinstance(error, PayloadError):
        return Failure(ErrorType.PERMANENT, error.message, "PayloadError")
    if isinstance(error, MemoryError) and limited_megabytes():
        message = (
            f"Step {path} needs more memory than its process may have "
            f"({limited_megabytes():,} MiB). Process less data per step, or raise "
            f"{what_to_raise()}."
        )
        return Failure(ErrorType.PERMANENT, message, "MemoryError")
    return None


log = logging.getLogger(__name__)

_NOTHING = nullcontext()


@observed
def perform(state: SegmentState, work: Work) -> Unit:
    """Execute the claimed step and, if it is pure, the pure steps that follow; return the unit."""
    if work.failure is not None or work.prepared is None:
        assert work.failure is not None
        return Unit(None, failure=work.failure)
    activity.executes(work.run_id, work.token)
    if work.step.container:
        return loops_and_maps.perform(state, work)
    reused = result_cache.lookup(state, work.step, work.prepared)
    if reused is not None:
        state.ended(work.step, reused.result.outcome, reused.result.outputs)
        return Unit(reused)
    with ruled_by(partial(_egress_rules, state.context.version.workspace_id)):
        unit = _run(state, work, work.prepared)
        activity.goes_on_after(work.run_id, work.token)
        if unit.wait is None and not work.step.inline:
            estimates.note_duration(
                work.step, unit.head.milliseconds if unit.head else unit.milliseconds
            )
        if unit.head is not None:
            head = unit.head
            state.ended(work.step, head.result.outcome, head.result.outputs)
            if work.step.inline and not state.hands_over:
                stretch(state, unit)
    return unit


def _egress_rules(workspace_id: UUID) -> EgressRules | None:
    """Return the workspace's egress rules; in a thread pool, close a newly opened connection."""
    held_before = connection.connection is not None
    found = rules_of(workspace_id)
    if not held_before and pool() == "threads" and not connection.in_atomic_block:
        connection.close()
    return found


def _run(state: SegmentState, work: Work, prepared: Prepared) -> Unit:
    """Ask the gates, then run the module; return how the step ended."""
    started = time.perf_counter()
    context = _context(state, work)
    revealed: Revealed | None = None
    passage = gates.OPEN
    try:
        if registry.get(work.step.module).judges_hosts:
            egress_rules()  # read the rules while this thread has a database connection
        if reveal_secrets.uses_secrets(work.step):
            revealed = _reveal(state, work, prepared, context)
        wake = stored_results.load_wake(state.data, work.wake, registry.get(work.step.module))
        asked = _ask(state, work, prepared, revealed)
        if isinstance(asked, Wait):
            return Unit(None, wait=asked)
        passage = asked
        context.target_timeout = passage.timeout
        with (
            _logs(revealed),
            work.within or _NOTHING,
            held(work, context, state.pack or state.executions, state.context.sealer),
        ):
            head = _run_module(state, work, prepared, context, revealed, wake)
            if isinstance(head, Done):
                head = stored_outputs.store(state, head)
    except LeaseLost:
        reveal_secrets.note_refused(revealed)
        passage.undo()  # the gates are asked again when the step is executed again
        raise
    except (Exception, StepTimeout) as error:
        milliseconds = 1000 * (time.perf_counter() - started)
        reveal_secrets.note_refused(revealed)
        failure = replace(
            failure_of(error, _seconds(work), work.path, revealed),
            target=failure_target(work.step.module, prepared, revealed),
        )
        passage.ended(failure)
        return Unit(
            None,
            failure=failure,
            milliseconds=milliseconds,
            logs=context.log.kept(),
            details=context.told,
            spent=tuple(context.costs.values()),
        )
    passage.ended(None)
    reveal_secrets.note_refused(revealed)
    if isinstance(head, Wait):
        milliseconds = 1000 * (time.perf_counter() - started)
        spent = tuple(context.costs.values())
        return Unit(
            None, wait=head, milliseconds=milliseconds, logs=context.log.kept(), spent=spent
        )
    return Unit(head)


def stretch(state: SegmentState, unit: Unit) -> None:
    """Execute pure steps in memory, up to the configured number of steps and seconds."""
    limits = config()
    until = time.perf_counter() + limits.stretch_seconds
    most = limits.batch_steps if state.batch else limits.stretch_steps
    while len(unit.more) + 1 < most and time.perf_counter() < until:
        steps = state.graph.steps
        index = next((i for i in state.frontier.ready if steps[i].inline), None)
        if index is None and next_item(state, unit):
            continue
        if index is None or (unit.head is not None and _writes(unit)):
            return
        state.frontier.ready.remove(index)
        step = steps[index]
        prepared = None
        try:
            prepared = put_away(state.data, step, prepare(state.data, step, 1))
            context = Context(
                execution_id=state.context.execution_id,
                step_path=state.path(step),
                attempt=1,
                idempotency_key=prepared.key,
                seconds=step.timeout_seconds,
                variables=state.data.variables,
            )
            with time_limit(seconds_for(step) - prepared.seconds):
                done = run_module(state.place, step, prepared, context)
                assert isinstance(done, Done)
                done = stored_outputs.store(state, done)
        except (Exception, StepTimeout) as error:
            unit.broken = Broken(
                step, prepared, failure_of(error, seconds_for(step), state.path(step))
            )
            return
        # Created before the next run's ID, because runs are listed in the order of their IDs.
        done.run_id = uuid7()
        unit.more.append(done)
        state.ended(step, done.result.outcome, done.result.outputs)


def next_item(state: SegmentState, unit: Unit) -> bool:
    """Switch to the next item of a pure map's batch if every task of the current item has ended.

    Returns whether it switched.
    """
    if not state.batch or not state.settled or state.frontier.ready:
        return False
    graph = state.graph
    unit.skipped += [
        run_rows.skipped(graph.steps[graph.tasks[task].steps[0]], state.prefix)
        for task in state.frontier.skipped
    ]
    state.ended_turns.append(state.place.index)
    state.enter(state.batch.pop(0))
    return True


def _reveal(state: SegmentState, work: Work, prepared: Prepared, context: Context) -> Revealed:
    """Return the step's inputs with its secrets, and give the step's credential to the context."""
    revealed = reveal_secrets.revealed(
        state.data,
        work.step,
        prepared.value,
        run_id=work.run_id,
        attempt=work.attempt,
        changes=prepared.changes,
    )
    context.reveal(revealed.credential, revealed.scrub)
    return revealed


def _run_module(
    state: SegmentState,
    work: Work,
    prepared: Prepared,
    context: Context,
    revealed: Revealed | None,
    wake: Any,
) -> Done | Wait:
    """Run the module; run it again if a receiver rejected short-lived secrets that were not new.

    A step that writes in the recording transaction is not run again, because it would write twice.
    Such a step gets new secrets at its next attempt.
    """
    run = partial(run_module, state.place, work.step, prepared, context, wake, revealed)
    try:
        return run()
    except StepError as error:
        if revealed is None:
            raise
        if work.within is not None:
            short_lived.forget_rejected(revealed.short_lived, error)
            raise
        given, changes = prepared.value, prepared.changes
        reveal_secrets.renew(
            state.data, work.step, given, revealed, error, attempt=work.attempt, changes=changes
        )
        context.reveal(revealed.credential, revealed.scrub)
        with _logs(revealed):
            return run()


def _ask(
    state: SegmentState, work: Work, prepared: Prepared, revealed: Revealed | None
) -> gates.Passage | Wait:
    """Return the answer of the gates; inline and woken steps pass without a check."""
    if work.step.inline or work.wake is not None:
        return gates.OPEN
    module = registry.get(work.step.module)
    inputs = None
    if module.has_circuit():
        inputs = module.validated(prepared.value if revealed is None else revealed.inputs)
    if revealed is None:
        return gates.ask(gates.Asked(state.context, work, module, inputs, None))
    asked = gates.Asked(state.context, work, module, inputs, revealed.scrub, revealed.credential)
    return gates.ask(asked)


def _logs(revealed: Revealed | None) -> AbstractContextManager[None]:
    return scrubbed_logs(revealed.scrub) if revealed is not None else _NOTHING


def run_module(
    place: Place,
    step: Step,
    prepared: Prepared,
    context: Context,
    wake: Any = None,
    revealed: Revealed | None = None,
) -> Done | Wait:
    """Run or resume the step's module on its inputs.

    Raises the module's exceptions, TemplateError, PayloadError, and StepError for a wrong result.
    """
    started, path = time.perf_counter(), place.prefix + step.path
    module = registry.get(step.module)
    passed = stored_contents.passed_to(module, prepared)
    if revealed is None:
        result = module.run(prepared.value, context, wake)
    else:
        with revealed.used():
            result = module.run(revealed.inputs, context, wake)
        result = revealed.cleaned(result, path)
    if isinstance(result, Wait):
        if step.inline:
            raise StepError("A step that runs inline cannot wait; declare its module not inline.")
        return result
    if result.outcome != "success" and result.outcome not in step.outcomes:
        raise StepError(
            f"The module {step.module} ended with the outcome {result.outcome!r}, which it does "
            f"not declare; declared: {', '.join(step.outcomes) or 'success'}."
        )
    if result.variables and (undeclared := set(result.variables) - set(context.variables)):
        raise StepError(
            f"The step {path} sets {', '.join(sorted(undeclared))}, which the "
            "workflow does not declare. Add it to `variables` with a default."
        )
    result = stored_contents.kept_in(result, context, passed)
    outputs, large = stored_outputs.dumped(result.outputs, f"output of step {path}")
    return Done(
        step,
        place,
        prepared,
        result,
        outputs,
        1000 * (time.perf_counter() - started),
        context.log.kept(),
        tuple(context.costs.values()),
        large=large,
        stored=STORED in outputs,
    )


@contextmanager
def held(
    work: Work, context: Context, pack: Pack[Any] | None = None, sealer: PayloadSealer | None = None
) -> Iterator[None]:
    """Limit the module's time in the block, and renew the run's lease, except for an inline step.

    The time to render the step's inputs counts too. Raises LeaseLost if too little of the lease
    remains to begin the step, or if the step was stopped because its lease was not renewed.
    """
    rendering = work.prepared.seconds if work.prepared is not None else 0.0
    if work.step.inline:
        with time_limit(seconds_for(work.step) - rendering):
            yield
        return
    if pool() == "threads" and not connection.in_atomic_block:
        connection.close()  # return the connection to the pool
    if self_stops.begins_too_late(work.claimed_at):
        raise _not_renewed(work)
    heart = lease_renewal.heart()
    seconds = work.seconds - rendering
    beat = heart.hold(work, seconds, pack, sealer)
    context.mind(cancelled=beat.cancelled, details=beat.tell)
    try:
        with time_limit(seconds):
            yield
    except (Exception, StepTimeout) as error:
        if beat.stopped:
            raise _not_renewed(work) from error
        raise
    finally:
        heart.release(beat)
    if beat.stopped:
        raise _not_renewed(work)


def _not_renewed(work: Work) -> LeaseLost:
    """Return the error for a step whose lease was not renewed; the step's result is discarded."""
    log.warning(
        "stopped: run %s of step %s could not renew its lease; another worker runs it again",
        work.run_id,
        work.path,
    )
    return LeaseLost(str(work.run_id))


def _context(state: SegmentState, work: Work) -> Context:
    assert work.prepared is not None
    context = Context(
        execution_id=state.context.execution_id,
        step_path=work.path,
        attempt=work.attempt,
        idempotency_key=work.prepared.key,
        seconds=work.seconds,
        variables=state.data.variables,
        last_details=work.last_details,
        origin=state.context.version.origin,
        changed=frozenset(work.prepared.changes or ()),
    )
    context.publish_by(partial(events.announce_from_step, state, work))
    if work.within is None and not work.step.inline and payload_store.enabled():
        context.store_in(stored_contents.StepContents(state.context))
    return context


def _writes(unit: Unit) -> bool:
    """Return whether the unit's last step may write variables; no step then follows in memory."""
    last = unit.more[-1] if unit.more else unit.head
    return last is not None and last.step.writes_variables


def failure_target(module: str, prepared: Prepared, revealed: Revealed | None) -> str:
    """Return the circuit's target, without secrets and without the part up to the first colon.

    Return "" if the module has no circuit, or if its target cannot be determined.
    """
    try:
        kind = registry.get(module)
        if not kind.has_circuit():
            return ""
        given = prepared.value if revealed is None else revealed.inputs
        target = kind.circuit_with(
            kind.validated(given), None if revealed is None else revealed.credential
        )
    # An error in the module's own code must not hide the step's failure.
    except Exception:
        return ""
    word, _, rest = (target or "").partition(":")
    text = rest or word
    return storable_text(text if revealed is None else revealed.scrub.message(text), LONGEST_TARGET)
