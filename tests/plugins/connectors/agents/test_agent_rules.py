"""Publishing rejects invalid agents, and writes the loop of valid ones."""

from typing import Any
from uuid import UUID

import pytest

from executions.definition.catalog import catalog
from executions.definition.graph.compile import compile_graph
from executions.definition.graph.resolve import resolve
from executions.definition.graph.validation import problems


def document(*, body: Any = None, around: Any = None, **given: Any) -> dict[str, Any]:
    tasks = [{"id": "find", "use": "flow.noop", "with": {"value": "{{ item.arguments }}"}}]
    agent: dict[str, Any] = {
        "id": "clerk",
        "use": "llm.agent",
        "with": {"model": "m", "prompt": "p", "tools": [{"name": "find"}], **given},
        "body": body or {"tasks": tasks},
    }
    loop = {"id": "again", "use": "flow.loop", "with": {"count": 2}, "body": {"tasks": [agent]}}
    return {"schema": "valkyr/1", "name": "w", "tasks": [loop if around else agent]}


def codes(definition: dict[str, Any]) -> list[str]:
    return [one.code for one in problems(definition, catalog())]


def test_an_agent_with_a_described_tool_can_be_published() -> None:
    assert codes(document()) == []


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"tools": [{"name": "find"}, {"name": "sell"}]}, "no_task"),
        ({"tools": []}, "not_a_tool"),
        ({"tools": [{"name": "find"}, {"name": "find"}]}, "duplicate_tool"),
        ({"approve": ["sell"]}, "no_task"),
        ({"tools": "{{ input.tools }}"}, "template_not_allowed"),
        ({"maxTurns": 0}, "value"),
        ({"unknown": 1}, "unknown_key"),
    ],
)
def test_a_mistake_in_an_agent_is_named(given: dict[str, Any], code: str) -> None:
    found = problems(document(**given), catalog())

    assert code in [one.code for one in found]
    assert all(one.path.startswith("tasks[0]") for one in found)


def test_tools_are_not_connected_and_not_named_as_outcomes() -> None:
    tasks = [
        {"id": "find", "use": "flow.noop"},
        {"id": "sell", "use": "flow.noop", "after": "find"},
    ]
    tools = [{"name": "find"}, {"name": "sell"}]
    reserved = {"tasks": [{"id": "invalid", "use": "flow.noop"}]}

    assert codes(document(body={"tasks": tasks}, tools=tools)) == ["tools_connected"]
    assert codes(document(body=reserved, tools=[{"name": "invalid"}])) == ["reserved"]


def test_a_prompt_cannot_read_the_loop_around_the_agent() -> None:
    assert codes(document(around=True, prompt="{{ loop.index }}")) == ["not_in_agent"]
    assert codes(document(around=True, prompt="{{ input.text }}")) == []


def test_the_written_steps_do_not_hide_tasks_that_the_tools_read() -> None:
    definition = document()
    definition["tasks"][0]["after"] = "model"
    definition["tasks"].insert(0, {"id": "model", "use": "flow.noop"})
    tool = definition["tasks"][1]["body"]["tasks"][0]
    tool["with"] = {"value": "{{ tasks.model.output }}"}
    assert codes(definition) == []

    graph = compile_graph(resolve(definition, catalog()), UUID(int=1))

    body = graph.tasks[1].body
    assert body is not None
    assert [task.id for task in body.tasks] == ["model_", "calls", "turn"]
    calls = body.tasks[1].body
    assert calls is not None
    find = calls.steps[calls.by_path["find.main"]]
    assert find.outer_reads == {(2, 0)}, "the task `model` of the workflow, two bodies out"
