"""Verify an execution against its recorded results, without running a step.

Templates and decisions are computed again. If nothing differs, the execution depended only on its
payload and its steps' results. A difference reveals an error in a version, the engine or a row.
"""

import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.public.errors import NotFound, PayloadError
from executions.public.graphs import (
    SKIPPED,
    Compiled,
    Place,
    Readiness,
    Step,
    compiled,
    find,
    place_of,
    readiness,
    split,
    task_outcomes,
)
from executions.public.models import WorkflowExecution
from executions.public.payload_store import StoredValueBroken, block_around, items_at
from executions.public.sealing import opened
from executions.public.templates import TemplateError
from runners.public.models import Run
from runners.public.rendering import (
    Prepared,
    SegmentContext,
    TemplateData,
    facts_of,
    prepare,
    reads_of,
    results_of,
    task_paths,
)
from runners.public.replaying import render_output
from valkyr_plugins.timetravel.models import Checkpoint
from valkyr_plugins.timetravel.point_in_time import written
from valkyr_plugins.timetravel.restore_points import writers
from valkyr_plugins.timetravel.verification import Verification, require_final

MAX_RUNS = 20_000
CHUNK = 100
MAX_MOMENTS = 50  # maximum states of the variables that a step may have seen


@dataclass(slots=True)
class _Variables:
    """The variables over time: the first state, and a state after each write."""

    times: list[datetime] = field(default_factory=list)
    states: list[dict[str, Any]] = field(default_factory=list)  # one more than `times`

    def between(self, first: datetime, last: datetime) -> Sequence[dict[str, Any]]:
        """Return the states from `first` to `last`, newest first, at most 50."""
        low, high = bisect_right(self.times, first), bisect_right(self.times, last)
        return self.states[max(low, high - MAX_MOMENTS + 1) : high + 1][::-1]


@dataclass(slots=True)
class _Past:
    """A finished execution and the data to render its runs."""

    execution: WorkflowExecution
    version: Compiled
    variables: _Variables
    ready_at: dict[str, datetime]  # time at which each segment became ready
    until: float  # time limit, in `time.monotonic()`
    items: dict[str, Any] = field(default_factory=dict)  # lists of maps, by the maps' step paths
    # A map's step path, and the items in one block of its stored list.
    block: tuple[str, dict[int, Any]] = ("", {})
    # The stored input and variables. Each is loaded once.
    given: dict[tuple[str, ...], tuple[Any, dict[str, Any]]] = field(default_factory=dict)

    def data(self, place: Place, variables: dict[str, Any]) -> TemplateData:
        execution = self.execution
        context = SegmentContext(
            execution.pk,
            self.version,
            execution.epoch,
            execution.priority,
            started_at=execution.started_at,
            input=execution.trigger_payload,
        )
        return TemplateData(context, place, variables, given=self.given)


def verify(execution_id: UUID, *, seconds: float = float("inf")) -> Verification:
    """Render at most 20,000 runs of a finished execution again, and repeat its graph's decisions.

    Compares the inputs, the config and the idempotency key of each attempt, a successful
    execution's variables and output, and, unless there are more runs, which steps ran or were
    skipped. Runs that were copied into a fork are not rendered again. Raises NotFound, WrongState
    if the execution has not ended, and TimeoutError after `seconds`. Requests leave the
    verification to a worker (`verification`).
    """
    until = time.monotonic() + seconds
    execution = WorkflowExecution.objects.filter(pk=execution_id).first()
    if execution is None:
        raise NotFound(f"There is no execution {execution_id}.")
    require_final(execution)
    found = Verification()
    version = compiled(execution.version_id)
    rows = list(
        Run.objects.filter(execution=execution, superseded=False)
        .order_by("attempt", "queued_at")
        .values_list(
            "step_path", "state", "outcome", "id", "segment", "queued_at", "inputs_hash",
            "idempotency_key", "cached_from", "attempt",
        )[: MAX_RUNS + 1]
    )  # fmt: skip
    found.complete = len(rows) <= MAX_RUNS
    ready_at: dict[str, datetime] = {}
    for row in rows:
        ready_at[row[4]] = min(row[5], ready_at.get(row[4], row[5]))
    past = _Past(execution, version, _history(execution, version), ready_at, until)
    brought = {row[3] for row in rows if row[8] is not None and not row[7]}
    rendered = [row[3] for row in rows[:MAX_RUNS] if row[6] and row[3] not in brought]
    for first in range(0, len(rendered), CHUNK):
        _render(past, rendered[first : first + CHUNK], found)
    if found.complete:
        _decide(past, [row[:3] for row in rows], {row[0] for row in rows if _set_aside(row)}, found)
    if execution.state == "SUCCESS":
        _end(past, found)
    return found


