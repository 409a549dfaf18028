"""Agents in Python: tools from steps and functions, code that cannot be traced, and a run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import BaseModel

from executions.publishing.versioning import check
from runners.modules import step_calls
from tests.plugins.python_workflows import flows
from tests.plugins.python_workflows.flows import find_order, give_back
from tests.plugins.python_workflows.pages.shop import blocks
from tests.support.counterparts.agent_model import AgentModel
from valkyr import TracingError, agent, chain, each, modules, repeat, sub, tool, workflow
from valkyr_plugins.python_workflows.workflow import DECLARED


class Decision(BaseModel):
    refunded: bool
    reason: str = ""


def traced(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the definition of a workflow that is not published."""
    made = workflow("traced")(function)
    DECLARED.remove(made)
    found: dict[str, Any] = made.definition
    return found


def the_agent(definition: dict[str, Any]) -> dict[str, Any]:
    (found,) = (task for task in definition["tasks"] if task["use"] == "llm.agent")
    return dict(found)


def clerk(question: str) -> Any:
    answer = agent(
        question,
        model="m",
        tools=[find_order, tool(give_back, approve=True, retry=2, timeout="30s")],
        output=Decision,
        approvers="ADMIN",
        approval_within="1d",
        max_turns=5,
        credential="llm",
        retry=4,
    )
    return {"text": answer.text, "refunded": answer.output.refunded, "calls": answer.tool_calls}


def test_steps_are_tools_with_their_parameters_and_options() -> None:
    definition = traced(clerk)
    found = the_agent(definition)

    assert check(definition) == []
    config, tools = found["with"], found["body"]["tasks"]
    assert (found["id"], found["credential"], found["retry"]) == (
        "answer", "llm", {"maxAttempts": 4},
    )  # fmt: skip
    assert [one["name"] for one in config["tools"]] == ["find_order", "give_back"]
    assert config["tools"][0]["description"] == "Finds an order by its number."
    schema = config["tools"][0]["parameters"]
    assert schema["required"] == ["order_number"]
    assert set(schema["properties"]) == {"order_number", "with_receipt"}
    assert config["tools"][1]["parameters"]["properties"]["number"]["description"]
    assert (config["approve"], config["approvers"]) == (["give_back"], ["ADMIN"])
    assert (config["approvalSeconds"], config["maxTurns"]) == (86_400, 5)
    assert config["outputSchema"]["properties"]["refunded"] == {"type": "boolean"}
    assert [one["id"] for one in tools] == ["find_order", "give_back"]
    assert tools[0]["with"] == {
        "orderNumber": "{{ item.arguments.order_number }}",
        "withReceipt": "{{ item.arguments.with_receipt | default(false) }}",
    }
    assert (tools[1]["retry"], tools[1]["timeoutSeconds"]) == ({"maxAttempts": 2}, 30)
    assert definition["output"] == {
        "text": "{{ tasks.answer.output.text }}",
        "refunded": "{{ tasks.answer.output.output.refunded }}",
        "calls": "{{ tasks.answer.output.toolCalls }}",
    }


def test_functions_are_tools_that_call_one_step() -> None:
    def ship(order: flows.Receipt, express: bool = False) -> None:
        """Ships an order."""
        sub("ship-order")(order=order, express=express)

    def pack(call: Any) -> None:
        with chain():
            modules.data.set(values={"of": call.arguments.number})
            give_back(call.arguments.number)

    def ask(topic: str) -> None:
        """Asks an expert."""
        agent(f"Explain {topic}", model="expert", tools=[find_order])

    def desk(question: str) -> Any:
        shop = modules.mcp.tools(url="https://mcp.example.com/mcp")

        def shops(call: Any) -> None:
            url = "https://mcp.example.com/mcp"
            modules.mcp.call(url=url, tool=call.name, arguments=call.arguments)

        number = {"type": "object", "properties": {"number": {"type": "string"}}}
        return agent(
            question,
            model="m",
            tools=[
                ship,
                ask,
                tool(pack, name="pack_it", description="Packs.", parameters=number),
                tool(shops, listed=shop.tools, approve=True),
            ],
        ).text

    definition = traced(desk)
    found = the_agent(definition)

    assert check(definition) == []
    config, tasks = found["with"], {one["id"]: one for one in found["body"]["tasks"]}
    assert set(tasks) == {"ship", "ask", "pack_it", "shops"}
    assert tasks["ship"]["with"]["input"]["order"] == "{{ item.arguments.order }}"
    assert tasks["ask"]["with"]["prompt"] == "Explain {{ item.arguments.topic }}"
    assert [one["id"] for one in tasks["pack_it"]["modules"]] == ["data_set", "give_back"]
    assert tasks["pack_it"]["modules"][0]["use"] == "data.set"
    assert config["toolsets"] == [{"task": "shops", "tools": "{{ tasks.shop.output.tools }}"}]
    assert [one["name"] for one in config["tools"]] == ["ship", "ask", "pack_it"]
    assert config["approve"] == ["shops"]
    assert found["after"] == "shop"


