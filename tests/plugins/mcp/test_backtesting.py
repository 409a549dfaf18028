"""An agent backtests a definition, with the scope `author`, and reads the differences."""

from collections.abc import Callable
from typing import Any

import pytest

from runners.testing.harness import Valkyr
from valkyr_plugins.backtest import working
from valkyr_plugins.backtest.models import Backtest

from .agents import Agent

pytestmark = pytest.mark.django_db
GREETING = {
    "schema": "valkyr/1",
    "name": "greeting",
    "tasks": [{"id": "greet", "use": "flow.noop", "with": {"value": "Hello {{ input.name }}"}}],
}


@pytest.fixture
def draft(workspace: Any) -> dict[str, Any]:
    """Run a workflow that greets Ann; return its ID and a changed definition."""
    run = Valkyr().start(GREETING, {"name": "Ann"})
    task = {**GREETING["tasks"][0], "with": {"value": "Goodbye {{ input.name }}"}}  # type: ignore[dict-item]
    return {
        "workflowId": str(run.execution.workflow_id),
        "definition": GREETING | {"tasks": [task]},
    }


def compared(agent: Agent, draft: dict[str, Any]) -> Any:
    started = agent.call("backtest_definition", **draft)
    assert not started.refused, started.text
    assert started.value["state"] == "PENDING"
    assert "backtestId" in started.value["next"]
    working.work(Backtest.objects.get().pk)
    return agent.call("backtest_definition", backtestId=started.value["id"]).value


def test_an_agent_starts_a_backtest_and_reads_its_groups(
    agent: Callable[..., Agent], draft: dict[str, Any]
) -> None:
    found = compared(agent("view", "view_payloads", "author"), draft)

    assert (found["state"], found["counts"]["DIFFERENT_OUTPUT"]) == ("DONE", 1)
    assert "next" not in found
    (group,) = found["groups"]
    assert (group["stepPath"], group["count"]) == ("greet.main", 1)
    assert group["text"] == (
        '1 execution: step greet would now return output "Goodbye Ann" instead of "Hello Ann".'
    )
    assert Backtest.objects.get().created_by_name


def test_without_view_payloads_it_sees_which_values_differ_and_no_values(
    agent: Callable[..., Agent], draft: dict[str, Any]
) -> None:
    found = compared(agent("view", "author"), draft)

    assert found["groups"][0]["text"] == "1 execution: step greet would now return another output."
    assert "Ann" not in str(found)


def test_without_author_it_starts_none_and_reads_those_of_others(
    agent: Callable[..., Agent], draft: dict[str, Any]
) -> None:
    found = compared(agent("view", "author"), draft)
    reader = agent("view")

    refused = reader.call("backtest_definition", **draft)

    assert (refused.refused, refused.value["status"]) == (True, 403)
    assert Backtest.objects.count() == 1
    assert reader.call("backtest_definition", backtestId=found["id"]).value["state"] == "DONE"


@pytest.mark.parametrize(
    "arguments", [{}, {"last": 5}, {"backtestId": "x", "last": 5}, {"backtestId": "workflow"}]
)
def test_it_needs_a_workflow_or_a_backtest(
    agent: Callable[..., Agent], draft: dict[str, Any], arguments: dict[str, Any]
) -> None:
    known = {"x": "01900000-0000-7000-8000-000000000000"}
    given = {name: known.get(str(value), value) for name, value in arguments.items()}
    found = agent("view", "author").call("backtest_definition", **given)

    assert found.refused
    assert not Backtest.objects.exists()
