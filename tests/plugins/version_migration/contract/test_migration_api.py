"""Tests of migrations of executions over HTTP: create, preview, start, pause, resume, cancel."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.models import Activity, Workflow, WorkflowExecution, Workspace
from executions.publishing import versioning
from tests.support.workflows import ACTOR, start, task
from valkyr_plugins.version_migration import driver
from valkyr_plugins.version_migration.models import ExecutionMigration, MigratedExecution

pytestmark = pytest.mark.django_db
PATH = "/v1/ExecutionMigration"
UNKNOWN = "01900000-0000-7000-8000-000000000000"
NEXT = [task("one"), task("two", after="one")]


@pytest.fixture
def workflow(greeting: dict[str, Any]) -> Workflow:
    """Create a workflow with four live executions on its first version, and a second version."""
    row = Workflow.objects.get(pk=greeting["id"])
    for number in range(4):
        start(row, {"name": str(number)})
    changed = row.definition | {
        "tasks": [*row.definition["tasks"], task("added", after=row.definition["tasks"][0]["id"])]
    }
    versioning.update_workflow(row.pk, {"definition": changed}, actor=ACTOR, expected_revision=None)
    versioning.publish(row.pk, actor=ACTOR)
    row.refresh_from_db()
    return row


def make(client: APIClient, workflow: Workflow, **body: Any) -> Any:
    given = {"workflowId": str(workflow.pk), "fromVersion": 1} | body
    return client.post(PATH, given, format="json")


def post(client: APIClient, made: dict[str, Any], verb: str, **body: Any) -> Any:
    return client.post(f"{PATH}/{made['id']}/{verb}", body, format="json")


def numbers(workflow: Workflow) -> list[int]:
    rows = WorkflowExecution.objects.filter(workflow=workflow).order_by("pk")
    return list(rows.values_list("version__number", flat=True))


def drive() -> None:
    driver.turn(seconds=5)


def test_a_draft_lists_the_executions_and_moves_none(author: APIClient, workflow: Workflow) -> None:
    made = make(author, workflow, reason="fixed")

    assert made.status_code == 201, made.content
    told = made.json()
    assert (told["fromVersion"], told["toVersion"], told["state"]) == (1, 2, "DRAFT")
    assert (told["total"], told["queued"], told["moved"]) == (4, 4, 0)
    assert made.headers["Location"].endswith(f"{PATH}/{told['id']}")
    drive()
    assert numbers(workflow) == [1, 1, 1, 1]
    assert Activity.objects.get(action="migration.make").reason == "fixed"


def test_a_preview_says_where_they_go_on(author: APIClient, workflow: Workflow) -> None:
    made = make(author, workflow).json()

    found = post(author, made, "preview")

    assert found.status_code == 200, found.content
    told = found.json()
    assert (told["examined"], told["moves"], told["refused"]) == (4, 4, 0)
    [group] = told["groups"]
    first = workflow.definition["tasks"][0]["id"]
    assert (group["verdict"], group["count"], group["at"]) == ("MOVES", 4, [first])


def test_a_preview_gives_the_reasons(author: APIClient, workflow: Workflow) -> None:
    changed = workflow.definition | {"tasks": NEXT, "output": "done"}
    versioning.update_workflow(
        workflow.pk, {"definition": changed}, actor=ACTOR, expected_revision=None
    )
    versioning.publish(workflow.pk, actor=ACTOR)
    made = make(author, workflow, toVersion=3, patienceSeconds=0).json()

    [group] = post(author, made, "preview").json()["groups"]

    assert (group["verdict"], group["count"]) == ("REFUSED", 4)
    assert "does not exist in version 3" in group["reasons"][0]
    post(author, made, "start")
    drive()
    rows = author.get(f"{PATH}/{made['id']}/executions", {"state": "REFUSED"}).json()
    assert len(rows) == 4
    assert "does not exist in version 3" in rows[0]["reason"]
    told = author.get(f"{PATH}/{made['id']}").json()
    assert (told["state"], told["refused"], told["moved"]) == ("DONE", 4, 0)


def test_the_canaries_move_first_then_it_pauses(author: APIClient, workflow: Workflow) -> None:
    made = make(author, workflow, canary=1).json()

    assert post(author, made, "start", reason="go").json()["state"] == "RUNNING"
    drive()
    told = author.get(f"{PATH}/{made['id']}").json()
    assert (told["state"], told["moved"]) == ("PAUSED", 1)
    assert told["pauseReason"].startswith("The first execution was moved.")
    assert numbers(workflow) == [2, 1, 1, 1]
    assert post(author, made, "resume").status_code == 200
    drive()
    drive()
    assert numbers(workflow) == [2, 2, 2, 2]
    assert author.get(f"{PATH}/{made['id']}").json()["state"] == "DONE"
    assert Activity.objects.filter(action="execution.migrate").count() == 4


def test_a_paused_one_can_be_cancelled(author: APIClient, workflow: Workflow) -> None:
    made = make(author, workflow, canary=1).json()
    post(author, made, "start")

    assert post(author, made, "pause").json()["state"] == "PAUSED"
    done = post(author, made, "cancel", reason="no").json()

    assert (done["state"], done["queued"]) == ("CANCELLED", 0)
    drive()
    assert numbers(workflow) == [1, 1, 1, 1]
    again = post(author, made, "start")
    assert again.status_code == 409
    assert set(MigratedExecution.objects.values_list("state", flat=True)) == {"CANCELLED"}


def test_the_rate_limits_the_moves(author: APIClient, workflow: Workflow) -> None:
    made = make(author, workflow, ratePerSecond=0.01).json()
    post(author, made, "start")

    drive()

    assert author.get(f"{PATH}/{made['id']}").json()["moved"] == 1


def test_live_executions_are_counted_by_version(author: APIClient, workflow: Workflow) -> None:
    start(workflow, {"name": "x"})

    found = author.get(f"/v1/Workflow/{workflow.pk}/live-versions").json()

    assert found == [{"version": 2, "executions": 1}, {"version": 1, "executions": 4}]


def test_only_named_executions_move(author: APIClient, workflow: Workflow) -> None:
    chosen = WorkflowExecution.objects.filter(workflow=workflow).order_by("-pk").first()
    assert chosen is not None

    made = make(author, workflow, ids=[str(chosen.pk)]).json()

    assert made["total"] == 1


def test_the_list_and_its_filters(author: APIClient, workflow: Workflow) -> None:
    made = make(author, workflow).json()

    listed = author.get(PATH, {"workflowId": str(workflow.pk), "state": "DRAFT"}).json()

    assert [row["id"] for row in listed] == [made["id"]]
    assert author.get(PATH, {"state": "DONE"}).json() == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"fromVersion": 0}, 422),
        ({"fromVersion": 99}, 404),
        ({"toVersion": 99}, 404),
        ({"toVersion": 1}, 422),
        ({"fromVersion": 2, "toVersion": 1}, 422),
        ({"steps": {"nowhere": "added"}}, 422),
        ({"steps": ["a"]}, 422),
        ({"ratePerSecond": -1}, 422),
        ({"canary": "many"}, 422),
        ({"ids": ["x"]}, 422),
        ({"workflowId": UNKNOWN}, 404),
        ({"unknown": 1}, 422),
    ],
)
def test_bad_requests_are_rejected_and_leave_nothing(
    author: APIClient, workflow: Workflow, body: dict[str, Any], status: int
) -> None:
    found = make(author, workflow, **body)

    assert found.status_code == status, found.content
    assert found.json()["detail"]
    assert not ExecutionMigration.objects.exists()


def test_other_workspaces_see_nothing(
    author: APIClient, elsewhere: Workspace, member: Any, client_of: Any, workflow: Workflow
) -> None:
    made = make(author, workflow).json()
    stranger = client_of(member("ADMIN", elsewhere))

    assert stranger.get(PATH).json() == []
    assert stranger.get(f"{PATH}/{made['id']}").status_code == 404
    assert post(stranger, made, "start").status_code == 404
    assert make(stranger, workflow).status_code == 404
