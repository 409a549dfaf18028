"""Tests of migrations in the admin: plan one, preview it, start it, and move one execution."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from executions.models import Activity, Membership, Workflow, WorkflowExecution
from executions.publishing import versioning
from tests.support import admin_rows as rows
from tests.support.workflows import ACTOR, publish, start, task
from valkyr_plugins.version_migration import driver
from valkyr_plugins.version_migration.models import ExecutionMigration

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
FORM = {
    "_form_submitted": "True", "source": "1", "target": "", "names": "one = first",
    "canary": "0", "rate": "", "patience_seconds": "60", "reason": "renamed",
}  # fmt: skip
PAGE = "valkyr_version_migration_executionmigration"


@pytest.fixture
def op(client: Client, django_user_model: Any) -> Client:
    """Return a superuser's client."""
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


@pytest.fixture
def workflow() -> Workflow:
    """Create two live executions on the first version; the second has another id for their step."""
    made = publish({"tasks": [task("one")]})
    for _ in range(2):
        start(made)
    definition = made.definition | {"tasks": [task("first"), task("then", after="first")]}
    versioning.update_workflow(
        made.pk, {"definition": definition}, actor=ACTOR, expected_revision=None
    )
    versioning.publish(made.pk, actor=ACTOR)
    made.refresh_from_db()
    return made


def page(name: str, row: Any) -> str:
    return reverse(f"admin:{name}", args=[row.pk])


def numbers(workflow: Workflow) -> set[int]:
    rows = WorkflowExecution.objects.filter(workflow=workflow)
    return set(rows.values_list("version__number", flat=True))


def test_a_migration_is_planned_previewed_and_started(op: Client, workflow: Workflow) -> None:
    address = page("executions_workflow_operate_migrate", workflow)
    assert "Renamed steps" in op.get(address).content.decode()

    op.post(address, FORM)

    made = ExecutionMigration.objects.get(workflow=workflow)
    assert (made.names, made.total, made.state) == ({"one": "first"}, 2, "DRAFT")
    shown = op.get(page(f"{PAGE}_change", made)).content.decode()
    assert "Preview of the queued executions" in shown
    assert "would move" in shown
    assert "one → first" in shown
    op.post(page(f"{PAGE}_operate_start", made), {"_form_submitted": "True", "reason": "go"})
    driver.turn(seconds=5)
    assert numbers(workflow) == {2}
    assert Activity.objects.get(action="migration.start").reason == "go"
    listed = op.get(reverse(f"admin:{PAGE}_changelist")).content.decode()
    assert "2 of 2 moved" in listed


def test_a_line_without_an_equals_sign_is_explained(op: Client, workflow: Workflow) -> None:
    address = page("executions_workflow_operate_migrate", workflow)

    shown = op.post(address, FORM | {"names": "one first"}).content.decode()

    assert "Expected old = new, found one first." in shown
    assert not ExecutionMigration.objects.exists()


def test_one_execution_moves_from_its_page_which_shows_it(op: Client, workflow: Workflow) -> None:
    changed = workflow.definition | {"tasks": [task("one"), task("more", after="one")]}
    versioning.update_workflow(
        workflow.pk, {"definition": changed}, actor=ACTOR, expected_revision=None
    )
    versioning.publish(workflow.pk, actor=ACTOR)
    one = WorkflowExecution.objects.filter(workflow=workflow).earliest("pk")

    op.post(
        page("executions_workflowexecution_operate_migrate", one),
        {"_form_submitted": "True", "target": "", "reason": "fixed"},
    )

    one.refresh_from_db()
    assert one.version.number == 3
    shown = op.get(page("executions_workflowexecution_change", one)).content.decode()
    assert "execution.migrate" in shown


def test_other_workspaces_do_not_see_it(
    workflow: Workflow, client: Client, op: Client, django_user_model: Any
) -> None:
    op.post(page("executions_workflow_operate_migrate", workflow), FORM)
    made = ExecutionMigration.objects.get()
    user = django_user_model.objects.create(username="foreign", is_staff=True)
    Membership.objects.create(user=user, workspace=rows.workspace("other"), role="ADMIN")
    client.force_login(user)

    assert client.get(page(f"{PAGE}_change", made)).status_code in {302, 403, 404}
    client.post(page(f"{PAGE}_operate_start", made), {"_form_submitted": "True", "reason": "x"})
    made.refresh_from_db()
    assert made.state == "DRAFT"
