"""Bundles race with edits and other bundles: the loser waits, and then is rejected."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction

from executions.bundles.applying import BundleSource, PlanOutdated, apply
from executions.bundles.planning import Bundle, plan
from executions.errors import StaleRevision
from executions.models import Workflow, WorkflowVersion, Workspace
from executions.publishing import versioning
from tests.support import admin_rows as rows
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.workflows import ACTOR, task

SOURCE = BundleSource("https://git.example/shop", "abc", "main")


@pytest.fixture
def workspace(engine: None) -> Workspace:
    return rows.workspace(f"git-{uuid4()}")


def document(name: str = "Ship") -> dict[str, Any]:
    return {"schema": "valkyr/1", "name": name, "tasks": [task("a")]}


def applied(workspace: Workspace, name: str, fingerprint: str = "") -> None:
    bundle = Bundle({"ship": document(name)})
    apply(workspace, bundle, ACTOR, source=SOURCE, fingerprint=fingerprint)


def fingerprint(workspace: Workspace, name: str) -> str:
    return plan(workspace, Bundle({"ship": document(name)}), ACTOR).fingerprint


def versions(workspace: Workspace) -> list[str]:
    found = WorkflowVersion.objects.filter(workflow__workspace=workspace).order_by("number")
    return [version.definition["name"] for version in found]


def test_a_publication_that_ends_first_makes_the_plan_outdated(
    rivals: Rivals, workspace: Workspace
) -> None:
    applied(workspace, "Ship")
    flow = Workflow.objects.get(workspace=workspace)
    mark = fingerprint(workspace, "From Git")

    with transaction.atomic():
        changes = {"definition": document("By hand")}
        versioning.update_workflow(flow.pk, changes, actor=ACTOR, expected_revision=None)
        versioning.publish(flow.pk, actor=ACTOR)
        other = rivals.begin(applied, workspace, "From Git", mark)
        wait_until_blocked(my_session())

    with pytest.raises(PlanOutdated):
        other.result(60)
    assert versions(workspace) == ["Ship", "By hand"]


def test_an_edit_waits_for_a_bundle_and_sees_that_it_is_stale(
    rivals: Rivals, workspace: Workspace
) -> None:
    applied(workspace, "Ship")
    flow = Workflow.objects.get(workspace=workspace)

    def edit() -> None:
        changes = {"definition": document("By hand")}
        revision = flow.revision
        versioning.update_workflow(flow.pk, changes, actor=ACTOR, expected_revision=revision)

    with transaction.atomic():
        applied(workspace, "From Git", fingerprint(workspace, "From Git"))
        other = rivals.begin(edit)
        wait_until_blocked(my_session())

    with pytest.raises(StaleRevision):
        other.result(60)
    assert Workflow.objects.get(pk=flow.pk).definition == document("From Git")


def test_of_two_bundles_with_one_plan_the_second_is_refused(
    rivals: Rivals, workspace: Workspace
) -> None:
    mark = fingerprint(workspace, "Ship")

    with transaction.atomic():
        applied(workspace, "Ship", mark)
        other = rivals.begin(applied, workspace, "Ship", mark)
        wait_until_blocked(my_session())

    with pytest.raises(PlanOutdated):
        other.result(60)
    assert versions(workspace) == ["Ship"]
