"""Applying a bundle takes as many statements for many workflows as for a few."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from executions import credentials
from executions.bundles.applying import BundleSource, apply
from executions.bundles.planning import Bundle
from executions.egress import workspace_rules
from executions.models import Activity, Credential, Trigger, Workflow, WorkflowVersion, Workspace
from executions.publishing import bundle_batch
from tests.support.workflows import ACTOR

from .people import a_workspace
from .test_bundles_api import SHIP, edited, plan

pytestmark = pytest.mark.django_db


@pytest.fixture
def place() -> Workspace:
    found = a_workspace()
    fields = {"token": "t-secret"}
    credentials.create(found, name="erp", type="bearer", fields=fields, hosts=["*"], actor=ACTOR)
    return found


def workflow(number: int, tasks: int) -> dict[str, Any]:
    call = {"use": "http.request", "credential": "erp", "with": {"url": "https://erp.test/"}}
    return edited(
        SHIP,
        name=f"Ship {number}",
        tasks=[{"id": f"call{index}", **call} for index in range(tasks)],
        triggers=[{"type": "EVENT", "event": f"order{number}.{tasks}"}],
    )


def statements(place: Workspace, many: int, tasks: int, **more: Any) -> int:
    bundle = Bundle({f"w{n:03}": workflow(n, tasks) for n in range(many)}, **more)
    workspace_rules.forget(place.pk)  # else read only once in five seconds
    with CaptureQueriesContext(connection) as found:
        apply(place, bundle, ACTOR, source=BundleSource("shop", "abc"))
    return len(found)


def test_the_number_of_statements_does_not_depend_on_the_number_of_workflows(
    place: Workspace,
) -> None:
    statements(place, 0, 1)

    few = [statements(place, 3, 1), statements(place, 3, 2)]
    few.append(statements(place, 1, 2, prune=True))
    statements(place, 0, 2, prune=True)
    many = [statements(place, 60, 1), statements(place, 60, 2)]
    many.append(statements(place, 1, 2, prune=True))

    assert many == few
    assert max(many) < 40


def test_each_workflow_has_its_versions_triggers_and_lines_of_the_trail(
    place: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle_batch, "BATCH", 2)

    statements(place, 5, 1)
    statements(place, 5, 2)

    numbers = Workflow.objects.order_by("slug").values_list("revision", "latest_version__number")
    assert list(numbers) == [(2, 2)] * 5
    assert WorkflowVersion.objects.count() == 10
    assert Trigger.objects.filter(enabled=True, type="EVENT").count() == 5
    first = Workflow.objects.get(slug="w000")
    trail = Activity.objects.filter(object_id=str(first.pk)).order_by("created_at", "id")
    assert list(trail.values_list("action", flat=True)) == [
        "workflow.create", "workflow.publish", "workflow.update", "workflow.publish",
    ]  # fmt: skip
    assert trail.last().details["version"] == 2  # type: ignore[union-attr]


def test_a_plan_of_a_new_workflow_knows_that_a_credential_is_for_others(
    author: APIClient, place: Workspace
) -> None:
    other = Workflow.objects.create(workspace=place, name="Other", slug="other")
    Credential.objects.filter(name="erp").update(workflows=[str(other.pk)])

    found = plan(author, {"ship": workflow(1, 1)})

    assert [one["code"] for one in found["problems"]] == ["credential_refused"]
