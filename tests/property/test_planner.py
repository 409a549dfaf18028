"""The planner compared with a sequential interpreter, on random graphs and an unreliable queue.

Steps are facts in a dictionary. Messages are lost, duplicated and reordered. Workers decide with
`settle` from what they know, and a sweeper with `plan` from all rows; containers keep their
counters of iterations and items. Each run ends in the state and with the tasks that the interpreter
computes, and no step starts before its predecessors settled.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executions.definition.catalog import catalog
from executions.definition.graph.compile import compile_graph
from executions.definition.graph.document import normalise
from executions.definition.graph.iterations import LoopTurns, MapTurns
from executions.definition.graph.model import Graph
from executions.definition.graph.places import Place, find, place_of, within
from executions.definition.graph.plan import (
    SKIPPED,
    Plan,
    Readiness,
    StepFact,
    StepStatus,
    plan,
    readiness,
    settle,
    task_outcomes,
)
from executions.definition.graph.resolve import resolve
from executions.definition.graph.validation import problems
from tests.support import modules
from tests.support.graphs import ERROR, Drawn, draw
from tests.support.interpreter import Story

WORKFLOW = UUID(int=8)
SETTINGS = settings(max_examples=300, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def compiled(drawn: Drawn) -> Graph:
    modules.register()
    return compile_graph(resolve(normalise(drawn.document), catalog()), WORKFLOW)


@SETTINGS
@given(seed=seeds)
def test_what_is_drawn_can_be_published(seed: int) -> None:
    modules.register()
    drawn = draw(Random(seed), most=8, depth=3, waits=0.1)
    assert problems(drawn.document, catalog()) == []


class Queue:
    """One execution: the facts of its steps by place, and messages that name steps."""

    def __init__(self, graph: Graph, drawn: Drawn, rng: Random) -> None:
        self.graph = graph
        self.document = drawn.document
        told = drawn.whole_story()
        self.ends = told.ends
        self.sizes = told.sizes
        self.rng = rng
        self.facts: dict[str, dict[int, StepFact]] = defaultdict(dict)
        self.turns: dict[str, LoopTurns | MapTurns] = {}
        self.messages: list[str] = []
        self.ran: list[str] = []
        self.most_open: dict[str, int] = {}

    def begin(self, place: Place, steps: list[int]) -> None:
        facts = self.facts[place.prefix]
        for index in steps:
            # The partial unique index of the real table: one live or successful run per step.
            path = place.prefix + place.graph.steps[index].path
            assert index not in facts, f"{path} was started twice"
            facts[index] = StepFact(StepStatus.LIVE)
            chance = self.rng.random()
            self.messages += [path] * (0 if chance < 0.2 else 2 if chance < 0.35 else 1)

    def skip(self, place: Place, tasks: list[int]) -> None:
        for task in tasks:
            first = place.graph.tasks[task].steps[0]
            assert first not in self.facts[place.prefix]
            self.facts[place.prefix][first] = StepFact(StepStatus.SKIPPED)

    def deliver(self) -> None:
        """Deliver a random message; run its step if it is live, and plan what follows."""
        path = self.messages.pop(self.rng.randrange(len(self.messages)))
        place, step = find(self.graph, path)
        if self.facts[place.prefix][step.index].status is not StepStatus.LIVE:
            return
        if path in self.turns:
            return
        self._assert_ready(place, step.index)
        self.ran.append(path)
        if step.container and path in self.sizes:
            self._open(place, step.index)
        else:
            self._end(place, step.index, self.ends[path])

    def _end(self, place: Place, index: int, end: str) -> None:
        step = place.graph.steps[index]
        facts = self.facts[place.prefix]
        task = place.graph.tasks[step.task]
        if end == ERROR and not (task.handles_error or place.graph.guarded):
            facts[index] = StepFact(StepStatus.DEAD)
        elif end == ERROR:
            facts[index] = StepFact(StepStatus.FAILED_OVER)
            self._follow(place, step.task)
        else:
            facts[index] = StepFact(StepStatus.DONE, end)
            if step.following is None:
                self._follow(place, step.task)
            elif self.rng.random() < 0.9:  # else the worker ends, and the sweeper plans it
                self.begin(place, [step.following])

    def _follow(self, place: Place, task: int) -> None:
        """Plan what follows a completed step; sometimes the worker ends before that."""
        if self.rng.random() < 0.1:
            return
        facts = self.facts[place.prefix]
        settlement = settle(place.graph, task_outcomes(place.graph, facts), [task])
        self.begin(place, [place.graph.tasks[index].steps[0] for index in settlement.ready])
        self.skip(place, settlement.skipped)
        if self.rng.random() < 0.9:
            self._close(place)

    def _open(self, place: Place, index: int) -> None:
        """Begin a container: enter its first places."""
        step = place.graph.steps[index]
        path = place.prefix + step.path
        entered: tuple[int, ...]
        if step.container == "loop":
            self.turns[path] = LoopTurns(0, count=self.sizes[path])
            entered = (0,) if self.sizes[path] else ()
        else:
            turns = MapTurns(self.sizes[path], self._wide(path))
            self.turns[path], entered = turns.handed_out(turns.free)
        if entered:
            self._enter(place, step.task, entered)
        else:
            self._end(place, index, self.ends[path])

    def _wide(self, path: str) -> int:
        return int(_task(self.document, path)["with"].get("maxConcurrency", 100))

    def _enter(self, outer: Place, container: int, indexes: tuple[int, ...]) -> None:
        """Begin places of a container; sometimes the worker ends before their steps are sent."""
        for index in indexes:
            place = within(outer, container, index)
            assert place.prefix not in self.facts
            self.facts[place.prefix] = {}
            self.begin(place, [place.graph.tasks[task].steps[0] for task in place.graph.roots])

    def _close(self, place: Place) -> None:
        """Continue or end the container when the last task of a body has ended."""
        if place.outer is None:
            return
        facts = self.facts[place.prefix]
        planned = plan(place.graph, facts)
        if not planned.finished or planned.skip or planned.blocked or planned.dead:
            return
        failed = any(
            fact.status is StepStatus.FAILED_OVER and not _handled(place.graph, index)
            for index, fact in facts.items()
        )
        turns = self.turns[place.holder]
        holder = place.task.steps[0]
        if place.index not in turns.places or not self._waits(place.outer, holder):
            return
        if isinstance(turns, LoopTurns):
            following = turns.index + 1
            if failed or following == turns.count:
                self._end(place.outer, holder, self.ends[place.holder])
            else:
                self.turns[place.holder] = replace(turns, index=following)
                self._enter(place.outer, place.container, (following,))
            return
        turns = turns.closed([place.index])
        if failed and not place.task.tolerant:
            turns = replace(turns, failed=place.index)
        given: tuple[int, ...] = ()
        if not self._holds_a_dead_step(place):
            turns, given = turns.handed_out(turns.free)
        self.turns[place.holder] = turns
        self._enter(place.outer, place.container, given)
        most = max(self.most_open.get(place.holder, 0), len(turns.open))
        self.most_open[place.holder] = most
        if turns.over:
            self._end(place.outer, holder, self.ends[place.holder])

    def _waits(self, outer: Place, holder: int) -> bool:
        return self.facts[outer.prefix][holder].status is StepStatus.LIVE

    def _holds_a_dead_step(self, place: Place) -> bool:
        return any(
            fact.status is StepStatus.DEAD
            for prefix, facts in self.facts.items()
            if prefix.startswith(place.stem)
            for fact in facts.values()
        )

    def sweep(self) -> Plan:
        """Plan every place completely, and resend live steps without a message."""
        for prefix in sorted(self.facts, key=len, reverse=True):
            place = place_of(self.graph, prefix)
            self._plan(place)
            self._close(place)
        if not self.messages:
            self.messages = [*self._live()]
        return self._plan(Place("", self.graph))

    def _plan(self, place: Place) -> Plan:
        planned = plan(place.graph, self.facts[place.prefix])
        self.begin(place, planned.start)
        self.skip(place, planned.skip)
        return planned

    def _live(self) -> Iterator[str]:
        """Yield the steps that wait for a worker."""
        for prefix, facts in self.facts.items():
            graph = place_of(self.graph, prefix).graph
            for index, fact in facts.items():
                path = prefix + graph.steps[index].path
                if fact.status is StepStatus.LIVE and path not in self.turns:
                    yield path

    def _assert_ready(self, place: Place, index: int) -> None:
        step = place.graph.steps[index]
        facts = self.facts[place.prefix]
        if step.previous is not None:
            assert facts[step.previous].status is StepStatus.DONE
        else:
            outcomes = task_outcomes(place.graph, facts)
            assert readiness(place.graph.tasks[step.task], outcomes) is Readiness.READY


@pytest.mark.parametrize("depth", [0, 3])
@SETTINGS
@given(seed=seeds)
def test_every_run_ends_as_the_interpreter_says(seed: int, depth: int) -> None:
    rng = Random(seed)
    drawn = draw(rng, most=8 if depth else 20, depth=depth)
    graph = compiled(drawn)
    queue = Queue(graph, drawn, rng)
    queue.begin(Place("", graph), [graph.tasks[task].steps[0] for task in graph.roots])
    for _ in range(50 * len(queue.ends) + 50):
        if queue.messages and rng.random() < 0.85:
            queue.deliver()
            continue
        planned = queue.sweep()
        if not queue.messages:
            break
    assert not queue.messages, "it did not end"
    story = drawn.story(queue.facts.__contains__)
    assert planned.finished == (not story.stuck)
    assert bool(story.dead | story.stuck) or not planned.blocked
    _compare(graph, queue, story)


def _compare(graph: Graph, queue: Queue, story: Story) -> None:
    skipped, ended, dead = set(), {}, set()
    for prefix, facts in queue.facts.items():
        inner = place_of(graph, prefix).graph
        for task, outcome in task_outcomes(inner, facts).items():
            name = prefix + inner.tasks[task].id
            if outcome == SKIPPED:
                skipped.add(name)
            else:
                ended[name] = outcome
        dead |= {
            prefix + inner.steps[index].path
            for index, fact in facts.items()
            if fact.status is StepStatus.DEAD
        }
    assert skipped == story.skipped
    assert ended == story.outcomes
    assert dead == story.dead
    assert set(queue.ran) == story.ran()
    assert len(set(queue.ran)) == len(queue.ran), "no step ran twice"
    for path, most in queue.most_open.items():
        assert most <= queue._wide(path)


def _handled(graph: Graph, index: int) -> bool:
    return graph.tasks[graph.steps[index].task].handles_error


def _task(document: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """Return the task of a step's path, in the plain document."""
    names = re.sub(r"\[\d+\]", "", path).split(".")[:-1]
    body = document
    for name in names:
        task = next(task for task in body["tasks"] if task["id"] == name)
        body = task.get("body", {})
    return task


@SETTINGS
@given(seed=seeds)
def test_what_settles_step_by_step_is_what_a_whole_plan_says(seed: int) -> None:
    rng = Random(seed)
    drawn = draw(rng, most=20)
    graph = compiled(drawn)
    story = drawn.story()
    ended = {
        graph.task_by_id[name]: outcome
        for name, outcome in story.outcomes.items()
        if rng.random() < 0.7
    }
    facts: dict[int, StepFact] = {}
    for task, outcome in ended.items():
        for index in graph.tasks[task].steps:
            failed = story.ends[graph.steps[index].path] == ERROR
            status = StepStatus.FAILED_OVER if failed else StepStatus.DONE
            facts[index] = StepFact(status, outcome)
            if failed:
                break
    whole = plan(graph, facts)
    outcomes = task_outcomes(graph, facts)
    # A plan also starts roots, which no task precedes.
    roots = {task for task in graph.roots if task not in outcomes}
    settlement = settle(graph, outcomes, list(ended))
    started = {graph.steps[index].task for index in whole.start} - roots
    assert set(settlement.ready) == started
    assert set(settlement.skipped) == set(whole.skip)
    assert set(settlement.unsettled) <= set(whole.blocked)
