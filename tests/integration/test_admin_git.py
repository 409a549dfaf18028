"""Workflows from Git in the admin: their commit, and workspaces in which only Git may publish."""

import pytest
from django.test import Client

from executions.bundles.applying import BundleSource, apply
from executions.bundles.planning import Bundle
from executions.models import Activity, Workflow, WorkflowVersion
from tests.support.workflows import ACTOR, default_workspace, task

pytestmark = pytest.mark.django_db
ADMIN = "/admin/executions"
COMMIT = BundleSource("https://git.example/shop", "abc1234def", "main")


@pytest.fixture
def op(admin_client: Client, static_files: None) -> Client:
    """Return a superuser's client."""
    return admin_client


@pytest.fixture
def workflow(db: None) -> Workflow:
    """Create a workflow from a bundle."""
    document = {"schema": "valkyr/1", "name": "Order", "tasks": [task("a")]}
    apply(default_workspace(), Bundle({"order": document}), ACTOR, source=COMMIT)
    return Workflow.objects.get(slug="order")


def lock(op: Client) -> None:
    workspace = default_workspace()
    form = {"name": workspace.name, "tier": str(workspace.tier_id), "egress": ""}
    answer = op.post(
        f"{ADMIN}/workspace/{workspace.pk}/change/", {**form, "publish_from_git": "on"}
    )
    assert answer.status_code == 302, answer.content.decode()


def test_the_page_of_a_workflow_names_its_commit(op: Client, workflow: Workflow) -> None:
    shown = op.get(f"{ADMIN}/workflow/{workflow.pk}/change/").content.decode()

    assert "Managed from Git, commit abc1234 of https://git.example/shop." in shown
    assert "Only “valkyr apply” publishes" not in shown


def test_the_page_of_any_other_workflow_does_not(op: Client, workflow: Workflow) -> None:
    Workflow.objects.update(slug="other")

    shown = op.get(f"{ADMIN}/workflow/{workflow.pk}/change/").content.decode()

    assert "Git" not in shown.partition("<main")[2].partition("</main>")[0]


def test_a_workspace_is_locked_in_the_admin_and_that_is_recorded(op: Client) -> None:
    lock(op)

    assert default_workspace().publish_from_git
    row = Activity.objects.get(action="workspace.update")
    assert row.after["publishFromGit"] is True


def test_a_locked_workflow_is_neither_published_nor_archived(
    op: Client, workflow: Workflow
) -> None:
    lock(op)
    page = f"{ADMIN}/workflow/{workflow.pk}"
    Workflow.objects.update(definition={**workflow.definition, "description": "new"})

    shown = op.get(f"{page}/change/").content.decode()
    for what in ("publish", "archive"):
        op.post(f"{page}/{what}/", {"reason": "x", "_form_submitted": "1"})

    assert "Only “valkyr apply” publishes and archives this workflow." in shown
    assert f"{page}/publish/" not in shown
    assert WorkflowVersion.objects.count() == 1
    assert Workflow.objects.get().archived_at is None


def test_the_studio_is_told_the_commit_and_the_lock(op: Client, workflow: Workflow) -> None:
    lock(op)

    shown = op.get(f"/studio/{workflow.pk}/").content.decode()

    assert 'data-from-git="true"' in shown
    assert 'data-git-commit="abc1234"' in shown
    assert 'data-published-from-git="true"' in shown
    assert 'data-can-publish="false"' in shown
    assert 'data-can-edit="true"' in shown
