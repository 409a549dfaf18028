"""Compute one past execution again with another definition, in memory, from its recorded results.

The engine's own planner decides which steps run, its templates render their inputs, and its
containers open and close iterations. Only pure steps (inline, without effects) are executed. Any
other step keeps its recorded result if its inputs and credential equal the recorded ones, or if no
change explains its new inputs. Otherwise its result and everything that reads it are unknown.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime

from executions.public.errors import PayloadError
from executions.public.graphs import (
    Compiled,
    Place,
    Step,
    StepFact,
    StepStatus,
    first_turn,
    plan,
    task_outcomes,
)
from executions.public.templates import TemplateError
from runners.public import replaying
from runners.public.models import Run
from runners.public.rendering import Prepared, SegmentContext, prepare
from runners.public.replaying import Failure, StepError, StepTimeout, TemplateData
from valkyr_plugins.backtest.bodies import Bodies, PlaceEnd
from valkyr_plugins.backtest.comparison import FAILED_RUN, StepComparison
from valkyr_plugins.backtest.computed_results import ComputedResults, NotComparable
from valkyr_plugins.backtest.recorded_calls import RecordedCalls
from valkyr_plugins.backtest.records import RecordedExecution
from valkyr_plugins.backtest.verdicts import (
    BacktestVerdict,
    StepVerdict,
    VerdictReason,
    changes,
)

MAX_STEPS = 5_000  # maximum steps of one execution
SECONDS = 20.0  # time limit for one execution
NEVER = datetime.max.replace(tzinfo=UTC)
# The final states of a recorded run whose result can be used.
ENDED = ("SUCCESS", "SKIPPED", *FAILED_RUN)


def backtest(record: RecordedExecution, version: Compiled) -> list[StepVerdict]:
    """Return the verdicts on a past execution's steps and end, as if it had run this version.

    Return one verdict if the execution cannot be compared. Raises PayloadStoreUnavailable.
    """
    if record.problem:
        return _none(VerdictReason(record.problem))
    try:
        return _Simulation(record, version).run()
    except NotComparable as error:
        return _none(error.reason)


def _none(reason: VerdictReason) -> list[StepVerdict]:
    """Return a single verdict: no part of the execution can be compared."""
    return [StepVerdict("", BacktestVerdict.NOT_COMPARABLE, reason)]


class _Simulation:
    """The computation of one past execution with another version."""

    def __init__(self, record: RecordedExecution, version: Compiled) -> None:
        self.record, self.version = record, version
        self.results = ComputedResults([dict(version.graph.variables)])
        self.compared = StepComparison()
        self.calls = RecordedCalls(record, version)
        self.until = time.monotonic() + SECONDS
        execution = record.execution
        self.context = SegmentContext(
            execution.pk, version, execution.epoch, execution.priority,
            started_at=execution.started_at, input=record.input,
        )  # fmt: skip
        self.bodies = Bodies(self.context, self.results, record.attempts, self._place)

    def run(self) -> list[StepVerdict]:
        """Compute the execution; return the verdicts on its steps and on its end."""
        whole = Place("", self.version.graph)
        _, blocked = self._place(whole)
        self.compared.leftovers(self.record, self.version, self.results)
        self._end(whole, blocked)
        return list(self.compared.verdicts.values())

    # Compute one place: the workflow, or an iteration of a body.

    def _place(self, place: Place) -> PlaceEnd:
        """Compute a place's steps; return the tasks' outcomes, and the blocking step or ""."""
        graph, facts = place.graph, dict[int, StepFact]()
        data = TemplateData(self.context, place, self.results.variables[-1], source=self.results)
        while True:
            planned = plan(graph, facts)
            for task in planned.skip:
                index = graph.tasks[task].steps[0]
                facts[index] = StepFact(StepStatus.SKIPPED)
                self._skip(place, graph.steps[index])
            if not planned.start:
                break
            index = min(planned.start, key=lambda one: self._order(place, one))
            facts[index] = self._step(place, data, graph.steps[index])
        live = [
            place.prefix + graph.steps.path(i)
            for i, f in facts.items()
            if f.status is StepStatus.LIVE
        ]
        blocked = self.results.unknown.get(live[0], live[0]) if live else ""
        return task_outcomes(graph, facts), blocked

    def _order(self, place: Place, index: int) -> tuple[datetime, int]:
        """Return a sort key: when the recorded step ended; steps without an end come last.

        Variables are written in this order.
        """
        runs = self.record.attempts.get(place.prefix + place.graph.steps.path(index))
        ended = runs[-1].finished_at if runs else None
        return ended or NEVER, index

    def _skip(self, place: Place, step: Step) -> None:
        path = place.prefix + step.path
        self.results.skip(path)
        self.compared.skipped(path, step, self.record.attempts.get(path, []))

    def _step(self, place: Place, data: TemplateData, step: Step) -> StepFact:
        if len(self.compared.verdicts) >= MAX_STEPS or time.monotonic() > self.until:
            raise NotComparable(VerdictReason.TOO_LARGE)
        path = place.prefix + step.path
        data.variables = self.results.variables[-1]
        missing = self.results.missing(place, step)
        if missing is not None:
            self.compared.depends(path, step, missing)
            return self._lose(path, step, missing)
        runs = self.calls.of(path, step)
        try:
            prepared = prepare(data, step, runs[-1].attempt if runs else 1)
        except (TemplateError, PayloadError) as error:
            return self._fails(place, step, runs, replaying.failure_of(error, 0, path))
        if step.container:
            return self._container(place, step, runs, prepared)
        if step.inline and step.effect == "none":
            return self._pure(place, data, step, runs, prepared)
        return self._effect(place, data, step, runs, prepared)

    # Steps with effects: use the recorded result if the inputs equal the recorded inputs.

    def _effect(
        self, place: Place, data: TemplateData, step: Step, runs: list[Run], prepared: Prepared
    ) -> StepFact:
        path = place.prefix + step.path
        if not any(run.inputs_hash for run in runs):
            runs = self._moved(step, prepared) or runs
        if not self.calls.matches(self.results, data, step, runs, prepared):
            return self._call(place, step, runs, prepared)
        last = runs[-1]
        if self.calls.credential_of(last) not in (None, step.credential):
            return self._call(place, step, runs, prepared, VerdictReason.CREDENTIAL)
        if last.state == "SUCCESS" and last.outcome not in ("success", "", *step.outcomes):
            return self._call(place, step, runs, prepared)
        if last.state not in ENDED:
            self.compared.note(
                path, step, BacktestVerdict.NOT_COMPARABLE, VerdictReason.RESULT_MISSING
            )
            return self._lose(path, step, path, waits=True)
        self.compared.same(path, step, last.outcome)
        return self._take(place, step, last)

    def _moved(self, step: Step, prepared: Prepared) -> list[Run]:
        """Record SAME for an equal call at a removed path; return the call's attempts, or []."""
        path = self.calls.moved(step, prepared)
        if path is None:
            return []
        self.compared.same(path, step)
        return self.record.attempts[path]

    def _call(
        self,
        place: Place,
        step: Step,
        runs: list[Run],
        prepared: Prepared,
        why: VerdictReason = VerdictReason.INPUTS,
    ) -> StepFact:
        """Record a new or changed call; only an ended NONDETERMINISTIC call has a known result."""
        path, note = place.prefix + step.path, self.compared.note
        last = next((run for run in reversed(runs) if run.inputs_hash), None)
        if last is None:
            found = changes({}, prepared.value)
            note(path, step, BacktestVerdict.WOULD_CALL, VerdictReason.NEW, found=found)
        elif why is VerdictReason.INPUTS and self.compared.is_unsteady(place, step, last):
            note(path, step, BacktestVerdict.NOT_COMPARABLE, VerdictReason.NONDETERMINISTIC)
            if runs[-1].state in ENDED:
                return self._take(place, step, runs[-1])
        else:
            found = changes(last.inputs, prepared.value)
            note(path, step, BacktestVerdict.WOULD_CALL, why, recorded=last.outcome, found=found)
        return self._lose(path, step, path)

    # Pure steps and containers: compute the result.

    def _pure(
        self, place: Place, data: TemplateData, step: Step, runs: list[Run], prepared: Prepared
    ) -> StepFact:
        path = place.prefix + step.path
        context = replaying.Context(
            execution_id=self.context.execution_id, step_path=path, attempt=1,
            idempotency_key=prepared.key, seconds=step.timeout_seconds,
            variables=data.variables, origin=self.version.origin,
        )  # fmt: skip
        seconds = replaying.seconds_for(step)
        try:
            with replaying.time_limit(min(seconds, self.until - time.monotonic())):
                done = replaying.run_module(place, step, prepared, context)
        except replaying.UnknownModule:
            self.compared.note(
                path, step, BacktestVerdict.NOT_COMPARABLE, VerdictReason.UNAVAILABLE
            )
            return self._lose(path, step, path)
        except (Exception, StepTimeout) as error:
            failure = replaying.failure_of(error, seconds, path)
            return self._fails(place, step, runs, failure, prepared)
        assert isinstance(done, replaying.Done)
        found = done.result
        self.results.succeed(path, found.outcome, found.outputs)
        if found.variables is not None and step.writes_variables:
            self.results.write(found.variables)
        self.compared.computed(path, step, runs, found.outcome, found.outputs, prepared)
        return StepFact(StepStatus.DONE, found.outcome)

    def _container(self, place: Place, step: Step, runs: list[Run], prepared: Prepared) -> StepFact:
        path, first = place.prefix + step.path, first_turn(place, step.task)
        try:
            if step.container == "map":
                outputs, lost = self.bodies.map(first, path, prepared.value)
            else:
                outputs, lost = self.bodies.loop(first, step, prepared.value)
        except (StepError, TemplateError, PayloadError) as error:
            return self._fails(place, step, runs, replaying.failure_of(error, 0, path))
        if self.results.is_dead_below(first):
            return StepFact(StepStatus.LIVE)  # a dead letter keeps the container open
        if lost is not None:
            self.compared.depends(path, step, lost)
            return self._lose(path, step, lost)
        self.results.succeed(path, "success", outputs)
        self.compared.computed(path, step, runs, "success", outputs)
        return StepFact(StepStatus.DONE, "success")

    # Recorded results, failures and unknown results.

    def _take(self, place: Place, step: Step, last: Run) -> StepFact:
        """Use the result of a step's last recorded run; return the step's state."""
        path = place.prefix + step.path
        if last.state == "SKIPPED":
            self.results.skip(path)
            return StepFact(StepStatus.SKIPPED)
        if last.state in FAILED_RUN:
            return self._failed(place, step, last.error, last.error_type)
        outcome = last.outcome or "success"
        self.results.succeed(path, outcome, last.outputs)
        if step.writes_variables and isinstance(last.outputs, Mapping):
            self.results.write(last.outputs)
        return StepFact(StepStatus.DONE, outcome)

    def _fails(
        self,
        place: Place,
        step: Step,
        runs: list[Run],
        failure: Failure,
        prepared: Prepared | None = None,
    ) -> StepFact:
        """Record the verdict on a step that fails.

        The verdict is SAME if a recorded attempt failed with these inputs or before rendering.
        """
        path = place.prefix + step.path
        wanted = prepared.hash if prepared is not None else ""
        if any(run.state in FAILED_RUN and run.inputs_hash in (wanted, "") for run in runs):
            self.compared.same(path, step, "error")
            # A user then set the result or skipped the step, so use that.
            if runs[-1].state in ("SUCCESS", "SKIPPED"):
                return self._take(place, step, runs[-1])
        else:
            self.compared.fails(path, step, runs, failure.message)
        return self._failed(place, step, failure.message, failure.error_type)

    def _failed(self, place: Place, step: Step, message: str, kind: str) -> StepFact:
        path = place.prefix + step.path
        if place.graph.tasks[step.task].handles_error or place.graph.guarded:
            self.results.fail(path, message, str(kind))
            return StepFact(StepStatus.FAILED_OVER)
        self.results.dead.append(path)
        return StepFact(StepStatus.DEAD)

    def _lose(self, path: str, step: Step, source: str, *, waits: bool = False) -> StepFact:
        """Mark a result as unknown.

        The simulation continues after the step only if the step has a single outcome and `waits` is
        False.
        """
        self.results.lose(path, step, source)
        self.compared.changed.add(path)
        if step.outcomes or waits:
            return StepFact(StepStatus.LIVE)
        return StepFact(StepStatus.DONE, "success")

    # The end of the execution.

    def _end(self, whole: Place, blocked: str) -> None:
        """Compare the execution's final state and output with the record."""
        results = self.results
        source = blocked or self._unknown_end(whole)
        if source:
            self.compared.unknown_end(source)
            return
        ends, output = "FAILED" if results.dead else "SUCCESS", None
        if not results.dead:
            variables = results.variables[-1]
            data = TemplateData(self.context, whole, variables, source=results)
            try:
                output = replaying.render_output(data, self.context, variables)
            except (TemplateError, PayloadError):
                ends = "FAILED"
        self.compared.end(self.record, ends, output)

    def _unknown_end(self, whole: Place) -> str:
        """Return the unknown step on which the end or the output depends; "" if there is none."""
        graph, results = self.version.graph, self.results
        if results.dead or not results.unknown:
            return ""
        reads = [p for task in graph.output_reads for p in replaying.task_paths(whole, task)]
        missing = results.first_unknown(reads)
        if missing is not None:
            return missing
        if self.record.execution.state == "FAILED":
            return next(iter(results.unknown.values()))
        read = () if graph.output is None else graph.output.references
        return results.unknown_variables if any(names[0] == "vars" for names in read) else ""
