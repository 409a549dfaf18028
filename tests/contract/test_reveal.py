"""Payloads are revealed only with a reason and with permission, and each reveal is recorded."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.models import Activity, Membership, Workspace
from runners.models import Run
from tests.support.triggers import triggered

from .people import a_greeting, an_author

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def addresses(kept_world: None) -> Mapping[str, str]:
    """Return the paths of objects that can be revealed: an execution, its run, a dead letter."""
    author = an_author()
    start = f"/v1/WorkflowExecution/{a_greeting(author)['id']}/execute"
    pk = author.post(start, {"params": {"name": "Ada"}}, format="json").json()["id"]
    run = Run.objects.get(execution_id=pk)
    Run.objects.filter(pk=run.pk).update(inputs={"password": "hunter2"}, outputs={"a": 1})
    letter = author.post(f"/v1/Run/{run.pk}/quarantine", {"reason": "x"}, format="json").json()
    found = {"WorkflowExecution": pk, "Run": run.pk, "DeadLetterQueue": letter["id"]}
    return MappingProxyType({kind: f"/v1/{kind}/{found[kind]}" for kind in found})


FIELDS = {
    "WorkflowExecution": ["triggerPayload", "contextData", "output"],
    "Run": ["inputs", "outputs", "overrides", "wake", "logs"],
    "DeadLetterQueue": ["originalInputs", "originalConfig"],
}


@pytest.mark.parametrize("kind", FIELDS)
def test_a_reveal_shows_the_payloads_and_leaves_a_row_that_says_why(
    admin: APIClient, addresses: Mapping[str, str], kind: str
) -> None:
    answer = admin.post(f"{addresses[kind]}/reveal", {"reason": "ticket 7"}, format="json")

    assert answer.status_code == 200, answer.content
    assert list(answer.json()) == ["id", *FIELDS[kind]]
    assert answer["Cache-Control"] == "no-store"
    row = Activity.objects.get(action="payload.reveal")
    assert (row.object_type, row.object_id) == (kind, answer.json()["id"])
    assert (row.reason, row.details) == ("ticket 7", {"fields": FIELDS[kind]})
    assert (row.actor_name, row.via, row.address) == ("admin-default", "api", "127.0.0.1")
    assert "hunter2" not in str((row.details, row.before, row.after))


def test_what_a_run_was_given_is_shown_as_it_is_stored(
    admin: APIClient, addresses: Mapping[str, str]
) -> None:
    answer = admin.post(f"{addresses['Run']}/reveal", {"reason": "why"}, format="json")

    assert answer.json()["inputs"] == {"password": "hunter2"}


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "  "}, {"reason": 5}, []])
@pytest.mark.parametrize("kind", FIELDS)
def test_without_a_reason_nothing_is_revealed(
    admin: APIClient, addresses: Mapping[str, str], kind: str, body: Any
) -> None:
    answer = admin.post(f"{addresses[kind]}/reveal", body, format="json")

    assert answer.status_code == 422
    assert not Activity.objects.filter(action="payload.reveal").exists()


@pytest.mark.parametrize("kind", FIELDS)
def test_the_permission_to_reveal_needs_no_permission_to_see_payloads(
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    addresses: Mapping[str, str],
    workspace: Workspace,
    kind: str,
) -> None:
    reader = member("USER")
    client = client_of(reader)
    assert client.post(f"{addresses[kind]}/reveal", {"reason": "x"}).status_code == 404

    Membership.objects.filter(user=reader).update(permissions=["reveal"])
    _let_read(reader, workspace)
    shown = client.get(addresses[kind]).json()
    answer = client.post(f"{addresses[kind]}/reveal", {"reason": "x"}, format="json")

    assert "$hidden" in shown[FIELDS[kind][0]]
    assert answer.status_code == 200, answer.content
    assert "$hidden" not in str(answer.json())


@pytest.mark.parametrize("kind", FIELDS)
def test_who_may_only_see_payloads_may_not_reveal(
    author: APIClient, addresses: Mapping[str, str], kind: str
) -> None:
    answer = author.post(f"{addresses[kind]}/reveal", {"reason": "x"}, format="json")

    assert answer.status_code == 403
    assert "reveal" in answer.json()["detail"]
    assert not Activity.objects.filter(action="payload.reveal").exists()


@pytest.mark.parametrize(
    "kind", ["WorkflowExecution", "Run", "DeadLetterQueue", "Event", "Activity"]
)
def test_a_list_holds_no_payload(admin: APIClient, addresses: Mapping[str, str], kind: str) -> None:
    admin.post("/v1/Event", {"name": "told", "payload": {"name": "Ada"}}, format="json")

    answer = admin.get(f"/v1/{kind}")

    assert answer.json()
    assert "Ada" not in answer.content.decode()
    assert "hunter2" not in answer.content.decode()


@pytest.mark.parametrize("schema", [
    {"type": "integer"}, {"enum": [1]}, {"pattern": "^[0-9]+$"}, {"maxLength": 1},
    {"anyOf": [{"type": "null"}]}, {"not": {"type": "string"}}, {"format": "date", "minimum": 1,
    "type": "null"},
])  # fmt: skip
def test_why_an_event_started_nothing_is_told_without_what_it_brought(
    admin: APIClient, workspace: Workspace, schema: Any
) -> None:
    needs = {"type": "object", "properties": {"code": schema, "list": {"unevaluatedItems": False}}}
    triggered({"type": "EVENT", "event": "told"}, input=needs, workspace=workspace)
    body = {"name": "told", "payload": {"code": "hunter2", "list": ["hunter2"]}}

    answer = admin.post("/v1/Event", body, format="json")

    [refused] = answer.json()["refused"]
    assert "code: it " in refused["message"]
    assert "hunter2" not in admin.get("/v1/Event").content.decode()


def _let_read(user: Any, workspace: Workspace) -> None:
    from django.contrib.auth.models import Permission

    from executions.models import Workflow, WorkflowUserPermission

    WorkflowUserPermission.objects.create(
        user=user,
        content_object=Workflow.objects.get(workspace=workspace),
        permission=Permission.objects.get(codename="read_workflow"),
    )
