"""An approval applies only what was proposed: it is rejected if the object has changed since."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from dlq.models import DeadLetterEntry, FailureGroup
from executions.database.clock import database_now
from executions.models import WorkflowExecution
from tests.contract.people import a_client, a_greeting, a_member, an_author
from tests.support import admin_rows as rows
from valkyr_plugins.mcp.models import Proposal
from valkyr_plugins.redrive.models import RedriveItem

from .agents import Agent

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(agent: Callable[..., Agent]) -> Agent:
    return agent(place=rows.workspace())


@pytest.fixture
def person() -> APIClient:
    return a_client(a_member("ADMIN", rows.workspace()))


def decided(person: APIClient, verb: str = "approve") -> Any:
    pk = Proposal.objects.get().pk
    return person.post(f"/v1/Proposal/{pk}/{verb}", {}, format="json")


def test_a_redrive_of_a_group_leaves_out_what_failed_later(asked: Agent, person: APIClient) -> None:
    flow = rows.workflow()
    letter = rows.failed_order(flow)
    made = asked.call("propose_redrive", groupId=str(letter.group_id), rationale="It works again.")
    assert not made.refused, made.text
    later = rows.failed_order(flow)
    assert later.group_id == letter.group_id
    DeadLetterEntry.objects.filter(pk=later.pk).update(quarantined_at=database_now())

    preview = decided(person, "preview").json()["preview"]
    answer = decided(person)

    assert answer.status_code == 200, answer.content
    assert preview["entries"] == 1
    assert list(RedriveItem.objects.values_list("entry_id", flat=True)) == [letter.pk]


def test_a_group_with_another_status_is_not_changed(asked: Agent, person: APIClient) -> None:
    letter = rows.failed_order(rows.workflow())
    asked.call(
        "propose_group_change", groupId=str(letter.group_id), status="IGNORED", rationale="Noise."
    )
    FailureGroup.objects.filter(pk=letter.group_id).update(status="ACKNOWLEDGED")

    shown, answer = decided(person, "preview"), decided(person)

    assert (shown.status_code, answer.status_code) == (409, 422)
    assert "is ACKNOWLEDGED; it was NEW" in answer.json()["detail"]
    assert FailureGroup.objects.get(pk=letter.group_id).status == "ACKNOWLEDGED"
    assert Proposal.objects.get().state == "PENDING"


def test_an_execution_in_another_state_is_left_alone(asked: Agent, person: APIClient) -> None:
    execution = rows.failed_order(rows.workflow()).execution_id
    WorkflowExecution.objects.filter(pk=execution).update(state="RUNNING", finished_at=None)
    asked.call(
        "propose_execution_action", executionId=str(execution), action="cancel", rationale="Stuck."
    )
    WorkflowExecution.objects.filter(pk=execution).update(state="PAUSED")

    answer = decided(person)

    assert answer.json()["code"] == "proposal_not_applied"
    assert "is PAUSED; it was RUNNING" in answer.json()["detail"]
    assert WorkflowExecution.objects.get(pk=execution).state == "PAUSED"


def test_a_draft_that_changed_after_the_agent_read_it_is_not_overwritten(
    agent: Callable[..., Agent], workspace: Any
) -> None:
    flow = a_greeting(an_author())
    read = agent().call("get_workflow", workflowId=flow["id"]).value["revision"]
    change = {"workflowId": flow["id"], "definition": flow["definition"], "rationale": "Better."}

    stale = agent().call("propose_workflow_change", **change, revision="0")
    fresh = agent().call("propose_workflow_change", **change, revision=read)

    assert stale.refused
    assert stale.value["code"] == "stale_revision"
    assert not fresh.refused, fresh.text


def test_another_version_than_the_one_that_was_seen_is_not_started(
    asked: Agent, person: APIClient, agent: Callable[..., Agent], workspace: Any
) -> None:
    author = an_author()
    flow = a_greeting(author)
    author.put(f"/v1/Workflow/{flow['id']}/tool", {}, format="json")
    caller = agent("view", "trigger")
    name = next(one for one in caller.tools() if one.startswith("workflow_"))
    caller.call(name, name="Ada")
    author.patch(
        f"/v1/Workflow/{flow['id']}",
        {"definition": flow["definition"] | {"output": "changed"}},
        format="json",
    )
    author.post(f"/v1/Workflow/{flow['id']}/publish")

    answer = decided(author)

    assert "is version 2; it was version 1" in answer.json()["detail"]
    assert not WorkflowExecution.objects.exists()
