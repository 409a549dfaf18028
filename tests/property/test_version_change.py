"""Executions at random points of random workflows are moved to changed versions of them.

An execution that may move ends in the new version without a blocked step, and no step that ended or
waits is started again.
"""

from random import Random
from typing import Any
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from executions.definition.graph.compile import compile_graph
from executions.definition.graph.document import normalise
from executions.definition.graph.model import Graph
from executions.definition.graph.plan import StepFact, StepStatus, plan
from executions.definition.graph.resolve import resolve
from executions.definition.graph.version_change import ReachedStep, VersionPair, judge
from tests.unit.graph.catalog import CATALOG, definition, noop

WORKFLOW = UUID(int=7)
SETTINGS = settings(max_examples=300, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def graph(tasks: list[dict[str, Any]]) -> Graph:
    return compile_graph(resolve(normalise(definition(tasks)), CATALOG), WORKFLOW)


def drawn(rng: Random, names: list[str]) -> list[dict[str, Any]]:
    """Return tasks in an order, each after some of the tasks before it."""
    tasks = []
    for number, name in enumerate(names):
        after = rng.sample(names[:number], rng.randint(0, min(number, 2)))
        more = {"after": after, "join": rng.choice(["all", "any"])} if after else {}
        tasks.append(noop(name, **more))
    return tasks


def changed(rng: Random, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the same tasks without some, and with new ones at any position."""
    kept = [task for task in tasks if rng.random() < 0.85]
    there = {task["id"] for task in kept}
    made: list[dict[str, Any]] = []
    for task in kept:
        after = [name for name in task.get("after", []) if name in there]
        if rng.random() < 0.2:
            new = f"new{len(made)}"
            before = [one["id"] for one in made]
            made.append(noop(new, after=[rng.choice(before)]) if before else noop(new))
            if rng.random() < 0.5:
                after = [*after, new]
        made.append({"id": task["id"], "use": task["use"], **({"after": after} if after else {})})
    return made or [noop("only")]


def progressed(rng: Random, graph: Graph) -> dict[int, StepFact]:
    """Return the steps of an execution after some of them have ended."""
    facts: dict[int, StepFact] = {}
    for _ in range(rng.randint(0, 2 * len(graph.tasks))):
        planned = plan(graph, facts)
        for task in planned.skip:
            facts[graph.tasks[task].steps[0]] = StepFact(StepStatus.SKIPPED)
        facts |= {index: StepFact(StepStatus.LIVE) for index in planned.start}
        live = [index for index, fact in facts.items() if fact.status is StepStatus.LIVE]
        if not live:
            break
        facts[rng.choice(live)] = StepFact(StepStatus.DONE, "success")
    planned = plan(graph, facts)
    return facts | {index: StepFact(StepStatus.LIVE) for index in planned.start}


def rows(graph: Graph, facts: dict[int, StepFact]) -> list[ReachedStep]:
    return [
        ReachedStep(graph.steps.path(index), fact, graph.steps[index].module, bound=True)
        for index, fact in facts.items()
    ]


@SETTINGS
@given(seed=seeds)
def test_an_execution_may_always_move_to_an_equal_version(seed: int) -> None:
    rng = Random(seed)
    old = graph(drawn(rng, [f"t{n}" for n in range(rng.randint(1, 8))]))
    facts = progressed(rng, old)

    found = judge(VersionPair(old, old, 2), rows(old, facts))

    assert found.moves
    assert found.starts == ()


@SETTINGS
@given(seed=seeds)
def test_a_moved_execution_ends_and_repeats_no_step(seed: int) -> None:
    rng = Random(seed)
    tasks = drawn(rng, [f"t{n}" for n in range(rng.randint(1, 8))])
    old, new = graph(tasks), graph(changed(rng, tasks))
    reached = rows(old, progressed(rng, old))
    if not judge(VersionPair(old, new, 2), reached).moves:
        return
    facts = {new.by_path[row.path]: row.fact for row in reached if row.path in new.by_path}
    before = dict(facts)
    live = {row.path for row in reached if row.fact.status is StepStatus.LIVE}
    assert live <= set(new.by_path)

    for _ in range(3 * len(new.tasks) + 3):
        planned = plan(new, facts)
        assert not set(planned.start) & set(facts)
        for task in planned.skip:
            facts[new.tasks[task].steps[0]] = StepFact(StepStatus.SKIPPED)
        facts |= {index: StepFact(StepStatus.LIVE) for index in planned.start}
        running = [index for index, fact in facts.items() if fact.status is StepStatus.LIVE]
        if not running:
            assert planned.finished
            assert not planned.blocked
            break
        facts[rng.choice(running)] = StepFact(StepStatus.DONE, "success")
    else:
        raise AssertionError("it does not end")
    ended = {i: f for i, f in before.items() if f.status is not StepStatus.LIVE}
    assert all(facts[index] == fact for index, fact in ended.items())
