"""Compute one past execution again with another definition, in memory, from its recorded results.

The engine's own planner decides which steps run, its templates render their inputs, and its
containers open and close iterations. Only pure steps (inline, without effects) are executed. Any
other step has its recorded result if its inputs are those of the record. Otherwise its result is
unknown, and so is everything that reads it.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from executions.public.errors import PayloadError
from executions.public.graphs import (
    Compiled,
    Place,
    Step,
    StepFact,
    StepStatus,
    find,
    first_turn,
    plan,
    split,
    task_outcomes,
)
from executions.public.templates import TemplateError
from executions.public.values import payloads
from runners.public import replaying
from runners.public.models import Run
from runners.public.rendering import Prepared, SegmentContext, prepare
from runners.public.replaying import Failure, StepError, StepTimeout, TemplateData
from valkyr_plugins.backtest.records import RecordedExecution
from valkyr_plugins.backtest.verdicts import (
    BacktestVerdict,
    StepVerdict,
    VerdictReason,
    changes,
    is_equal,
)

MAX_STEPS = 5_000  # of one execution
SECONDS = 20.0  # for one execution
MAX_STATES = 50  # of the variables that a step may have seen
NEVER = datetime.max.replace(tzinfo=UTC)
ENDED_BADLY = ("FAILED", "DLQ")


class BacktestTooLarge(Exception):
    """The execution has too many steps, or takes too long to compute."""


@dataclass(slots=True)
class RecordedResults:
    """The results so far, in place of the rows that a worker would read."""

    rows: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    lists: dict[str, list[Any]] = field(default_factory=dict)  # items of maps, by step path

    def results(self, execution_id: Any, paths: list[str]) -> list[tuple[Any, ...]]:
        """Return the results of ended steps."""
        return [self.rows[path] for path in paths if path in self.rows]

    def items(self, data: TemplateData, place: Place, indexes: list[int]) -> dict[int, Any]:
        """Return items of the map around `place`."""
        known = self.lists.get(place.holder, [])
        return {index: known[index] for index in indexes if index < len(known)}


def backtest(record: RecordedExecution, version: Compiled) -> list[StepVerdict]:
    """Return the verdicts on all steps of a past execution, as if it ran this version."""
    if record.problem:
        return [StepVerdict("", BacktestVerdict.NOT_COMPARABLE, VerdictReason(record.problem))]
    try:
        return _Simulation(record, version).run()
    except BacktestTooLarge:
        return [StepVerdict("", BacktestVerdict.NOT_COMPARABLE, VerdictReason.TOO_LARGE)]


class _Simulation:
    """One execution under way; `unknown` maps paths of unknown results to the step they miss."""

    def __init__(self, record: RecordedExecution, version: Compiled) -> None:
        self.record, self.version = record, version
        self.source = RecordedResults()
        self.verdicts: dict[str, StepVerdict] = {}
        self.unknown: dict[str, str] = {}
        self.changed: set[str] = set()  # paths whose result differs from the record
        self.variables: list[dict[str, Any]] = [dict(version.graph.variables)]
        self.unknown_variables = ""  # the step that made them unknown
        self.dead: list[str] = []
        self.errors: dict[str, tuple[str, str]] = {}  # of handled failures: message and class
        self.elsewhere = self._by_call()
        self.until = time.monotonic() + SECONDS
        execution = record.execution
        self.context = SegmentContext(
            execution.pk, version, execution.epoch, execution.priority,
            started_at=execution.started_at, input=record.input,
        )  # fmt: skip

    def run(self) -> list[StepVerdict]:
        """Compute the execution; return the verdicts on its steps and on its end."""
        whole = Place("", self.version.graph)
        outcomes, blocked = self._place(whole)
        self._leftovers()
        self._end(whole, outcomes, blocked)
        return list(self.verdicts.values())

    # One place: the workflow, or an iteration of a body.

    def _place(self, place: Place) -> tuple[dict[int, str], str]:
        """Run a place's steps; return its tasks' outcomes, and the unknown step that blocks it."""
        graph, facts = place.graph, dict[int, StepFact]()
        data = TemplateData(self.context, place, self.variables[-1], source=self.source)
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
        return task_outcomes(graph, facts), (self.unknown.get(live[0], live[0]) if live else "")

    def _order(self, place: Place, index: int) -> tuple[datetime, int]:
        """Return when a step ended, so that parallel steps write variables as they did then."""
        runs = self.record.attempts.get(place.prefix + place.graph.steps.path(index))
        ended = runs[-1].finished_at if runs else None
        return ended or NEVER, index

    def _step(self, place: Place, data: TemplateData, step: Step) -> StepFact:
        if len(self.verdicts) >= MAX_STEPS or time.monotonic() > self.until:
            raise BacktestTooLarge
        path = place.prefix + step.path
        data.variables = self.variables[-1]
        missing = self._missing(place, data, step)
        if missing is not None:
            self._tell(
                path, BacktestVerdict.NOT_COMPARABLE, VerdictReason.DEPENDS, step, detail=missing
            )
            return self._lost(path, step, missing)
        runs = [run for run in self.record.attempts.get(path, ()) if run.module == step.module]
        try:
            prepared = prepare(data, step, runs[-1].attempt if runs else 1)
        except (TemplateError, PayloadError) as error:
            return self._fails(place, step, runs, replaying.failure_of(error, 0, path))
        if step.container:
            return self._container(place, data, step, runs, prepared)
        if step.inline and step.effect == "none":
            return self._pure(place, data, step, runs, prepared)
        return self._effect(place, data, step, runs, prepared)

    def _skip(self, place: Place, step: Step) -> None:
        path = place.prefix + step.path
        self.source.rows[path] = (path, "SKIPPED", "", None, "", "")
        runs = self.record.attempts.get(path)
        if runs and runs[-1].state != "SKIPPED":
            self.changed.add(path)
            self._tell(
                path,
                BacktestVerdict.DIFFERENT_PATH,
                VerdictReason.GONE,
                step,
                recorded=runs[-1].outcome,
            )
        elif runs:
            self._tell(path, BacktestVerdict.SAME, None, step)

    # Steps with effects: the recorded result, if the inputs are those of the record.

    def _effect(
        self, place: Place, data: TemplateData, step: Step, runs: list[Run], prepared: Prepared
    ) -> StepFact:
        path = place.prefix + step.path
        if not any(run.inputs_hash for run in runs):
            runs = self._moved(step, prepared) or runs
        if not self._matches(data, step, runs, prepared):
            return self._calls(place, step, runs, prepared)
        last = runs[-1]
        if self._credential_of(last) not in (None, step.credential):
            return self._calls(place, step, runs, prepared, VerdictReason.CREDENTIAL)
        if last.state == "SUCCESS" and last.outcome not in ("success", "", *step.outcomes):
            return self._calls(place, step, runs, prepared)
        if last.state not in ("SUCCESS", "SKIPPED", *ENDED_BADLY):
            self._tell(path, BacktestVerdict.NOT_COMPARABLE, VerdictReason.RESULT_MISSING, step)
            return self._lost(path, step, path, waits=True)
        self._tell(path, BacktestVerdict.SAME, None, step, recorded=last.outcome)
        return self._takes(place, step, last)

    def _matches(self, data: TemplateData, step: Step, runs: list[Run], prepared: Prepared) -> bool:
        """Return whether an attempt had these inputs, perhaps with other variables or overrides."""
        hashes = {run.inputs_hash for run in runs if run.inputs_hash}
        if prepared.hash in hashes:
            return True
        states = self.variables[-MAX_STATES:-1][::-1] if step.reads_vars else []
        overrides = [run.overrides for run in runs if run.overrides]
        with suppress(TemplateError, PayloadError):
            for variables in states:
                data.variables = variables
                if prepare(data, step, runs[-1].attempt).hash in hashes:
                    return True
            data.variables = self.variables[-1]
            return any(
                prepare(data, step, runs[-1].attempt, given).hash in hashes for given in overrides
            )
        return False

    def _calls(
        self,
        place: Place,
        step: Step,
        runs: list[Run],
        prepared: Prepared,
        why: VerdictReason = VerdictReason.INPUTS,
    ) -> StepFact:
        """Note a call that was not made then; its result is not known."""
        path = place.prefix + step.path
        last = next((run for run in reversed(runs) if run.inputs_hash), None)
        if last is None:
            found = changes({}, prepared.value)
            self._tell(path, BacktestVerdict.WOULD_CALL, VerdictReason.NEW, step, found=found)
        elif why is VerdictReason.INPUTS and self._is_unsteady(place, step, last):
            # Nothing that it reads has changed, so the record depends on more than its results.
            self._tell(path, BacktestVerdict.NOT_COMPARABLE, VerdictReason.NONDETERMINISTIC, step)
            if runs[-1].state in ("SUCCESS", "SKIPPED", *ENDED_BADLY):
                return self._takes(place, step, runs[-1])
        else:
            found = changes(last.inputs, prepared.value)
            self._tell(
                path, BacktestVerdict.WOULD_CALL, why, step, recorded=last.outcome, found=found
            )
        return self._lost(path, step, path)

    def _is_unsteady(self, place: Place, step: Step, last: Run) -> bool:
        reads = set(replaying.reads_of(place, step))
        told = step.reads_item or step.reads_last or step.histories or last.overrides is not None
        if last.config_hash != step.config_hash or told or reads & self.changed:
            return False
        if step.reads_vars:  # they may be written by any step
            return not self.changed
        return bool(reads)

    def _moved(self, step: Step, prepared: Prepared) -> list[Run]:
        """Return the record of the same call under a path that this version does not have."""
        found = self.elsewhere.get((step.module, prepared.hash))
        if not found:
            return []
        path = found.pop(0)
        self._tell(path, BacktestVerdict.SAME, None, step)
        return self.record.attempts[path]

    def _by_call(self) -> dict[tuple[str, str], list[str]]:
        """Return the steps of the record that this version does not have, by their calls."""
        found: dict[tuple[str, str], list[str]] = {}
        for path, runs in self.record.attempts.items():
            try:
                find(self.version.graph, path)
            except KeyError:
                for key in {(run.module, run.inputs_hash) for run in runs if run.inputs_hash}:
                    found.setdefault(key, []).append(path)
        return found

    def _credential_of(self, run: Run) -> str | None:
        try:
            return find(self.record.version.graph, run.step_path)[1].credential
        except KeyError:
            return None

    # Pure steps: computed.

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
            self._tell(path, BacktestVerdict.NOT_COMPARABLE, VerdictReason.UNAVAILABLE, step)
            return self._lost(path, step, path)
        except (Exception, StepTimeout) as error:
            return self._fails(
                place, step, runs, replaying.failure_of(error, seconds, path), prepared
            )
        assert isinstance(done, replaying.Done)
        outputs = done.result.outputs
        self.source.rows[path] = (path, "SUCCESS", done.result.outcome, outputs, "", "")
        if done.result.variables is not None and step.writes_variables:
            self._write(done.result.variables)
        self._compare(path, step, runs, prepared, done.result.outcome, outputs)
        return StepFact(StepStatus.DONE, done.result.outcome)

    def _compare(
        self,
        path: str,
        step: Step,
        runs: list[Run],
        prepared: Prepared | None,
        outcome: str,
        outputs: Any,
    ) -> None:
        last = runs[-1] if runs else None
        if last is None or last.state == "SKIPPED":
            self.changed.add(path)
            self._tell(
                path, BacktestVerdict.DIFFERENT_PATH, VerdictReason.NEW, step, detail=outcome
            )
        elif last.state in ENDED_BADLY:
            self.changed.add(path)
            self._tell(
                path,
                BacktestVerdict.DIFFERENT_PATH,
                VerdictReason.OUTCOME,
                step,
                recorded="error",
                detail=outcome,
            )
        elif last.state != "SUCCESS":
            self._tell(path, BacktestVerdict.NOT_COMPARABLE, VerdictReason.RESULT_MISSING, step)
        elif (last.outcome or "success") != outcome:
            self.changed.add(path)
            self._tell(
                path, BacktestVerdict.DIFFERENT_PATH, VerdictReason.OUTCOME, step,
                recorded=last.outcome, detail=outcome, found=changes(last.outputs, outputs),
            )  # fmt: skip
        elif is_equal(last.outputs, outputs):
            self._tell(path, BacktestVerdict.SAME, None, step, recorded=last.outcome)
        else:
            self.changed.add(path)
            equal = prepared is not None and last.inputs_hash == prepared.hash
            equal = equal and last.config_hash == step.config_hash
            verdict = BacktestVerdict.NOT_COMPARABLE if equal else BacktestVerdict.DIFFERENT_OUTPUT
            why = VerdictReason.MODULE_CHANGED if equal else VerdictReason.OUTPUT
            found = changes(last.outputs, outputs)
            self._tell(path, verdict, why, step, recorded=last.outcome, found=found)

    # Results that are taken over, failures, and results that are not known.

    def _takes(self, place: Place, step: Step, last: Run) -> StepFact:
        """Use a recorded result."""
        path = place.prefix + step.path
        if last.state == "SKIPPED":
            self.source.rows[path] = (path, "SKIPPED", "", None, "", "")
            return StepFact(StepStatus.SKIPPED)
        if last.state in ENDED_BADLY:
            return self._failed(place, step, last.error, last.error_type)
        outcome = last.outcome or "success"
        self.source.rows[path] = (path, "SUCCESS", outcome, last.outputs, "", "")
        if step.writes_variables and isinstance(last.outputs, Mapping):
            self._write(last.outputs)
        return StepFact(StepStatus.DONE, outcome)

    def _fails(
        self,
        place: Place,
        step: Step,
        runs: list[Run],
        failure: Failure,
        prepared: Prepared | None = None,
    ) -> StepFact:
        """Note a step that would fail, unless its record failed for the same inputs as well."""
        path = place.prefix + step.path
        wanted = prepared.hash if prepared is not None else ""
        failed = any(run.state in ENDED_BADLY and run.inputs_hash in (wanted, "") for run in runs)
        if failed:
            self._tell(path, BacktestVerdict.SAME, None, step, recorded="error")
            if runs[-1].state in ("SUCCESS", "SKIPPED"):  # by hand: a given result, or a skip
                return self._takes(place, step, runs[-1])
        else:
            self.changed.add(path)
            recorded = runs[-1].outcome if runs else ""
            self._tell(
                path, BacktestVerdict.DIFFERENT_PATH, VerdictReason.FAILS, step,
                recorded=recorded, detail=failure.message[:500],
            )  # fmt: skip
        return self._failed(place, step, failure.message, failure.error_type)

    def _failed(self, place: Place, step: Step, message: str, kind: str) -> StepFact:
        path = place.prefix + step.path
        if place.graph.tasks[step.task].handles_error or place.graph.guarded:
            self.source.rows[path] = (path, "FAILED", "error", None, message, str(kind))
            self.errors[path] = message, str(kind)
            return StepFact(StepStatus.FAILED_OVER)
        self.dead.append(path)
        return StepFact(StepStatus.DEAD)

    def _lost(self, path: str, step: Step, source: str, *, waits: bool = False) -> StepFact:
        """Mark a result as unknown: the path goes on if the step has only one outcome."""
        self.unknown[path] = source
        self.changed.add(path)
        if step.writes_variables:
            self.unknown_variables = self.unknown_variables or source
        if step.outcomes or waits:
            return StepFact(StepStatus.LIVE)
        return StepFact(StepStatus.DONE, "success")

    def _missing(self, place: Place, data: TemplateData, step: Step) -> str | None:
        """Return the unknown step that this one reads, directly or not; None without one."""
        for path in replaying.reads_of(place, step):
            if path in self.unknown:
                return self.unknown[path]
        if step.reads_vars and self.unknown_variables:
            return self.unknown_variables
        turns: list[Place] = []
        if step.histories:
            turns += [place.turn(index) for index in range(place.index)]
        loop = place.nearest("loop")
        if step.reads_last and loop is not None and loop.index:
            turns.append(loop.turn(loop.index - 1))
        return self._unknown_in(path for turn in turns for path in replaying.last_paths(turn))

    def _unknown_in(self, paths: Any) -> str | None:
        if not self.unknown:
            return None
        return next((self.unknown[path] for path in paths if path in self.unknown), None)

    def _write(self, values: Mapping[str, Any]) -> None:
        known = {name: value for name, value in values.items() if name in self.variables[0]}
        self.variables.append(self.variables[-1] | known)

    # Containers.

    def _container(
        self, place: Place, data: TemplateData, step: Step, runs: list[Run], prepared: Prepared
    ) -> StepFact:
        path, first = place.prefix + step.path, first_turn(place, step.task)
        try:
            if step.container == "map":
                outputs, lost = self._map(first, path, prepared.value)
            else:
                outputs, lost = self._loop(first, step, prepared.value)
        except (StepError, TemplateError, PayloadError) as error:
            failure = replaying.failure_of(error, 0, path)
            return self._fails(place, step, runs, failure)
        if any(one.startswith(first.stem) for one in self.dead):
            return StepFact(StepStatus.LIVE)  # a dead letter holds it open
        if lost is not None:
            self._tell(
                path, BacktestVerdict.NOT_COMPARABLE, VerdictReason.DEPENDS, step, detail=lost
            )
            return self._lost(path, step, lost)
        self.source.rows[path] = (path, "SUCCESS", "success", outputs, "", "")
        self._compare(path, step, runs, None, "success", outputs)
        return StepFact(StepStatus.DONE, "success")

    def _map(self, first: Place, path: str, given: Mapping[str, Any]) -> tuple[Any, str | None]:
        turns = replaying.open_map(first, given)
        if turns is None:
            return [], None
        self.source.lists[path] = given["items"]
        failed: int | None = None
        for index in range(turns.total):
            turn = first.turn(index)
            if failed is not None and not self._is_recorded(turn):
                continue  # a failure stops a map; items that ran beside it are still compared
            outcomes, _ = self._place(turn)
            if replaying.failed_in(turn, outcomes) and not turn.task.tolerant and failed is None:
                failed = index
        if failed is not None:
            raise self._first_failure(first.turn(failed), "item", failed)
        paths = replaying.sink_paths(first, turns.total)
        lost = self._unknown_below(first)
        values = {
            one: self.source.rows[one][3]
            for one in paths
            if one in self.source.rows and self.source.rows[one][1] == "SUCCESS"
        }
        inside = [(one, *error) for one, error in self.errors.items() if one.startswith(first.stem)]
        return replaying.collected(
            first, turns.total, values, inside if first.task.tolerant else ()
        ), lost

    def _loop(self, first: Place, step: Step, given: Mapping[str, Any]) -> tuple[Any, str | None]:
        lost: str | None = None

        def holds(key: str, turn: Place = first, *, ended: bool = False) -> bool:
            data = TemplateData(self.context, turn, self.variables[-1], source=self.source)
            return replaying.holds(data, step.deferred[key], key, ended=ended)

        turns = replaying.open_loop(step, given, holds)
        if turns is None:
            return replaying.empty(step), None
        index = 0
        while True:
            turn = first.turn(index)
            outcomes, blocked = self._place(turn)
            if replaying.failed_in(turn, outcomes):
                raise self._first_failure(turn, "iteration", index)
            index += 1
            if blocked or any(one.startswith(first.stem) for one in self.dead):
                return None, blocked or None
            lost = self._unknown_below(first)
            if lost is not None and turns.count is None:
                return None, lost  # its condition may read what is not known
            turns = type(turns)(index - 1, turns.count, turns.most)
            if not replaying.goes_on(step.deferred, turns, partial(holds, turn=turn, ended=True)):
                break
            if turns.count is None and index >= turns.most:
                raise StepError(replaying.too_often(turns.most))
        data = TemplateData(self.context, first, self.variables[-1], source=self.source)
        last = replaying.outputs_of_turn(data, first.turn(index - 1))
        return {"iterations": index, "last": last}, lost

    def _first_failure(self, turn: Place, what: str, index: int) -> StepError:
        for path, (message, _) in self.errors.items():
            if split(path)[0] == turn.prefix:
                return StepError(f"Step {path} of {what} {index} failed: {message}")
        return StepError(f"The body failed in {what} {index}.")

    def _is_recorded(self, turn: Place) -> bool:
        return any(turn.prefix + path in self.record.attempts for path in turn.graph.by_path)

    def _unknown_below(self, first: Place) -> str | None:
        return next(
            (self.unknown[path] for path in self.unknown if path.startswith(first.stem)), None
        )

    # The end.

    def _leftovers(self) -> None:
        """Tell of the recorded steps that were not reached."""
        for path, runs in self.record.attempts.items():
            last = runs[-1]
            if path in self.verdicts or last.state in ("SKIPPED", "CANCELLED"):
                continue
            source = self._source_of(path)
            verdict = BacktestVerdict.NOT_COMPARABLE if source else BacktestVerdict.DIFFERENT_PATH
            why = VerdictReason.DEPENDS if source else VerdictReason.GONE
            self.verdicts[path] = StepVerdict(
                path, verdict, why, last.module, last.outcome, detail=source
            )

    def _source_of(self, path: str) -> str:
        """Return the unknown step because of which a recorded step was not reached, or ""."""
        if not self.unknown:
            return ""
        try:
            find(self.version.graph, path)
        except KeyError:
            return ""  # this version does not have it
        return next(iter(self.unknown.values()))

    def _end(self, whole: Place, outcomes: dict[int, str], blocked: str) -> None:
        """Compare the state in which the execution ends, and its output."""
        state, graph = self.record.execution.state, self.version.graph
        if blocked or (self.unknown and not self.dead):
            missing = self._unknown_in(
                path for task in graph.output_reads for path in replaying.task_paths(whole, task)
            )
            if blocked or missing or state == "FAILED":
                detail = blocked or missing or next(iter(self.unknown.values()))
                self.verdicts[""] = StepVerdict(
                    "", BacktestVerdict.NOT_COMPARABLE, VerdictReason.DEPENDS, detail=detail
                )
                return
        ends = "FAILED" if self.dead else "SUCCESS"
        output: Any = None
        if ends == "SUCCESS" and graph.output is not None:
            try:
                output = self._output(whole)
            except (TemplateError, PayloadError):
                ends = "FAILED"
        self.verdicts[""] = self._end_verdict(state, ends, output)

    def _end_verdict(self, state: str, ends: str, output: Any) -> StepVerdict:
        if state in ("SUCCESS", "FAILED") and state != ends:
            return StepVerdict(
                "",
                BacktestVerdict.DIFFERENT_PATH,
                VerdictReason.OUTCOME,
                recorded=state,
                detail=ends,
            )
        if state not in ("SUCCESS", "FAILED"):
            return StepVerdict("", BacktestVerdict.NOT_COMPARABLE, VerdictReason.RESULT_MISSING)
        if ends == "SUCCESS" and not is_equal(self.record.output, output):
            found = changes(self.record.output, output)
            return StepVerdict(
                "", BacktestVerdict.DIFFERENT_OUTPUT, VerdictReason.OUTPUT, changes=found
            )
        return StepVerdict("", BacktestVerdict.SAME)

    def _output(self, whole: Place) -> Any:
        graph = whole.graph
        assert graph.output is not None
        data = TemplateData(self.context, whole, self.variables[-1], source=self.source)
        reads = [p for task in graph.output_reads for p in replaying.task_paths(whole, task)]
        data.learn(self.source.results(None, reads))
        value = graph.output.render(
            {
                "input": self.context.input,
                "vars": self.variables[-1],
                "tasks": data.results,
                "execution": replaying.described(self.context, graph, 1),
            }
        )
        payloads.dump(value, "output of the workflow")
        return value

    def _tell(
        self,
        path: str,
        verdict: BacktestVerdict,
        why: VerdictReason | None,
        step: Step,
        *,
        recorded: str = "",
        detail: str = "",
        found: tuple[Any, ...] = (),
    ) -> None:
        self.verdicts[path] = StepVerdict(path, verdict, why, step.module, recorded, detail, found)
