"""Agents on real workers: their turns, tools, approvals and limits, and their state after
crashes.
"""

import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions.credentials import writing
from executions.models import Membership, Tier, WorkflowExecution, Workspace
from runners.models import Run
from runners.waits import approvals
from tests.support.auditor import audit
from tests.support.counterparts.agent_model import AgentModel, Script, calls, results
from tests.support.counterparts.mcp import ShopServer
from tests.support.fleet import Fleet
from tests.support.outages import marks_of
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, describe, publish, start, wait_for_end

# The promise is of 100: `AGENT_KILLS=100 make test ARGS="-k killed_at_each_tool_call"`.
KILLS = int(os.environ.get("AGENT_KILLS", "20"))
NUMBER = {"type": "object", "required": ["number"], "properties": {"number": {"type": "integer"}}}
_numbers = count(1)


@pytest.fixture
def workspace(fleet: Fleet) -> Workspace:
    """Create a workspace with a key for its models."""
    tier, _ = Tier.objects.get_or_create(name="unlimited")
    name = f"agents-{next(_numbers)}-{WorkflowExecution().pk.hex[-8:]}"
    made = Workspace.objects.create(slug=name, name=name, tier=tier)
    fields = {"token": "sk-test-77aa"}
    writing.create(made, name="llm", type="bearer", fields=fields, hosts=["127.0.0.1"], actor=ACTOR)
    return made


@pytest.fixture
def model() -> Iterator[Callable[[Script], AgentModel]]:
    """Yield a function that starts a model with a script."""
    with ExitStack() as stack:

        def make(script: Script) -> AgentModel:
            made = AgentModel(script)
            stack.callback(made.stop)
            return made

        yield make


def agent(server: AgentModel, tools: list[dict[str, Any]], **given: Any) -> dict[str, Any]:
    """Return a workflow of one agent; each tool is a task, with the schema NUMBER unless it has
    one.
    """
    described = [{"name": tool["id"], "parameters": NUMBER} for tool in tools]
    task = {
        "id": "clerk",
        "use": "llm.agent",
        "credential": "llm",
        "with": {
            "model": "agent", "baseUrl": server.url, "prompt": "Work hard",
            "tools": described, **given,
        },
        "body": {"tasks": tools},
    }  # fmt: skip
    return {"tasks": [task], "output": "{{ tasks.clerk.output }}"}


def tool(name: str, **given: Any) -> dict[str, Any]:
    """Return a tool that leaves a mark."""
    value = "{{ item.arguments.number * 2 }}"
    return {"id": name, "use": "test.effect", "retry": "none", "with": {"value": value, **given}}


def ended(execution: UUID, seconds: float = 60) -> WorkflowExecution:
    wait_for_end([execution], seconds)
    return WorkflowExecution.objects.get(pk=execution)


def marks(execution: UUID) -> list[dict[str, Any]]:
    """Return the marks of all tools."""
    return [mark for path in paths(execution) for mark in marks_of(execution, path)]


def paths(execution: UUID) -> list[str]:
    found = Run.objects.filter(execution=execution).order_by("id")
    return list(found.values_list("step_path", flat=True))


def test_an_agent_calls_tools_until_it_answers_and_each_call_is_a_run(
    fleet: Fleet, workspace: Workspace, model: Callable[[Script], AgentModel]
) -> None:
    server = model(calls("double", "double"))

    done = ended(start(publish(agent(server, [tool("double")]), workspace)))

    assert done.state == "SUCCESS", describe([done.pk])
    assert done.output["text"] == "All done."
    assert (done.output["turns"], done.output["toolCalls"]) == (3, 2)
    assert results(server.requests[-1]["messages"]) == ["2", "4"]
    assert server.requests[0]["messages"] == [{"role": "user", "content": "Work hard"}]
    assert server.requests[0]["tools"][0]["function"]["name"] == "double"
    found = paths(done.pk)
    assert [path for path in found if path.endswith("model.main")] == [
        f"clerk[{turn}].model.main" for turn in range(3)
    ]
    assert "clerk[1].calls[0].double.main" in found
    assert done.metrics_snapshot["costTokens"] == sum(
        done.output["usage"][key] for key in ("inputTokens", "outputTokens")
    )
    audit([done.pk])


