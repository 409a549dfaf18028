"""Proposals: created by agents, approved or rejected by users, applied once, audited."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.database.clock import database_now
from executions.models import Activity, Workflow
from tests.contract.people import a_client, a_greeting, a_member, an_author
from tests.support import admin_rows as rows
from valkyr_plugins.mcp import proposals
from valkyr_plugins.mcp.models import Proposal

from .agents import Agent

WHY = "The text is wrong."


@pytest.fixture
def workflow(workspace: Any) -> dict[str, Any]:
    return a_greeting(an_author())


def changed(workflow: dict[str, Any], text: str = "Hi") -> dict[str, Any]:
    """Return the workflow's definition with another text."""
    task = workflow["definition"]["tasks"][0] | {"with": {"values": {"text": text}}}
    return workflow["definition"] | {"tasks": [task]}


def proposed(agent: Agent, workflow: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a proposal to change the workflow."""
    found = agent.call(
        "propose_workflow_change",
        workflowId=workflow["id"],
        definition=changed(workflow),
        rationale=WHY,
        **more,
    )
    assert not found.refused, found.text
    value: dict[str, Any] = found.value
    return value


def approve(client: APIClient, proposal: dict[str, Any]) -> Any:
    return client.post(f"/v1/Proposal/{proposal['id']}/approve", {"reason": "ok"}, format="json")


def text_of(workflow: dict[str, Any]) -> str:
    found = Workflow.objects.get(pk=workflow["id"]).definition
    text: str = found["tasks"][0]["with"]["values"]["text"]
    return text


def actions() -> list[tuple[str, str]]:
    """Return the newest audit entries: the action and the entry point."""
    rows = Activity.objects.filter(action__startswith="proposal.").order_by("created_at", "id")
    return list(rows.values_list("action", "via"))


def test_a_proposal_changes_nothing_until_a_person_approves_it(
    agent: Callable[..., Agent], workflow: dict[str, Any]
) -> None:
    asked = agent()
    made = proposed(asked, workflow, publish=True)
    assert (made["state"], made["rationale"]) == ("PENDING", WHY)
    assert "approve it" in made["next"]
    assert text_of(workflow) == "Hello {{ input.name }}"

    answer = approve(an_author(), made)

    assert answer.status_code == 200, answer.content
    assert text_of(workflow) == "Hi"
    assert answer.json()["result"] == {"workflowId": workflow["id"], "version": 2}
    seen = asked.call("get_proposal", proposalId=made["id"]).value
    assert (seen["state"], seen["decidedBy"]) == ("APPROVED", "workflow-default")
    assert [action for action, _ in actions()] == ["proposal.create", "proposal.approve"]
    assert actions()[0][1] == "api token agent"
    # The change itself is in the trail as the approver's.
    published = Activity.objects.get(action="workflow.publish", details__version=2)
    assert published.actor_name == "workflow-default"


def test_a_proposal_is_applied_once(agent: Callable[..., Agent], workflow: dict[str, Any]) -> None:
    made = proposed(agent(), workflow)

    answers = [approve(an_author(), made) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 409]


def test_a_rejected_proposal_changes_nothing_and_tells_the_agent_why(
    agent: Callable[..., Agent], workflow: dict[str, Any]
) -> None:
    made = proposed(agent(), workflow)

    path = f"/v1/Proposal/{made['id']}/reject"
    answer = an_author().post(path, {"reason": "Too short."}, format="json")

    assert answer.status_code == 200
    seen = agent().call("get_proposal", proposalId=made["id"]).value
    assert (seen["state"], seen["decisionReason"]) == ("REJECTED", "Too short.")
    assert text_of(workflow) == "Hello {{ input.name }}"


def test_a_change_that_the_agent_has_not_seen_prevents_the_approval(
    agent: Callable[..., Agent], workflow: dict[str, Any]
) -> None:
    made = proposed(agent(), workflow)
    between = {"definition": changed(workflow, "Meanwhile")}
    an_author().patch(f"/v1/Workflow/{workflow['id']}", between, format="json")

    answer = approve(an_author(), made)

    assert answer.json()["code"] == "proposal_not_applied"
    assert "412" in answer.json()["detail"]
    assert text_of(workflow) == "Meanwhile"
    assert Proposal.objects.get().state == "PENDING"


def test_the_approver_needs_the_permission_of_the_change(
    agent: Callable[..., Agent], workflow: dict[str, Any], member: Callable[..., Any]
) -> None:
    made = proposed(agent(), workflow)

    answer = approve(a_client(member("USER")), made)

    assert answer.status_code == 404
    assert Proposal.objects.get().state == "PENDING"


POWERS = {
    "view", "view_payloads", "operate", "author", "trigger", "redrive", "redrive_with_overrides",
    "discard",
}  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "given", "lacking"),
    [
        ("propose_group_change", {"groupId": "group", "status": "IGNORED"}, "operate"),
        ("propose_execution_action", {"executionId": "run", "action": "cancel"}, "operate"),
        ("propose_redrive", {"groupId": "group"}, "operate"),
        ("propose_redrive", {"groupId": "group"}, "redrive"),
        ("propose_resolution", {"deadLetterId": "letter", "action": "requeue"}, "redrive"),
        (
            "propose_resolution",
            {"deadLetterId": "letter", "action": "skip"},
            "redrive_with_overrides",
        ),
        ("propose_resolution", {"deadLetterId": "letter", "action": "discard"}, "discard"),
        ("propose_workflow_change", {"workflowId": "flow", "definition": None}, "author"),
    ],
)
def test_a_preview_needs_the_permissions_of_the_approval(
    agent: Callable[..., Agent], tool: str, given: dict[str, Any], lacking: str
) -> None:
    flow = rows.workflow()
    letter = rows.failed_order(flow)
    named = {
        "group": letter.group_id, "run": letter.execution_id, "letter": letter.pk, "flow": flow.pk,
        None: flow.definition,
    }  # fmt: skip
    filled = {key: named.get(value, value) for key, value in given.items()}
    arguments = {k: v if isinstance(v, dict) else str(v) for k, v in filled.items()}
    asked = agent(*POWERS, place=flow.workspace)
    made = asked.call(tool, **arguments, rationale=WHY)
    assert not made.refused, made.text

    def previewed(by: Agent) -> Any:
        client = APIClient(headers={"Authorization": f"Bearer {by.token}"})
        return client.post(f"/v1/Proposal/{made.value['id']}/preview", {}, format="json")

    refused = previewed(agent(*POWERS - {lacking}, place=flow.workspace))

    assert previewed(asked).status_code == 200
    assert (refused.status_code, refused.json()["code"]) == (409, "no_preview")
    assert f"do not include {lacking}." in refused.json()["detail"]


@pytest.mark.parametrize("scopes", [(), ("view", "author", "operate")])
def test_an_agent_cannot_approve_its_own_proposal(
    agent: Callable[..., Agent], workflow: dict[str, Any], scopes: tuple[str, ...]
) -> None:
    asked = agent(*scopes)
    made = proposed(asked, workflow)
    client = APIClient(headers={"Authorization": f"Bearer {asked.token}"})

    answer = approve(client, made)

    assert answer.status_code == 403
    assert text_of(workflow) == "Hello {{ input.name }}"


def test_a_token_with_the_scope_unattended_acts_at_once_within_its_other_scopes(
    agent: Callable[..., Agent], workflow: dict[str, Any]
) -> None:
    narrow = agent("view", "operate", "unattended").call(
        "propose_workflow_change",
        workflowId=workflow["id"],
        definition=changed(workflow),
        rationale=WHY,
    )
    assert narrow.refused
    assert "author" in narrow.text
    assert text_of(workflow) == "Hello {{ input.name }}"

    made = proposed(agent("view", "author", "operate", "unattended"), workflow)

    assert (made["state"], made["unattended"]) == ("APPROVED", True)
    assert text_of(workflow) == "Hi"
    assert actions()[-1] == ("proposal.approve", "api token agent")


def test_only_an_administrator_can_create_a_token_with_the_scope_unattended(
    workspace: Any,
) -> None:
    wanted = {"name": "a", "scopes": ["view", "unattended"]}
    plain = {"name": "b"}
    chief = a_client(a_member("ADMIN"))

    refused = an_author().post("/v1/ApiToken", wanted, format="json")
    allowed = chief.post("/v1/ApiToken", wanted, format="json")
    usual = chief.post("/v1/ApiToken", plain, format="json")

    assert refused.status_code == 403
    assert allowed.json()["scopes"] == ["unattended", "view"]
    assert "unattended" not in usual.json()["scopes"]


def test_an_invalid_definition_is_not_proposed(
    agent: Callable[..., Agent], workflow: dict[str, Any]
) -> None:
    bad = changed(workflow) | {"tasks": [{"id": "a", "use": "no.such"}]}

    found = agent().call(
        "propose_workflow_change", workflowId=workflow["id"], definition=bad, rationale=WHY
    )

    assert found.refused
    assert "no.such" in found.text
    assert Proposal.objects.count() == 0


def test_a_proposal_expires(agent: Callable[..., Agent], workflow: dict[str, Any]) -> None:
    made = proposed(agent(), workflow)
    Proposal.objects.update(expires_at=database_now() - timedelta(seconds=1))

    late = approve(an_author(), made)
    expired = proposals.expire()

    assert (late.status_code, late.json()["state"]) == (409, "EXPIRED")
    assert expired == 1
    assert agent().call("get_proposal", proposalId=made["id"]).value["state"] == "EXPIRED"
    assert actions()[-1] == ("proposal.expire", "engine")


def test_a_workspace_has_a_maximum_of_open_proposals(
    agent: Callable[..., Agent], workflow: dict[str, Any], settings: Any
) -> None:
    settings.VALKYR = settings.VALKYR | {"MCP_OPEN_PROPOSALS": 1}
    proposed(agent(), workflow)

    found = agent().call(
        "propose_workflow_change",
        workflowId=workflow["id"],
        definition=changed(workflow, "Another"),
        rationale=WHY,
    )

    assert found.refused
    assert found.value["code"] == "too_many_proposals"


def test_a_repeated_call_returns_the_open_proposal(
    agent: Callable[..., Agent], workflow: dict[str, Any]
) -> None:
    asked = agent()

    made = [proposed(asked, workflow)["id"] for _ in range(2)]

    assert made[0] == made[1]
    assert Proposal.objects.count() == 1


def test_the_arguments_are_hidden_without_the_permission_to_view_payloads(
    agent: Callable[..., Agent], workflow: dict[str, Any]
) -> None:
    made = proposed(agent("view"), workflow)

    assert "definition" not in made["arguments"]
