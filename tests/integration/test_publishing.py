"""Concurrent changes of drafts and versions, and their audit entries."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from executions.access.actor import Actor
from executions.errors import InvalidDefinition, NotFound, StaleRevision, Unchanged
from executions.models import Activity, Tier, Workflow, WorkflowVersion, Workspace
from executions.publishing import versioning

ACTOR = Actor.system("test")
DEFINITION = {
    "schema": "valkyr/1",
    "name": "w",
    "tasks": [{"id": "a", "use": "flow.noop"}, {"id": "b", "use": "flow.noop", "after": ["a"]}],
}


@pytest.fixture
def workspace(db: None) -> Workspace:
    tier = Tier.objects.get_or_create(name="unlimited")[0]
    return Workspace.objects.get_or_create(slug="default", defaults={"name": "D", "tier": tier})[0]


@pytest.fixture
def workflow(workspace: Workspace) -> Workflow:
    return versioning.create_workflow(workspace, name="W", definition=DEFINITION, actor=ACTOR)


def at_once(action: Callable[[], Any], times: int = 4) -> list[Any]:
    """Run the action in several threads at the same moment; return the results or errors."""
    gate, results = threading.Barrier(times), []

    def run() -> None:
        try:
            gate.wait(timeout=60)
            results.append(action())
        except Exception as error:
            results.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return results


@pytest.mark.django_db
def test_a_version_holds_everything_resolved_and_the_draft_as_written(workflow: Workflow) -> None:
    version = versioning.publish(workflow.pk, actor=ACTOR)

    assert version.source == DEFINITION
    assert version.definition["edges"] == [{"from": "a", "to": "b", "on": "success"}]
    assert version.definition["tasks"][0]["modules"][0]["queue"]
    assert len(version.checksum) == 64


@pytest.mark.django_db
def test_a_draft_changed_back_is_still_nothing_new(workflow: Workflow) -> None:
    versioning.publish(workflow.pk, actor=ACTOR)
    edges = {"tasks": [{"id": t["id"], "use": "flow.noop"} for t in DEFINITION["tasks"]],
             "edges": [{"from": "a", "to": "b"}]}  # fmt: skip
    versioning.update_workflow(
        workflow.pk, {"definition": DEFINITION | edges}, actor=ACTOR, expected_revision=1
    )

    with pytest.raises(Unchanged):
        versioning.publish(workflow.pk, actor=ACTOR)


@pytest.mark.django_db
def test_every_change_is_written_down(workflow: Workflow) -> None:
    versioning.update_workflow(workflow.pk, {"description": "d"}, actor=ACTOR, expected_revision=1)
    versioning.publish(workflow.pk, actor=ACTOR)
    versioning.archive_workflow(workflow.pk, actor=ACTOR)

    rows = Activity.objects.filter(object_id=workflow.pk).order_by("created_at")
    assert [row.action for row in rows] == [
        "workflow.create", "workflow.update", "workflow.publish", "workflow.archive",
    ]  # fmt: skip


@pytest.mark.django_db
def test_a_draft_that_cannot_be_stored_is_refused(workspace: Workspace) -> None:
    for bad in ({"x": "\x00"}, {"x": float("nan")}, {"x": "\ud800"}, {"x": "y" * 2**20}):
        with pytest.raises(InvalidDefinition):
            versioning.create_workflow(workspace, name="b", definition=bad, actor=ACTOR)
    assert not Workflow.objects.exists()


@pytest.mark.django_db
def test_an_unknown_workflow_is_not_found(db: None) -> None:
    with pytest.raises(NotFound):
        versioning.publish(uuid4(), actor=ACTOR)
    with pytest.raises(NotFound):
        versioning.update_workflow(uuid4(), {}, actor=ACTOR, expected_revision=None)


@pytest.mark.django_db(transaction=True)
def test_publishing_at_once_makes_one_version(workflow: Workflow) -> None:
    results = at_once(lambda: versioning.publish(workflow.pk, actor=ACTOR))

    assert sorted(type(result).__name__ for result in results) == [
        "Unchanged", "Unchanged", "Unchanged", "WorkflowVersion",
    ]  # fmt: skip
    assert WorkflowVersion.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_changes_of_one_revision_at_once_one_wins(workflow: Workflow) -> None:
    results = at_once(
        lambda: versioning.update_workflow(
            workflow.pk, {"description": "x"}, actor=ACTOR, expected_revision=1
        )
    )

    assert sum(isinstance(result, Workflow) for result in results) == 1
    assert sum(isinstance(result, StaleRevision) for result in results) == 3
    assert Workflow.objects.get().revision == 2


@pytest.mark.django_db(transaction=True)
def test_of_workflows_with_one_slug_at_once_one_is_made(workspace: Workspace) -> None:
    results = at_once(
        lambda: versioning.create_workflow(workspace, name="Same", definition={}, actor=ACTOR)
    )

    assert sum(isinstance(result, versioning.SlugTaken) for result in results) == 3
    assert Workflow.objects.count() == Activity.objects.count() == 1