def test_tools_of_one_answer_run_at_once_and_wrong_calls_go_back_to_the_model(
    fleet: Fleet, workspace: Workspace, model: Callable[[Script], AgentModel]
) -> None:
    def script(messages: list[dict[str, Any]]) -> Any:
        if results(messages):
            return "\n".join(results(messages))
        good, unknown, broken = ("double", {"number": 4}), ("sell", {}), ("double", "{no")
        return [good, unknown, broken, ("double", {"number": "four"})]

    server = model(script)

    done = ended(start(publish(agent(server, [tool("double")]), workspace)))

    assert done.state == "SUCCESS", describe([done.pk])
    first, second, third, fourth = done.output["text"].split("\n")
    assert first == "8"
    assert "There is no tool 'sell'. The tools are: double." in second
    assert "not valid JSON" in third
    assert "Wrong arguments" in fourth
    assert len(marks(done.pk)) == 1


def test_a_failed_tool_is_told_to_the_model_or_becomes_a_dead_letter(
    fleet: Fleet, workspace: Workspace, model: Callable[[Script], AgentModel]
) -> None:
    def script(messages: list[dict[str, Any]]) -> Any:
        return results(messages)[0] if results(messages) else [("double", {"number": 4})]

    tools = [tool("double", failTimes=1, errorType="PERMANENT")]
    told = ended(start(publish(agent(model(script), tools), workspace)))
    server = model(script)
    failed = start(publish(agent(server, tools, onToolError="fail"), workspace))

    assert told.state == "SUCCESS", describe([told.pk])
    assert told.output["text"].startswith("Error: ")
    assert ended(failed).state == "FAILED"
    (entry,) = DeadLetterEntry.objects.filter(execution=failed)
    assert entry.step_path == "clerk[0].calls[0].double.main"
    requeue(entry.pk, actor=ACTOR)
    assert ended(failed).output["text"] == "8"
    assert max(server.asked.values()) == 1, "the requeue pays for no answer again"


def test_a_call_waits_for_its_approval_and_a_rejection_is_told_to_the_model(
    fleet: Fleet, workspace: Workspace, model: Callable[[Script], AgentModel]
) -> None:
    def script(messages: list[dict[str, Any]]) -> Any:
        if results(messages):
            return "\n".join(results(messages))
        return [("refund", {"number": 1}), ("refund", {"number": 2})]

    server = model(script)
    user, _ = get_user_model().objects.get_or_create(username="ada")
    Membership.objects.get_or_create(user=user, workspace=workspace, defaults={"role": "WORKFLOW"})
    execution = start(publish(agent(server, [tool("refund")], approve=["refund"]), workspace))
    waiting = Run.objects.filter(execution=execution, module="flow.approval", state="WAITING")
    wait_until(lambda: waiting.count() == 2, 30, "two questions", lambda: describe([execution]))
    first, second = waiting.order_by("step_path")
    assert marks(execution) == []

    def decide(run: Run, decision: str, comment: str) -> None:
        approvals.decide(run.pk, decision, comment, user=user, actor=ACTOR)

    decide(first, "approved", "")
    decide(second, "rejected", "Too much.")

    done = ended(execution)
    assert done.state == "SUCCESS", describe([execution])
    approved, rejected = done.output["text"].split("\n")
    assert approved == "2"
    assert rejected == "Error: a person did not approve this call (rejected). Too much."
    assert "refund" in first.progress["description"]
    assert len(marks(execution)) == 1


def test_an_answer_that_does_not_fit_its_schema_is_corrected(
    fleet: Fleet, workspace: Workspace, model: Callable[[Script], AgentModel]
) -> None:
    schema = {"type": "object", "required": ["sum"], "properties": {"sum": {"type": "integer"}}}

    def script(messages: list[dict[str, Any]]) -> Any:
        if not results(messages):
            return [("double", {"number": 2})]
        return '{"sum": 4}' if "not right" in messages[-1]["content"] else "It is four."

    server = model(script)
    stubborn = model(lambda messages: "It is four.")
    tools = [tool("double")]

    done = ended(start(publish(agent(server, tools, outputSchema=schema), workspace)))
    never = ended(start(publish(agent(stubborn, tools, outputSchema=schema), workspace)))

    assert done.state == "SUCCESS", describe([done.pk])
    assert done.output["output"] == {"sum": 4}
    assert '"sum"' in server.requests[0]["messages"][0]["content"], "the model knows the schema"
    assert never.state == "FAILED"
    assert "does not fit outputSchema after 2 corrections" in never.error_message
    assert len(stubborn.requests) == 3


