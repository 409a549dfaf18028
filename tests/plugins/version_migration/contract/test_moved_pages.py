"""Tests of pages and endpoints of an execution whose new version lacks one of its ended steps."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from executions.models import WorkflowExecution
from executions.publishing import versioning
from runners.models import Run
from runners.repair.version_changes import VersionMove, move_execution
from tests.support.segments import claimed, recorded
from tests.support.workflows import ACTOR, publish, start, task

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
ASK = {"with": {"title": "Go on?"}}


@pytest.fixture
def moved(workspace: Any) -> WorkflowExecution:
    """Create an execution that waits; its first step is missing from its new version."""
    made = publish({"tasks": [task("one"), task("ask", "flow.approval", "one", **ASK)]})
    execution = start(made)
    recorded(claimed(execution, "one.main"))
    # The worker that recorded the first step holds the second one, which now waits.
    waits = {"state": "WAITING", "waits_for": "approval", "progress": ASK["with"]}
    Run.objects.filter(execution=execution, step_path="ask.main").update(**waits)
    definition = made.definition | {
        "tasks": [task("ask", "flow.approval", **ASK), task("two", after="ask:approved")]
    }
    versioning.update_workflow(
        made.pk, {"definition": definition}, actor=ACTOR, expected_revision=None
    )
    versioning.publish(made.pk, actor=ACTOR)
    first, second = made.versions.order_by("number").values_list("pk", flat=True)
    move_execution(execution, VersionMove(first, second), actor=ACTOR)
    return WorkflowExecution.objects.get(pk=execution)


@pytest.mark.parametrize("path", ["", "/timeline", "/graph", "/explain"])
def test_its_endpoints_answer(author: APIClient, moved: WorkflowExecution, path: str) -> None:
    answer = author.get(f"/v1/WorkflowExecution/{moved.pk}{path}")

    assert answer.status_code == 200, answer.content


def test_its_ended_step_is_shown(
    author: APIClient, client: Client, moved: WorkflowExecution, django_user_model: Any
) -> None:
    client.force_login(django_user_model.objects.create_superuser("op"))
    runs = Run.objects.filter(execution=moved)
    assert set(runs.values_list("step_path", flat=True)) == {"one.main", "ask.main"}

    for run in runs:
        assert author.get(f"/v1/Run/{run.pk}").status_code == 200
        assert client.get(reverse("admin:runners_run_change", args=[run.pk])).status_code == 200
    page = reverse("admin:executions_workflowexecution_change", args=[moved.pk])
    assert client.get(page).status_code == 200
    results = author.get(f"/v1/Workflow/{moved.workflow_id}/last-results")
    assert results.status_code == 200
