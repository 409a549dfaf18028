"""Tests of the steps with external effects that run again, and of definitions' differences."""

from typing import Any

import pytest

from tests.support.compiled import graph_of
from tests.support.workflows import effect, task
from valkyr_plugins.redrive import side_effects
from valkyr_plugins.redrive.preview import changes

BODY = {"tasks": [effect("draft"), task("count"), effect("check", "count")]}
DOCUMENT: dict[str, Any] = {
    "tasks": [
        effect("first"),
        task("quiet", after="first"),
        effect("last", "quiet"),
        effect("aside", "first"),
        {
            "id": "each",
            "use": "flow.map",
            "after": "quiet",
            "with": {"items": [1, 2]},
            "body": BODY,
        },
    ]
}
LOOP: dict[str, Any] = {
    "tasks": [
        {
            "id": "refine",
            "use": "flow.loop",
            "with": {"maxIterations": 3, "until": "{{ tasks.check.output }}"},
            "body": BODY,
        },
        effect("after", "refine"),
    ]
}


def steps(found: list[side_effects.Outside]) -> set[str]:
    return {outside.step for outside in found}


def test_a_step_alone_runs_again_by_itself() -> None:
    graph = graph_of(DOCUMENT)

    assert side_effects.of_step(graph, "last.main") == [
        side_effects.Outside("last.main", "test.effect", "idempotent")
    ]
    assert side_effects.of_step(graph, "quiet.main") == []
    assert steps(side_effects.of_step(graph, "each[1].draft.main")) == {"each[].draft.main"}
    with pytest.raises(KeyError):
        side_effects.of_step(graph, "gone.main")


def test_from_a_step_on_all_that_follows_runs_again() -> None:
    graph = graph_of(DOCUMENT)
    inside = {"each[].draft.main", "each[].check.main"}

    assert steps(side_effects.from_step(graph, "quiet.main")) == {"last.main", *inside}
    assert steps(side_effects.from_step(graph, "first.main")) == {
        "first.main", "last.main", "aside.main", *inside,
    }  # fmt: skip
    assert steps(side_effects.from_step(graph, "each[0].count.main")) == {"each[].check.main"}


def test_in_a_loop_the_steps_before_come_again_with_the_next_turn() -> None:
    graph = graph_of(LOOP)

    assert steps(side_effects.from_step(graph, "refine[2].check.main")) == {
        "refine[].draft.main", "refine[].check.main", "after.main",
    }  # fmt: skip


def test_a_whole_execution_runs_everything_again() -> None:
    assert steps(side_effects.of_graph(graph_of(LOOP))) == {
        "refine[].draft.main", "refine[].check.main", "after.main",
    }  # fmt: skip


def test_definitions_are_told_apart_by_task_and_setting() -> None:
    before = {"settings": {"priority": 5}, "tasks": [effect("a"), effect("b"), LOOP["tasks"][0]]}
    body = {"tasks": [effect("draft", seconds=1), effect("new")]}
    after = {
        "settings": {"priority": 6},
        "tasks": [effect("a", seconds=2), LOOP["tasks"][0] | {"body": body}, effect("c")],
    }

    assert changes(before, before) == []
    assert changes(before, after) == [
        "Task a differs in with.",
        "Task b was removed.",
        "Task refine[].draft differs in with.",
        "Task refine[].count was removed.",
        "Task refine[].check was removed.",
        "Task refine[].new is new.",
        "Task c is new.",
        "settings is different.",
    ]