def test_an_agent_stops_at_its_limit_of_turns_and_continues_once_that_is_raised(
    fleet: Fleet, workspace: Workspace, model: Callable[[Script], AgentModel]
) -> None:
    server = model(calls("double", "double", "double"))
    execution = start(publish(agent(server, [tool("double")], maxTurns=2), workspace))

    assert ended(execution).state == "FAILED"
    (entry,) = DeadLetterEntry.objects.filter(execution=execution)
    assert "has not finished after 2 turns" in entry.run.error
    requeue(entry.pk, actor=ACTOR, overrides={"maxTurns": 4})
    done = ended(execution)

    assert done.state == "SUCCESS", describe([execution])
    assert done.output["turns"] == 4
    assert max(server.asked.values()) == 1


def test_a_long_result_is_cut_off_for_the_model_alone(
    fleet: Fleet, workspace: Workspace, model: Callable[[Script], AgentModel]
) -> None:
    def script(messages: list[dict[str, Any]]) -> Any:
        return results(messages)[0] if results(messages) else [("double", {"number": 1})]

    tools = [tool("double", value="x" * 500)]
    done = ended(start(publish(agent(model(script), tools, maxResultCharacters=100), workspace)))

    assert done.output["text"] == "x" * 100 + "\n[cut off: 500 characters, 100 are shown]"
    run = Run.objects.get(execution=done.pk, step_path="clerk[0].calls[0].double.main")
    assert run.outputs == "x" * 500


def test_an_agent_uses_the_tools_of_an_mcp_server_and_other_workflows(
    fleet: Fleet, workspace: Workspace, model: Callable[[Script], AgentModel]
) -> None:
    def script(messages: list[dict[str, Any]]) -> Any:
        if results(messages):
            return "\n".join(results(messages))
        return [("find_order", {"number": "7"}), ("triple", {"number": 5}), ("refund", {})]

    shop, server = ShopServer(), model(script)
    triple = publish({"tasks": [{"id": "out", "use": "flow.noop"}],
                      "output": "{{ input.number * 3 }}"}, workspace)  # fmt: skip
    document = agent(server, [{
        "id": "triple", "use": "flow.subworkflow",
        "with": {"workflow": triple.slug, "input": "{{ item.arguments }}"},
    }])  # fmt: skip
    task = document["tasks"][0]
    task["with"]["toolsets"] = [{"task": "shop", "tools": "{{ tasks.list.output.tools }}"}]
    task["after"] = "list"
    task["body"]["tasks"].append({
        "id": "shop", "use": "mcp.call",
        "with": {"url": shop.url, "tool": "{{ item.name }}", "arguments": "{{ item.arguments }}"},
    })  # fmt: skip
    listing = {"url": shop.url, "only": ["find_order", "refund"]}
    document["tasks"].insert(0, {"id": "list", "use": "mcp.tools", "with": listing})
    try:
        done = ended(start(publish(document, workspace)))
    finally:
        shop.stop()

    assert done.state == "SUCCESS", describe([done.pk])
    order, tripled, refund = done.output["text"].split("\n")
    assert json.loads(order)["structured"] == {"number": "7", "total": 12}
    assert json.loads(tripled)["output"] == 15
    assert "Wrong arguments" in refund
    assert shop.calls == {"find_order": 1}
    assert {one["function"]["name"] for one in server.requests[0]["tools"]} == {
        "triple", "find_order", "refund",
    }  # fmt: skip


@pytest.mark.quiet
def test_an_agent_killed_at_each_tool_call_goes_on_within_two_seconds_and_pays_no_answer_twice(
    fleet: Fleet, workspace: Workspace, model: Callable[[Script], AgentModel]
) -> None:
    """An agent killed at each tool call continues within two seconds and pays for no answer twice.

    Each call of the tool kills its process once; a second process takes it over.
    """
    server = model(calls(*["double"] * KILLS))
    tools = [tool("double", killTimes=1)]
    execution = start(publish(agent(server, tools, maxTurns=KILLS + 1), workspace))

    done = ended(execution, 20 + 3 * KILLS)

    assert done.state == "SUCCESS", describe([execution])
    assert len(server.requests) == KILLS + 1
    assert max(server.asked.values()) == 1, "no answer was requested twice"
    delays = []
    for turn in range(KILLS):
        killed, again = marks_of(execution, f"clerk[{turn}].calls[0].double.main")
        delays.append((again["at"] - killed["at"]).total_seconds())
    p95 = sorted(delays)[math.ceil(0.95 * len(delays)) - 1]
    assert p95 < 2, f"p95 {p95:.2f} s; all: {[round(delay, 2) for delay in sorted(delays)]}"
    assert audit([execution]).repeats == KILLS
