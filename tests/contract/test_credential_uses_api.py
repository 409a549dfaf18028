"""The uses of credentials through the API: limited to a workspace, in pages, exported, without
values.
"""

import json
from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from executions import credentials
from executions.access.actor import Actor
from executions.models import Activity, CredentialUse, Membership, Workspace

pytestmark = pytest.mark.django_db
SECRET = "canary-5d1f0c"
LIST = "/v1/CredentialUse"
ANN = Actor(None, "ann", "test")


def used(workspace: Workspace, name: str = "shop", *, refused: bool = False) -> CredentialUse:
    if not credentials.is_taken(workspace.pk, name):
        credentials.create(
            workspace, name=name, type="secret", fields={"value": SECRET}, hosts=["*"], actor=ANN
        )
    step = credentials.UsingStep(
        workspace.pk, uuid4(), uuid4(), uuid4(), "ask.main", 1, "http.request", "a.example:443"
    )
    opened = credentials.opened_for(step, [name])
    if refused:
        credentials.refuse(
            step, [one.use_id for one in opened.values()], ("this workflow may not use")
        )
    return CredentialUse.objects.get(execution_id=step.execution_id)


def test_a_use_is_shown_without_a_value(admin: APIClient, workspace: Workspace) -> None:
    use = used(workspace)

    answer = admin.get(LIST)

    [shown] = answer.json()
    assert shown.pop("createdAt")
    assert shown == {
        "id": str(use.pk),
        "workspaceId": str(workspace.pk),
        "credentialId": str(use.credential_id),
        "name": "shop",
        "version": 1,
        "workflowId": str(use.workflow_id),
        "executionId": str(use.execution_id),
        "runId": str(use.run_id),
        "stepPath": "ask.main",
        "attempt": 1,
        "module": "http.request",
        "remote": False,
        "host": "a.example:443",
        "allowed": True,
        "reason": "",
    }
    assert SECRET not in answer.content.decode()


def test_the_list_is_filtered_and_comes_in_pages(admin: APIClient, workspace: Workspace) -> None:
    made = [used(workspace) for _ in range(3)]
    refused = used(workspace, refused=True)
    other = used(workspace, "bank")

    def ids(**query: Any) -> list[str]:
        answer = admin.get(LIST, query)
        assert answer.status_code == 200, answer.content
        return [row["id"] for row in answer.json()]

    assert ids() == [str(one.pk) for one in (other, refused, *reversed(made))]
    assert ids(allowed="false") == [str(refused.pk)]
    assert ids(name="bank") == [str(other.pk)]
    assert ids(credentialId=other.credential_id) == [str(other.pk)]
    assert ids(executionId=made[0].execution_id) == [str(made[0].pk)]
    assert ids(workflowId=made[1].workflow_id) == [str(made[1].pk)]
    first = admin.get(LIST, {"limit": 2})
    following = first.headers["Link"].partition(">")[0].lstrip("<")
    assert [row["id"] for row in admin.get(following).json()] == [
        str(one.pk) for one in (made[2], made[1], made[0])
    ][:2]


def test_only_users_of_credentials_of_the_workspace_see_them(
    admin: APIClient, workspace: Workspace, django_user_model: Any
) -> None:
    used(workspace)
    elsewhere = Workspace.objects.create(slug="other", name="Other", tier=workspace.tier)
    used(elsewhere)
    author, viewer = (
        django_user_model.objects.create(username=name) for name in ("author", "viewer")
    )
    Membership.objects.create(user=author, workspace=workspace, role="WORKFLOW")
    Membership.objects.create(user=viewer, workspace=workspace, role="USER")

    def seen(user: Any) -> list[str]:
        client = APIClient()
        client.force_authenticate(user)
        return [row["workspaceId"] for row in client.get(LIST).json()]

    assert seen(author) == [str(workspace.pk)]
    assert seen(viewer) == []


def test_uses_are_exported_as_lines_and_the_export_is_recorded(
    admin: APIClient, workspace: Workspace
) -> None:
    made = [used(workspace), used(workspace, refused=True)]

    answer: Any = admin.get(f"{LIST}/export")

    assert answer.status_code == 200
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    assert [(line["id"], line["allowed"]) for line in lines] == [
        (str(made[0].pk), True),
        (str(made[1].pk), False),
    ]
    assert SECRET not in json.dumps(lines)
    assert Activity.objects.filter(action="credential_use.export").exists()


def test_an_export_needs_an_administrator(workspace: Workspace, django_user_model: Any) -> None:
    used(workspace)
    author = django_user_model.objects.create(username="author")
    Membership.objects.create(user=author, workspace=workspace, role="WORKFLOW")
    client = APIClient()
    client.force_authenticate(author)

    assert client.get(f"{LIST}/export").status_code == 403