def _history(execution: WorkflowExecution, version: Compiled) -> _Variables:
    """Return all states of the variables; the first state of a fork is its checkpoint number 0."""
    graph = version.graph
    first = Checkpoint.objects.filter(execution=execution, sequence=0).first()
    over_time = _Variables(states=[dict(graph.variables) if first is None else first.variables])
    if not graph.variables:
        return over_time
    writes = Run.objects.filter(
        execution=execution,
        superseded=False,
        state="SUCCESS",
        module__in=writers(),
        **({} if first is None else {"finished_at__gt": first.created_at}),
    )
    found = writes.order_by("finished_at", "id").values_list("finished_at", "step_path", "outputs")
    for at, path, stored in found:
        assert at is not None
        outputs = opened(execution.pk, stored, "outputs", path)
        over_time.times.append(at)
        over_time.states.append(written(over_time.states[-1], [outputs], graph.variables.keys()))
    return over_time


def _render(past: _Past, ids: list[UUID], found: Verification) -> None:
    """Render a few runs again and compare them; one query loads all results that they read."""
    steps: list[tuple[Run, Place, Step]] = []
    for run in Run.objects.filter(pk__in=ids).only(
        "step_path", "segment", "attempt", "overrides", "inputs", "inputs_hash", "config_hash",
        "idempotency_key", "queued_at", "started_at",
    ):  # fmt: skip
        try:
            steps.append((run, *find(past.version.graph, run.step_path)))
        except KeyError:
            found.differs(run.step_path, "step", run.step_path, None)
    reads = {path for _, place, step in steps for path in reads_of(place, step)}
    results: dict[str, Any] = {}
    if reads:
        results = {row[0]: row for row in results_of(past.execution.pk, sorted(reads))}
    for run, place, step in steps:
        known = [results[path] for path in reads_of(place, step) if path in results]
        _compare(past, run, place, step, known, found)


def _compare(
    past: _Past, run: Run, place: Place, step: Step, known: list[Any], found: Verification
) -> None:
    found.steps += 1
    prepared: Prepared | None = None
    problem = ""
    for variables in _seen(past, run, step):
        if time.monotonic() > past.until:
            raise TimeoutError
        data = past.data(place, variables)
        data.learn(known)
        try:
            if step.reads_item:
                _learn_item(past, data)
            made = prepare(data, step, run.attempt, run.overrides)
        except (TemplateError, PayloadError, StoredValueBroken) as error:
            problem = problem or str(error)
            continue
        prepared = prepared if prepared is not None and made.hash != run.inputs_hash else made
        if made.hash == run.inputs_hash:
            break
    if prepared is None:
        found.differs(run.step_path, "inputs", run.inputs, f"(cannot be rendered: {problem})")
        return
    if prepared.hash != run.inputs_hash:
        found.compare(run.step_path, "inputs", run.inputs, prepared.value)
        found.differs(run.step_path, "inputsHash", run.inputs_hash, prepared.hash)
    elif run.idempotency_key and prepared.key != run.idempotency_key:
        found.differs(run.step_path, "idempotencyKey", run.idempotency_key, prepared.key)
    if step.config_hash != run.config_hash:
        found.differs(run.step_path, "configHash", run.config_hash, step.config_hash)


