"""Dead letters as JSON lines: with the list's filters, and payloads for permitted users."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from rest_framework.test import APIClient

from dlq.browse import export
from executions.models import Activity, Workflow, WorkflowUserPermission, Workspace
from runners.models import Run

pytestmark = pytest.mark.django_db
EXPORT = "/v1/DeadLetterQueue/export"
HIDDEN = {"$hidden": "You need the permission view_payloads to see this."}


@pytest.fixture
def letters(author: APIClient, greeting: dict[str, Any]) -> list[str]:
    """Create three dead letters; return their ids, oldest first."""
    address = f"/v1/WorkflowExecution/{greeting['id']}/execute-batch"
    payloads = [{"name": name} for name in ("ann", "bob", "cy")]
    author.post(address, {"payloads": payloads}, format="json")
    found = []
    for number, run in enumerate(Run.objects.order_by("pk")):
        Run.objects.filter(pk=run.pk).update(inputs={"values": {"n": number}})
        answer = author.post(f"/v1/Run/{run.pk}/quarantine", {"reason": "poison"}, format="json")
        found.append(answer.json()["id"])
    return found


def lines(client: APIClient, **query: str) -> list[dict[str, Any]]:
    answer: Any = client.get(EXPORT, query)
    assert answer.status_code == 200, answer.content
    return [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]


def test_everything_is_exported_oldest_first_in_batches_and_that_is_recorded(
    author: APIClient, letters: list[str], monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    monkeypatch.setattr(export, "BATCH", 2)

    found = lines(author)

    assert [line["id"] for line in found] == letters
    shown = author.get(f"/v1/DeadLetterQueue/{letters[0]}").json()
    assert {name: shown[name] for name in shown.keys() & found[0].keys()} == {
        name: found[0][name] for name in shown.keys() & found[0].keys()
    }
    assert found[2]["originalInputs"] == {"values": {"n": 2}}
    line = Activity.objects.get(action="dead_letter.export")
    assert (line.workspace_id, line.object_type) == (workspace.pk, "DeadLetterQueue")


def test_an_export_and_the_list_choose_alike(author: APIClient, letters: list[str]) -> None:
    condition = json.dumps([{"path": "values.n", "op": "eq", "value": 1}])
    author.post(f"/v1/DeadLetterQueue/{letters[1]}/pin", {"reason": "audit"}, format="json")

    for query in ({"inputs": condition}, {"pinned": "true"}, {"text": "POISON", "pinned": "1"}):
        assert [line["id"] for line in lines(author, **query)] == [letters[1]]
        listed = author.get("/v1/DeadLetterQueue", query).json()
        assert [row["id"] for row in listed] == [letters[1]]
    assert lines(author, resolution="FIXED") == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("inputs", "{}"), ("inputs", "[1]"), ("inputs", "["), ("inputs", '[{"path": "a"}]'),
        ("httpStatus", "x"), ("resolution", "open"), ("colour", "red"), ("limit", "5"),
    ],
)  # fmt: skip
def test_what_is_no_filter_is_named(author: APIClient, name: str, value: str) -> None:
    answer = author.get(EXPORT, {name: value})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == name


def test_who_may_not_see_payloads_gets_none_and_cannot_ask_for_them(
    letters: list[str], member: Callable[..., Any], client_of: Callable[[Any], APIClient]
) -> None:
    reader = member("USER")
    WorkflowUserPermission.objects.create(
        user=reader,
        content_object=Workflow.objects.get(),
        permission=Permission.objects.get(codename="read_workflow"),
    )
    client = client_of(reader)

    found = lines(client)
    condition = json.dumps([{"path": "values.n", "op": "eq", "value": 1}])

    assert [line["id"] for line in found] == letters
    assert all(line["originalInputs"] == line["originalConfig"] == HIDDEN for line in found)
    assert lines(client, inputs=condition) == []
    assert client.get("/v1/DeadLetterQueue", {"inputs": condition}).json() == []


def test_nothing_of_other_workspaces_is_exported(
    letters: list[str],
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    elsewhere: Workspace,
    workspace: Workspace,
) -> None:
    other = client_of(member("ADMIN", elsewhere))

    assert lines(other) == lines(other, workspaceId=str(workspace.pk)) == []
    assert not Activity.objects.filter(workspace=workspace, action="dead_letter.export").exists()
