"""Tests of proposals in the admin, and of workflows that are exposed to agents."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from executions.access.actor import Actor
from executions.models import Activity, Membership, Workflow
from tests.support import admin_rows as rows
from tests.support.workflows import publish, task
from valkyr_plugins.mcp import proposals
from valkyr_plugins.mcp.in_process import InProcessApi
from valkyr_plugins.mcp.models import Proposal, WorkflowTool
from valkyr_plugins.redrive.models import Redrive, RedriveItem

from .agents import Agent

pytestmark = pytest.mark.django_db
LIST = "/admin/valkyr_mcp/proposal/"
DONE = {"confirmed": "yes", "_form_submitted": "True", "reason": "Checked."}


@pytest.fixture(autouse=True)
def _pages(static_files: None) -> None:
    """Provide the static files that pages need."""


@pytest.fixture
def person(client: Client, django_user_model: Any) -> Callable[[str], Client]:
    """Return a function that signs in a member of the workspace with a role."""

    def made(role: str, **more: Any) -> Client:
        user = django_user_model.objects.create(username=f"ada-{role.lower()}", is_staff=True)
        Membership.objects.create(user=user, workspace=rows.workspace(), role=role, **more)
        client.force_login(user)
        return client

    return made


@pytest.fixture
def proposal(agent: Callable[..., Agent]) -> Proposal:
    """Return a redrive with other inputs, which an agent proposed."""
    letter = rows.failed_order(rows.workflow())
    found = agent(place=rows.workspace()).call(
        "propose_redrive",
        groupId=str(letter.group_id),
        overrides={"url": "http://other.test"},
        rationale="The host has moved.",
    )
    assert not found.refused, found.text
    return Proposal.objects.get()


def page_of(proposal: Proposal, operation: str = "") -> str:
    view = f"operate_{operation}" if operation else "change"
    return reverse(f"admin:valkyr_mcp_proposal_{view}", args=[proposal.pk])


def test_a_redrive_is_previewed_and_approved(
    person: Callable[..., Client], proposal: Proposal
) -> None:
    admin = person("ADMIN")

    shown = admin.get(page_of(proposal)).content.decode()

    assert "The host has moved." in shown
    assert "http://other.test" in shown
    assert page_of(proposal, "approve") in shown
    assert Redrive.objects.count() == 0
    assert not Activity.objects.filter(action="redrive.make").exists()
    admin.post(page_of(proposal, "approve"), DONE)
    proposal.refresh_from_db()
    redrive = Redrive.objects.get()
    assert (proposal.state, proposal.decision_reason) == ("APPROVED", "Checked.")
    assert (redrive.state, redrive.canary, redrive.created_by_name) == ("RUNNING", 10, "ada-admin")
    after = admin.get(page_of(proposal)).content.decode()
    assert str(redrive.pk) in after
    assert page_of(proposal, "approve") not in after


def test_a_preview_only_reads_and_is_that_of_the_redrive(
    person: Callable[..., Client], proposal: Proposal, django_user_model: Any
) -> None:
    person("ADMIN")
    admin = django_user_model.objects.get(username="ada-admin")
    api = InProcessApi(admin, None, Actor.of(admin, "tests"))

    with CaptureQueriesContext(connection) as queries:
        seen = proposals.preview(proposal, api)

    written = ("INSERT", "UPDATE", "DELETE")
    assert not [one["sql"] for one in queries if one["sql"].lstrip().startswith(written)]
    # PostgreSQL would refuse a write.
    assert any(one["sql"] == "SET TRANSACTION READ ONLY" for one in queries)
    assert seen["entries"] == seen["runs"] == len(seen["deadLetters"]) == 1
    done = proposals.approve(proposal.pk, api)
    made = Redrive.objects.get(pk=done.result["redriveId"])
    assert made.total == seen["entries"]
    entries = RedriveItem.objects.filter(redrive=made).values_list("entry_id", flat=True)
    assert [str(pk) for pk in entries] == seen["deadLetters"]


def test_a_proposal_is_rejected_with_a_reason(
    person: Callable[..., Client], proposal: Proposal
) -> None:
    person("ADMIN").post(page_of(proposal, "reject"), DONE)

    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by_name) == ("REJECTED", "ada-admin")
    assert Redrive.objects.count() == 0


def test_a_member_without_rights_neither_sees_nor_decides(
    person: Callable[..., Client], proposal: Proposal
) -> None:
    viewer = person("USER")

    shown = viewer.get(page_of(proposal))
    tried = viewer.post(page_of(proposal, "approve"), DONE)

    assert shown.status_code in {302, 403, 404}
    assert tried.status_code in {302, 403, 404}
    proposal.refresh_from_db()
    assert proposal.state == "PENDING"


def test_the_list_and_the_home_page_show_what_waits(
    person: Callable[..., Client], proposal: Proposal
) -> None:
    admin = person("ADMIN")

    listed = admin.get(LIST).content.decode()
    home = admin.get("/admin/").content.decode()

    assert "api token agent" in listed
    assert "1 proposal from an agent is waiting for approval" in home
    assert page_of(proposal) in home


def test_a_workflow_is_exposed_and_hidden(person: Callable[..., Client]) -> None:
    workflow = publish({"name": "Book", "tasks": [task("book")]}, rows.workspace())
    admin = person("ADMIN")

    def address(name: str) -> str:
        return reverse(f"admin:executions_workflow_operate_{name}", args=[workflow.pk])

    admin.post(address("expose"), DONE | {"direct": "on"})
    assert WorkflowTool.objects.get().direct is True
    page = reverse("admin:executions_workflow_change", args=[workflow.pk])
    assert address("hide") in admin.get(page).content.decode()
    admin.post(address("hide"), DONE)

    assert WorkflowTool.objects.count() == 0
    assert Workflow.objects.filter(pk=workflow.pk).exists()
