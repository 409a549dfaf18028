"""Plan an execution from its rows, including each open iteration of each body.

A chord's body, a resume, the sweeper, or a worker that took a segment over, for example, has no
state in memory from which to plan. The caller holds the execution's lock.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from executions.definition.graph.iterations import MapTurns
from executions.definition.graph.model import Graph
from executions.definition.graph.places import Place, first_turn, split
from executions.definition.graph.plan import Plan, StepFact, StepStatus, plan, task_outcomes
from runners import statements
from runners.containers import iterations
from runners.dispatch import messages
from runners.segment import run_rows
from runners.segment.state import SegmentState
from runners.states import LIVE, WaitKind


@dataclass(slots=True)
class Overview:
    """The result of a plan: whether it started anything, and what blocks the execution."""

    moved: bool = False
    live: bool = False  # the workflow's own steps, containers included
    dead: list[str] = field(default_factory=list)  # paths of dead steps
    blocked: list[str] = field(default_factory=list)  # IDs of blocked tasks
    # Outcomes of the workflow's own tasks, by task index.
    outcomes: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Container:
    """A running container, and the state of its open iterations."""

    place: Place  # any iteration of the container
    turns: iterations.Turns
    ended: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    begun: list[int] = field(default_factory=list)
    unstarted: list[int] = field(default_factory=list)
    counted_anew: bool = False  # after a roll-back, reset items do not count as in progress

    @property
    def spare(self) -> tuple[int, ...]:
        """Return the items of a map that workers returned unstarted; they wait to start again."""
        return self.turns.spare if isinstance(self.turns, MapTurns) else ()

    @property
    def changed(self) -> bool:
        """Return whether the container's counters change, or items wait although no item runs."""
        idle = not self.turns.places and bool(self.spare)
        return idle or self.counted_anew or bool(self.ended or self.begun or self.unstarted)


def plan_all(state: SegmentState) -> Overview:
    """Start everything that is ready and close every finished iteration.

    Reads the steps with one query per level of nested bodies.
    """
    found = Overview()
    containers: dict[str, _Container] = {}
    level = [Place("", state.context.version.graph)]
    while level:
        facts = _facts(state, level)
        following: list[Place] = []
        for place in level:
            following += _plan_place(state, place, facts[place.prefix], found, containers)
        level = following
    for container in containers.values():
        if container.changed:
            found.moved |= iterations.turn_over(
                state,
                container.place,
                ended=container.ended,
                failed=container.failed,
                begun=container.begun,
                unstarted=container.unstarted,
                counted_anew=container.counted_anew,
            )
    return found


def place_facts(state: SegmentState, place: Place) -> dict[int, StepFact]:
    """Return the state of one place's steps, according to their rows."""
    return dict(facts_of(place.graph, _facts(state, [place])[place.prefix]))


def facts_of(graph: Graph, found: Iterable[tuple[Any, ...]]) -> dict[int, StepFact]:
    """Return the facts of steps, keyed by step index, from rows of (path, state, outcome, …).

    The prefix of a path is ignored. A failed or cancelled step without an outcome has no fact. If a
    step has several rows, a live, successful or skipped run takes precedence.
    """
    facts: dict[int, StepFact] = {}
    for path, state, outcome, *_ in found:
        index = graph.by_path.get(split(path)[1])
        if index is None:
            continue
        if state in LIVE:
            facts[index] = StepFact(StepStatus.LIVE)
        elif state == "SUCCESS":
            facts[index] = StepFact(StepStatus.DONE, outcome)
        elif state == "SKIPPED":
            facts[index] = StepFact(StepStatus.SKIPPED)
        elif state == "FAILED" and outcome == "error":
            facts.setdefault(index, StepFact(StepStatus.FAILED_OVER))
        elif state == "DLQ":
            facts.setdefault(index, StepFact(StepStatus.DEAD))
    return facts


def begin(state: SegmentState, place: Place, planned: Plan) -> bool:
    """Insert the runs that a plan starts or skips; after the commit, send those that it starts.

    Returns whether the plan starts any run.
    """
    graph = place.graph
    parts = [run_rows.pending(graph.steps[index], place.prefix) for index in planned.start]
    parts += [
        run_rows.skipped(graph.steps[graph.tasks[task].steps[0]], place.prefix)
        for task in planned.skip
    ]
    run_rows.insert(state, parts)
    if planned.start:
        messages.publish_after_commit(
            [
                messages.parcel(
                    state.context.execution_id,
                    state.context.version.id,
                    state.context.priority,
                    place,
                    planned.start,
                )
            ]
        )
    return bool(planned.start)


def _facts(state: SegmentState, level: list[Place]) -> dict[str, list[tuple[Any, ...]]]:
    paths = [place.prefix + path for place in level for path in place.graph.by_path]
    by_place: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    if paths:
        found = statements.fetch(
            "step_states",
            {"execution": state.context.execution_id, "epoch": state.context.epoch, "paths": paths},
        )
        for row in found:
            by_place[split(row[0])[0]].append(row)
    return by_place


def _plan_place(
    state: SegmentState,
    place: Place,
    found: list[tuple[Any, ...]],
    overview: Overview,
    containers: dict[str, _Container],
) -> list[Place]:
    """Plan one place; return the open iterations of its containers."""
    facts = facts_of(place.graph, found)
    if place.outer is not None and not facts and place.graph.kind == "map":
        # The item was handed out but never started. Return it, and start it once there is capacity.
        container = containers[place.holder]
        if place.index not in container.spare:
            container.unstarted.append(place.index)
        return []
    if place.outer is not None and place.index in containers[place.holder].spare:
        containers[place.holder].begun.append(place.index)
    planned = plan(place.graph, facts)
    overview.moved |= begin(state, place, planned)
    overview.dead += [place.prefix + place.graph.steps.path(index) for index in planned.dead]
    if place.outer is None:
        overview.live = planned.live or bool(planned.start)
        overview.outcomes = task_outcomes(place.graph, facts)
        overview.blocked = [place.graph.tasks[task].id for task in planned.blocked]
    elif planned.finished and not planned.dead and not planned.blocked:
        container = containers[place.holder]
        container.ended.append(place.index)
        outcomes = task_outcomes(place.graph, facts)
        if iterations.failed_in(place, outcomes):
            container.failed.append(place.index)
    return [
        turn
        for path, run_state, _, waits_for, progress, run_id in found
        if run_state == "WAITING" and waits_for == WaitKind.BODY
        for turn in _open_turns(state, place, path, progress, run_id, containers)
    ]


def _open_turns(
    state: SegmentState,
    place: Place,
    path: str,
    progress: Any,
    run_id: UUID,
    containers: dict[str, _Container],
) -> list[Place]:
    graph = place.graph
    first = first_turn(place, graph.steps[graph.by_path[split(path)[1]]].task)
    turns = iterations.read_turns(state, first, run_id, progress)
    containers[path] = container = _Container(first, turns, counted_anew=progress is None)
    return [first.turn(index) for index in (*turns.places, *container.spare)]