@pytest.mark.parametrize(
    "given",
    [
        {"parameters": {"type": "object"}},
        {"listed": [{"name": "give_back", "parameters": {"type": "object"}}]},
    ],
)
def test_a_step_that_receives_the_call_keeps_its_options(given: dict[str, Any]) -> None:
    back = tool(give_back, retry=2, timeout="5s", **given)

    found = the_agent(traced(lambda: agent("Return it", model="m", tools=[back])))

    [task] = found["body"]["tasks"]
    assert task["with"] == {"number": "{{ item }}"}
    assert (task["retry"], task["timeoutSeconds"]) == ({"maxAttempts": 2}, 5)


def test_a_model_is_the_whole_of_the_arguments() -> None:
    def ship(order: flows.Receipt) -> None:
        """Ships an order."""
        modules.data.set(values={"cents": order.cents})

    found = the_agent(traced(lambda: agent("Ship it", model="m", tools=[ship])))

    assert set(found["with"]["tools"][0]["parameters"]["properties"]) == {"number", "cents"}
    assert found["body"]["tasks"][0]["with"]["values"] == {"cents": "{{ item.arguments.cents }}"}


def test_the_code_of_the_page_can_be_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_calls, "DECORATED", [])
    names: dict[str, Any] = {"__name__": "shop.clerk"}
    for block in blocks("durable-agents.md"):
        exec(block, names)
    for made in (names["clerk"], names["helper"]):
        DECLARED.remove(made)

        # The page's own step is not installed here.
        problems = [one for one in check(made.definition) if one.code != "unknown_module"]

        assert problems == []
    tools = the_agent(names["clerk"].definition)["with"]["tools"]
    assert [one["name"] for one in tools] == ["find_order", "refund", "weather"]
    assert all(one["description"] and one["parameters"]["required"] for one in tools)


def two_steps(number: str) -> None:
    give_back(number)
    give_back(number)


def no_step(number: str) -> None:
    pass


def test_an_agent_can_be_asked_about_an_item() -> None:
    def desk(orders: list[str]) -> Any:
        return each(orders, lambda order: agent(order, model="m", tools=[give_back]))

    definition = traced(desk)

    assert check(definition) == []
    [made] = definition["tasks"][0]["body"]["tasks"]
    assert made["with"]["prompt"] == "{{ item }}"


def of_an_item_for_each_call(orders: list[str]) -> Any:
    return each(orders, lambda order: agent("Check", model="m", approvers=[order]))


def of_a_turn() -> None:
    with repeat(count=2) as turn:
        agent(turn.previous, model="m", tools=[give_back])


def of_an_item_in_a_tool(orders: list[str]) -> Any:
    def check_one(order: str) -> Any:
        return agent("Check", model="m", tools=[tool(lambda: give_back(order), name="check")])

    return each(orders, check_one)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda: agent("a", model="m", tools=[two_steps]), "'two_steps' must call one step"),
        (lambda: agent("a", model="m", tools=[no_step]), "found 0"),
        (
            lambda: agent("a", model="m", tools=[give_back, give_back]),
            "two tools have the name 'give_back'",
        ),
        (lambda: agent("a", model="m", retries=3), "no option 'retries'"),
        (lambda: agent("a", model="m", tools=[tool(no_step, retry=2)]), "only a step as a tool"),
        (of_an_item_for_each_call, "the item or iteration of an outer map"),
        (of_a_turn, "the item or iteration of an outer loop"),
        (of_an_item_in_a_tool, "the item or iteration of an outer map"),
    ],
)
def test_what_an_agent_cannot_do_is_refused_in_place(
    function: Callable[..., Any], message: str
) -> None:
    with pytest.raises(TracingError, match=message):
        traced(function)


@contextmanager
def model(*answers: Any) -> Iterator[AgentModel]:
    """Run a model that gives these answers in turn."""
    given = iter(answers)
    server = AgentModel(lambda _: next(given))
    try:
        yield server
    finally:
        server.stop()


@pytest.mark.django_db
def test_an_agent_in_python_calls_its_tools_and_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    flows.GIVEN_BACK.clear()
    asked = [("find_order", {"order_number": "1047"}), ("give_back", {"number": "1047"})]
    with model(asked, "It was refunded.") as server:

        def desk(question: str) -> Any:
            answer = agent(
                question, model="m", base_url=server.url, tools=[find_order, give_back], max_turns=3
            )
            return {"text": answer.text, "calls": answer.tool_calls}

        made = workflow("desk")(desk)
        DECLARED.remove(made)
        run = made.run_here("Where is my money?")

    run.assert_state("SUCCESS")
    assert run.output == {"text": "It was refunded.", "calls": 2}
    assert flows.GIVEN_BACK == ["1047"]
