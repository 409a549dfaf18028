"""A document becomes Python source, and tracing the source gives an equal graph."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from executions.definition.catalog import catalog
from executions.definition.graph.document import load_text
from executions.definition.graph.resolve import checksum, resolve
from tests.support.equal_graphs import graph_of
from tests.support.graphs import draw
from valkyr_plugins.python_workflows.source.export import python_source
from valkyr_plugins.python_workflows.workflow import DECLARED, PythonWorkflow

EXAMPLES = Path(__file__).parents[3] / "examples"
WRITTEN = sorted(EXAMPLES.glob("*/*.yaml"))


def traced(source: str) -> dict[str, Any]:
    """Return the document of the only workflow that the source declares."""
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(source, "exported.py", "exec"), names)
    (found,) = (one for one in names.values() if isinstance(one, PythonWorkflow))
    DECLARED.remove(found)
    return found.definition


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_each_example_is_the_same_graph_as_source(path: Path) -> None:
    document = load_text(path.read_text(), content_type="yaml")

    assert graph_of(traced(python_source(document))) == graph_of(document)


@pytest.mark.parametrize("seed", range(60))
def test_any_graph_is_the_same_as_source(seed: int) -> None:
    document = draw(Random(seed), depth=seed % 4, waits=0.3, steps=60, undo=seed % 2 == 0).document

    assert graph_of(traced(python_source(document))) == graph_of(document)


@pytest.mark.parametrize(
    "empty", [{"input": {}}, {"description": ""}, {"output": {}}, {"output": ""}], ids=str
)
def test_what_is_said_to_be_empty_stays_so(empty: dict[str, Any]) -> None:
    tasks = [{"id": "a", "use": "flow.noop"}]
    document = {"schema": "valkyr/1", "name": "empty", "tasks": tasks, **empty}

    assert graph_of(traced(python_source(document))) == graph_of(document)


@pytest.mark.parametrize(
    "empty",
    [{"variables": {}}, {"settings": {}}, {"triggers": []}, {"settings": {"onFailure": None}}],
    ids=str,
)
def test_what_is_empty_and_left_out_runs_alike(empty: dict[str, Any]) -> None:
    tasks = [{"id": "a", "use": "flow.noop", "with": {}}]
    document = {"schema": "valkyr/1", "name": "empty", "tasks": tasks, **empty}

    made = traced(python_source(document))
    assert checksum(resolve(made, catalog())) == checksum(resolve(document, catalog()))


def test_names_that_python_has_words_for_stay_what_they_are() -> None:
    document = {
        "schema": "valkyr/1",
        "name": "Words & names",
        "tasks": [
            {"id": "if", "use": "flow.noop", "with": {"value": {"for": "{{ input['a b'] }}"}}},
            {"id": "2nd-try", "use": "data.set", "with": {"X-Odd": 1, "with": 2, "a_": 3}},
            {"id": "each", "use": "flow.noop", "name": "Say \"no\"", "after": "2nd-try:error"},
        ],
        "triggers": [{"type": "WEBHOOK"}, {"type": "CRON", "schedule": "0 0 * * *"}],
        "output": {"quote": "a \"b\" \\ c\nd"},
    }  # fmt: skip
    found = traced(python_source(document, "words"))

    assert sorted(one["type"] for one in found.pop("triggers")) == ["CRON", "WEBHOOK"]
    assert graph_of(found) == graph_of({k: v for k, v in document.items() if k != "triggers"})


def test_templates_become_handles_where_these_mean_the_same() -> None:
    reads = {
        "path": "{{ tasks.paid.output.body['a b'][0].number }}",
        "text": "Order {{ input.id }} of {{ vars.shop }}",
        "sum": "{{ input.total * 100 + tasks.paid.output.fee }}",
        "same": '{{ input.country == "DE" }}',
        "filter": "{{ input.total | round }}",
        "choice": "{{ 1 if input.total else 2 }}",
        "hidden": "{{ input._private }}",
    }
    document = {
        "schema": "valkyr/1",
        "name": "reading",
        "input": {"type": "object"},
        "variables": {"shop": "tea"},
        "tasks": [
            {"id": "paid", "use": "data.set", "with": {"values": {"fee": 1}}},
            {"id": "told", "use": "data.set", "with": {"values": reads}, "after": "paid"},
        ],
        "output": {"fee": "{{ tasks.paid.output.fee }}"},
    }
    source = python_source(document)

    for wanted in (
        "\"path\": paid.body['a b'][0].number",
        '"text": f"Order {payload.id} of {variable.shop}"',
        '"sum": payload.total * 100 + paid.fee',
        "\"same\": payload.country == 'DE'",
        '"filter": "{{ input.total | round }}"',
        '"choice": "{{ 1 if input.total else 2 }}"',
        '"hidden": "{{ input._private }}"',
        'return {"fee": paid.fee}',
    ):
        assert wanted in source
    assert "after=" not in source  # if what `told` reads contains it
    assert graph_of(traced(source)) == graph_of(document)


def agent_with(tools: list[Any], tasks: list[Any], **given: Any) -> dict[str, Any]:
    """Return a document with an agent, which runs after a task that lists tools."""
    config = {"model": "m", "prompt": "Ask {{ input.who }}", "tools": tools, **given}
    clerk = {"id": "clerk", "use": "llm.agent", "with": config, "body": {"tasks": tasks}}
    shop = {"id": "shop", "use": "mcp.tools", "with": {"url": "https://mcp.example.com/mcp"}}
    return {
        "schema": "valkyr/1", "name": "desk", "input": {"type": "object"},
        "tasks": [shop, {"after": "shop", **clerk}], "output": "{{ tasks.clerk.output.text }}",
    }  # fmt: skip


def test_an_agent_is_written_with_its_tools_as_functions() -> None:
    number = {"type": "object", "properties": {"number": {"type": "integer"}}}
    called = {"url": "https://mcp.example.com/mcp", "tool": "{{ item.name }}"}
    inner = {"model": "m", "prompt": "{{ item.arguments.topic }}", "tools": [{"name": "look"}]}
    document = agent_with(
        [
            {"name": "find", "task": "find-it", "description": "Finds.", "parameters": number},
            {"name": "both"},
            {"name": "ask"},
        ],
        [
            {"id": "find-it", "name": "Find it", "use": "data.set", "retry": "patient",
             "with": {"values": {"n": "{{ item.arguments.number }}", "id": "{{ item.id }}"}}},
            {"id": "both", "modules": [
                {"id": "one", "use": "flow.noop"},
                {"id": "two", "use": "flow.noop", "with": {"value": "{{ input.who }}"}},
            ]},
            {"id": "ask", "use": "llm.agent", "with": inner,
             "body": {"tasks": [{"id": "look", "use": "flow.noop"}]}},
            {"id": "shops", "use": "mcp.call", "with": called},
        ],
        toolsets=[{"task": "shops", "tools": "{{ tasks.shop.output.tools }}"}],
        approve=["find-it", "shops"], approvers=["ADMIN"], approvalSeconds=60, maxTurns=4,
        outputSchema=number, timeoutSeconds=20,
    )  # fmt: skip

    assert graph_of(traced(python_source(document))) == graph_of(document)


def test_tools_that_share_a_task_are_refused_and_not_written_as_something_else() -> None:
    tools = [{"name": "find"}, {"name": "look", "task": "find"}]
    document = agent_with(tools, [{"id": "find", "use": "flow.noop"}])

    with pytest.raises(ValueError, match="two tools of the agent 'clerk' share a task"):
        python_source(document)


def test_tasks_that_wait_for_each_other_are_named() -> None:
    tasks = [
        {"id": "a", "use": "flow.noop", "after": "b"},
        {"id": "b", "use": "flow.noop", "after": "a"},
    ]

    with pytest.raises(ValueError, match="a, b wait for each other"):
        python_source({"schema": "valkyr/1", "name": "round", "tasks": tasks})
