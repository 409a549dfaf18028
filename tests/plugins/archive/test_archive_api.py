"""Tests of archived executions over HTTP, and of the permissions to open and restore them."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from dlq.retention import pruning
from executions.models import Activity, Membership, Workflow, WorkflowExecution
from tests.plugins.archive.conftest import old
from tests.support.sharing import assign_perm
from valkyr_plugins.archive import archiving
from valkyr_plugins.archive.models import ArchiveFile

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.django_db


def client_of(of: Workflow, role: str) -> APIClient:
    """Return a client of a new member with the role; "" means a user of no workspace."""
    user = get_user_model().objects.create(username=f"person-{role or 'none'}")
    if role:
        Membership.objects.create(user=user, workspace_id=of.workspace_id, role=role)
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def gone(archive: Path, orders: Workflow) -> WorkflowExecution:
    """Create an execution that is only in the archive."""
    made = old(orders)
    archiving.turn()
    pruning.turn()
    assert not WorkflowExecution.objects.exists()
    return made


def test_an_archived_execution_is_found_where_it_was(
    gone: WorkflowExecution, orders: Workflow
) -> None:
    client = client_of(orders, "WORKFLOW")

    shown = client.get(f"/v1/WorkflowExecution/{gone.pk}")

    assert shown.status_code == 200
    found = shown.json()
    assert (found["id"], found["state"], found["version"]) == (str(gone.pk), "SUCCESS", 1)
    assert found["output"] == {"sum": 7}
    assert found["labels"] == {"order": "1047"}
    assert found["archivedAt"] is not None
    row = Activity.objects.get(action="archive.open")
    assert (row.object_id, row.workspace_id) == (str(gone.pk), orders.workspace_id)


def test_its_runs_are_with_it(gone: WorkflowExecution, orders: Workflow) -> None:
    client = client_of(orders, "WORKFLOW")

    found = client.get(f"/v1/WorkflowExecution/{gone.pk}/archive").json()

    assert {run["stepPath"] for run in found["runs"]} == {"begin.main", "charge.main"}
    assert found["runs"][0]["logs"] == [{"message": "hello"}]
    assert found["deadLetters"] == []
    [file] = client.get("/v1/ArchiveFile").json()
    assert (file["executions"], file["runs"], file["state"]) == (1, 2, "STORED")


@pytest.mark.parametrize("address", ["", "/archive"])
def test_others_do_not_learn_of_it(gone: WorkflowExecution, orders: Workflow, address: str) -> None:
    client = client_of(orders, "")

    assert client.get(f"/v1/WorkflowExecution/{gone.pk}{address}").status_code == 404
    assert client.post(f"/v1/WorkflowExecution/{gone.pk}/restore").status_code == 404
    assert client.get("/v1/ArchiveFile").json() == []
    assert not Activity.objects.filter(action__startswith="archive.open").exists()


@pytest.mark.parametrize("role", ["", "USER", "SYSTEM"])
def test_their_requests_read_no_file(
    gone: WorkflowExecution, orders: Workflow, archive: Path, role: str
) -> None:
    """The file is missing, so any attempt to read it would be answered with 500."""
    client = client_of(orders, role)
    (archive / ArchiveFile.objects.get().name).unlink()

    hidden = 403 if role == "SYSTEM" else 404
    for address in ("", "/archive"):
        answer = client.get(f"/v1/WorkflowExecution/{gone.pk}{address}")
        assert answer.status_code == hidden, answer.content
    answer = client.post(f"/v1/WorkflowExecution/{gone.pk}/restore", {}, "json")
    assert answer.status_code == hidden, answer.content


def test_a_permission_on_the_workflow_opens_it(gone: WorkflowExecution, orders: Workflow) -> None:
    client = client_of(orders, "USER")
    user = get_user_model().objects.get()
    address = f"/v1/WorkflowExecution/{gone.pk}"
    assert client.get(address).status_code == 404
    assign_perm("read_workflow", user, orders)

    assert client.get(address).status_code == 200
    assert client.get(f"{address}/archive").status_code == 200
    assert client.post(f"{address}/restore", {}, "json").status_code == 403


def test_it_is_restored_and_replayed(
    gone: WorkflowExecution, orders: Workflow, monkeypatch: Any
) -> None:
    client = client_of(orders, "WORKFLOW")
    assert client.post(f"/v1/WorkflowExecution/{gone.pk}/replay", {}, "json").status_code == 404

    made = client.post(f"/v1/WorkflowExecution/{gone.pk}/restore", {"reason": "asked"}, "json")

    assert made.status_code == 200, made.content
    assert made.json()["archivedAt"] is None
    row = Activity.objects.get(action="archive.restore")
    assert (row.object_id, row.reason) == (str(gone.pk), "asked")
    replayed = client.post(f"/v1/WorkflowExecution/{gone.pk}/replay", {}, "json")
    assert replayed.status_code == 202, replayed.content
    assert (
        replayed.json()["triggerPayload"]
        == WorkflowExecution.objects.get(pk=gone.pk).trigger_payload
    )
    forked = client.post(
        f"/v1/WorkflowExecution/{gone.pk}/fork", {"stepPath": "charge.main"}, "json"
    )
    assert forked.status_code == 202, forked.content


def test_who_may_only_read_restores_nothing(gone: WorkflowExecution, orders: Workflow) -> None:
    client = client_of(orders, "SYSTEM")

    assert client.post(f"/v1/WorkflowExecution/{gone.pk}/restore", {}, "json").status_code == 403
    assert not WorkflowExecution.objects.exists()
