"""Tests of workflows as tools: authors expose them, and agents start them."""

from collections.abc import Callable
from typing import Any

import pytest

from executions.models import Activity, WorkflowExecution
from tests.contract.people import a_greeting, an_author
from valkyr_plugins.mcp.models import Proposal

from .agents import Agent


@pytest.fixture
def workflow(workspace: Any) -> dict[str, Any]:
    return a_greeting(an_author())


def expose(workflow: dict[str, Any], **given: Any) -> None:
    answer = an_author().put(f"/v1/Workflow/{workflow['id']}/tool", given, format="json")
    assert answer.status_code == 200, answer.content


def named(agent: Agent) -> dict[str, Any]:
    return {name: tool for name, tool in agent.tools().items() if name.startswith("workflow_")}


def test_a_workflow_is_no_tool_until_it_is_exposed(
    agent: Callable[..., Agent], workflow: dict[str, Any], elsewhere: Any
) -> None:
    assert named(agent()) == {}

    expose(workflow)

    tools = named(agent())
    assert len(tools) == 1
    tool = next(iter(tools.values()))
    assert tool["inputSchema"]["required"] == ["name"]
    assert tool["annotations"]["readOnlyHint"] is False
    assert named(agent(place=elsewhere)) == {}

    an_author().delete(f"/v1/Workflow/{workflow['id']}/tool")
    assert named(agent()) == {}
    actions = Activity.objects.filter(action__startswith="workflow_tool.")
    assert set(actions.values_list("action", flat=True)) == {
        "workflow_tool.create",
        "workflow_tool.delete",
    }


def test_a_call_proposes_to_start_an_execution(
    agent: Callable[..., Agent], workflow: dict[str, Any]
) -> None:
    expose(workflow)
    asked = agent("view", "trigger")

    found = asked.call(next(iter(named(asked))), name="Ada")

    assert found.value["state"] == "PENDING"
    assert WorkflowExecution.objects.count() == 0
    path = f"/v1/Proposal/{found.value['id']}/approve"
    answer = an_author().post(path, {}, format="json")
    assert answer.status_code == 200, answer.content
    assert WorkflowExecution.objects.get().trigger_payload == {"name": "Ada"}


def test_a_direct_tool_starts_an_execution_for_a_token_that_may(
    agent: Callable[..., Agent], workflow: dict[str, Any]
) -> None:
    expose(workflow, direct=True)
    name = next(iter(named(agent())))

    refused = agent("view").call(name, name="Ada")
    invalid = agent("view", "trigger").call(name, name=7)
    started = agent("view", "trigger").call(name, name="Ada")

    assert refused.value["status"] == 403
    assert invalid.refused
    assert started.value["executionId"] == str(WorkflowExecution.objects.get().pk)
    assert Proposal.objects.count() == 0