def _seen(past: _Past, run: Run, step: Step) -> Sequence[dict[str, Any]]:
    """Return the variable states that a step may have read; only the first if it reads none."""
    if not step.reads_vars:
        return past.variables.states[:1]
    ready = past.ready_at.get(run.segment, run.queued_at)
    return past.variables.between(ready, run.started_at or run.queued_at)


def _learn_item(past: _Past, data: TemplateData) -> None:
    """Load the current map item from the inputs of the container's newest run, in any state."""
    place = data.place.nearest("map")
    if place is None:
        return
    if place.holder not in past.items:
        if len(past.items) >= 8:
            past.items.clear()
        given = (
            Run.objects.filter(execution=past.execution, step_path=place.holder, superseded=False)
            .order_by("-attempt")
            .only("inputs", "execution_id", "step_path")
            .first()
        )
        inputs = given.inputs if given is not None else None
        past.items[place.holder] = inputs.get("items") if isinstance(inputs, dict) else None
    items = past.items[place.holder]
    if isinstance(items, dict):
        holder, block = past.block
        if holder != place.holder or place.index not in block:
            around = block_around(items, place.index)
            block = items_at(past.execution.workspace_id, items, around)
            past.block = place.holder, block
        data.items |= block
    elif isinstance(items, list) and place.index < len(items):
        data.items[place.index] = items[place.index]


def _set_aside(row: tuple[Any, ...]) -> bool:
    """Return whether a row's step was skipped by a user or in the fork's origin, not by the graph.

    A skip by a user is a further attempt that was never claimed, so it has no key.
    """
    state, key, brought, attempt = row[1], row[7], row[8], row[9]
    by_hand = attempt > 1 and not key
    return state == "SKIPPED" and (by_hand or brought is not None)


def _decide(
    past: _Past, rows: list[tuple[Any, ...]], set_aside: set[str], found: Verification
) -> None:
    """Compare the steps that ran or were skipped with the graph's decisions."""
    by_place: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        by_place[split(row[0])[0]].append(row)
    whole_story = past.execution.state in ("SUCCESS", "FAILED")
    for prefix, own in by_place.items():
        try:
            place = place_of(past.version.graph, prefix)
        except KeyError:
            continue  # already reported when its steps were rendered
        told = _disagreements(place, own, set_aside, whole_story=whole_story)
        for path, recorded, replayed in told:
            found.differs(path, "decision", recorded, replayed)


def _disagreements(
    place: Place, rows: list[tuple[Any, ...]], set_aside: set[str], *, whole_story: bool
) -> Iterator[tuple[str, str, str]]:
    graph = place.graph
    outcomes = task_outcomes(graph, facts_of(graph, rows))
    began = {split(row[0])[1] for row in rows}
    for task in graph.tasks:
        if any(place.prefix + graph.steps[index].path in set_aside for index in task.steps):
            continue
        path = graph.steps[task.steps[0]].path
        if outcomes.get(task.index) == SKIPPED:
            recorded = "skipped"
        else:
            recorded = "ran" if path in began else "not begun"
        verdict = readiness(task, outcomes)
        replayed = {
            Readiness.READY: "ran",
            Readiness.SKIP: "skipped",
            Readiness.UNSETTLED: "not begun",
        }[verdict]
        if recorded != replayed and (whole_story or recorded != "not begun"):
            yield place.prefix + path, recorded, replayed


def _end(past: _Past, found: Verification) -> None:
    """Compare a successful execution's variables and output with the replayed ones."""
    execution, graph = past.execution, past.version.graph
    variables = past.variables.states[-1]
    found.compare("", "variables", execution.context_data, variables)
    if graph.output is None:
        return
    place = Place("", graph)
    data = past.data(place, variables)
    reads = [path for task in graph.output_reads for path in task_paths(place, task)]
    if reads:
        data.learn(results_of(execution.pk, reads))
    try:
        output = render_output(data, data.context, variables)
    except (TemplateError, PayloadError) as error:
        found.differs("", "output", execution.output, f"(cannot be rendered: {error})")
        return
    found.compare("", "output", execution.output, output)
