"""The audit trail over HTTP: its visible rows for each user, filters, pages, the export."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from executions.access import TokenLimits
from executions.access.actor import Actor, record
from executions.audit import export
from executions.audit.export import lines_async
from executions.models import Activity, AuditSeal, Workflow, WorkflowUserPermission, Workspace
from runners.models import Run
from tests.support.coroutines import awaited

pytestmark = pytest.mark.django_db
Clients = Callable[[Any], APIClient]


@pytest.fixture
def root(client_of: Clients) -> APIClient:
    return client_of(get_user_model().objects.create_superuser("root"))


def _rows(workspace: Workspace | None, count: int = 1, action: str = "thing.change") -> None:
    for number in range(count):
        record(
            Actor(None, "ada", "command", "10.0.0.7"),
            action,
            workspace_id=workspace and workspace.pk,
            object_type="Thing",
            object_id=f"{number}",
            reason="because",
            before={"size": 1},
            after={"size": 2},
        )


def test_a_row_says_who_did_what_when_from_where_why_and_what_it_was_before(
    admin: APIClient, workspace: Workspace
) -> None:
    _rows(workspace)

    [listed] = admin.get("/v1/Activity").json()
    shown = admin.get(f"/v1/Activity/{listed['id']}").json()

    assert listed == {key: shown[key] for key in listed}
    assert set(shown) - set(listed) == {"before", "after", "details"}
    del shown["id"], shown["createdAt"]
    assert shown == {
        "workspaceId": str(workspace.pk),
        "actorId": None,
        "actor": "ada",
        "via": "command",
        "address": "10.0.0.7",
        "action": "thing.change",
        "objectType": "Thing",
        "objectId": "0",
        "reason": "because",
        "before": {"size": 1},
        "after": {"size": 2},
        "details": {},
    }


def test_administrators_read_their_workspaces_and_superusers_everything(
    admin: APIClient,
    author: APIClient,
    root: APIClient,
    workspace: Workspace,
    elsewhere: Workspace,
) -> None:
    for place in (workspace, elsewhere, None):
        _rows(place)

    assert [row["workspaceId"] for row in admin.get("/v1/Activity").json()] == [str(workspace.pk)]
    assert author.get("/v1/Activity").json() == []
    assert len(root.get("/v1/Activity").json()) == 3
    for row in Activity.objects.all():
        own = row.workspace_id == workspace.pk
        assert admin.get(f"/v1/Activity/{row.pk}").status_code == (200 if own else 404)
        assert author.get(f"/v1/Activity/{row.pk}").status_code == 404
        assert root.get(f"/v1/Activity/{row.pk}").status_code == 200


def test_who_may_see_an_object_reads_what_was_done_to_it(
    author: APIClient,
    greeting: dict[str, Any],
    member: Callable[..., Any],
    client_of: Clients,
    elsewhere: Workspace,
) -> None:
    start = f"/v1/WorkflowExecution/{greeting['id']}/execute"
    pk = author.post(start, {"params": {"name": "x"}}, format="json").json()["id"]
    run = Run.objects.get(execution_id=pk)
    letter = author.post(f"/v1/Run/{run.pk}/quarantine", {"reason": "x"}, format="json").json()
    author.post(f"/v1/DeadLetterQueue/{letter['id']}/discard", {"notes": "x"}, format="json")
    reader = member("USER")
    WorkflowUserPermission.objects.create(
        user=reader,
        content_object=Workflow.objects.get(),
        permission=Permission.objects.get(codename="read_workflow"),
    )
    stranger = client_of(member("WORKFLOW", elsewhere))
    expected = {
        greeting["id"]: ["workflow.publish", "workflow.create"],
        pk: ["execution.start"],
        str(run.pk): ["run.quarantine"],
        letter["id"]: ["dead_letter.discarded"],
    }

    for object_id, actions in expected.items():
        for client in (author, client_of(reader)):
            found = client.get("/v1/Activity", {"objectId": object_id}).json()
            assert [row["action"] for row in found] == actions
            assert client.get(f"/v1/Activity/{found[0]['id']}").status_code == 200
        assert stranger.get("/v1/Activity", {"objectId": object_id}).json() == []


def test_the_history_of_a_membership_is_for_administrators(
    author: APIClient, admin: APIClient, member: Callable[..., Any], workspace: Workspace
) -> None:
    member("SYSTEM")
    pk = workspace.memberships.first().pk
    record(
        Actor(None, "ada"),
        "membership.change",
        workspace_id=workspace.pk,
        object_type="Membership",
        object_id=pk,
    )

    assert author.get("/v1/Activity", {"objectId": str(pk)}).json() == []
    assert len(admin.get("/v1/Activity", {"objectId": str(pk)}).json()) == 1


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"actor": "ada"}, 3),
        ({"actor": "eve"}, 0),
        ({"action": "thing.change"}, 2),
        ({"action": "thing."}, 3),
        ({"action": "thing"}, 0),
        ({"objectType": "Thing", "objectId": "1"}, 1),
        ({"via": "command"}, 3),
        ({"via": "api"}, 0),
        ({"createdAfter": "2020-01-01T00:00:00Z"}, 3),
        ({"createdAfter": "2999-01-01T00:00:00Z"}, 0),
        ({"createdBefore": "2020-01-01T00:00:00Z"}, 0),
    ],
)
@pytest.mark.parametrize("who", ["admin", "root"])
def test_filters_narrow_the_list_and_the_export_alike(
    request: pytest.FixtureRequest,
    workspace: Workspace,
    who: str,
    query: dict[str, str],
    count: int,
) -> None:
    client = request.getfixturevalue(who)
    _rows(workspace, 2)
    _rows(workspace, 1, "thing.remove")

    assert len(client.get("/v1/Activity", query).json()) == count
    assert len(_lines(client.get("/v1/Activity/export", query))) == count


@pytest.mark.parametrize("who", ["admin", "root"])
def test_pages_hold_every_row_once_newest_first(
    request: pytest.FixtureRequest, workspace: Workspace, who: str
) -> None:
    client = request.getfixturevalue(who)
    _rows(workspace, 7)

    seen, address = [], "/v1/Activity?limit=3"
    while address:
        answer = client.get(address)
        seen += [row["objectId"] for row in answer.json()]
        address = answer.get("Link", "").partition(">")[0].lstrip("<")

    assert seen == ["6", "5", "4", "3", "2", "1", "0"]


@pytest.mark.parametrize(
    "query", [{"limit": "0"}, {"cursor": "x"}, {"createdAfter": "soon"}, {"what": "x"}]
)
def test_odd_queries_are_refused(admin: APIClient, query: dict[str, str]) -> None:
    assert admin.get("/v1/Activity", query).status_code == 422


def test_an_export_is_in_batches_and_is_recorded_itself(
    admin: APIClient, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    _rows(workspace, 5)
    monkeypatch.setattr(export.batches, "__defaults__", (2,))

    with CaptureQueriesContext(connection) as seen:
        exported = _lines(admin.get("/v1/Activity/export", {"action": "thing."}))

    assert [row["objectId"] for row in exported] == ["0", "1", "2", "3", "4"]
    selects = [
        one for one in seen if "ORDER BY" in one["sql"] and "executions_activity" in one["sql"]
    ]
    assert len(selects) == 3
    assert exported[0] == admin.get(f"/v1/Activity/{exported[0]['id']}").json()
    kept = Activity.objects.get(action="activity.export")
    assert (kept.workspace_id, kept.actor_name) == (workspace.pk, "admin-default")
    assert kept.details == {"filters": {"action": "thing."}}


def test_a_server_of_asynchronous_requests_gets_the_same_lines(workspace: Workspace) -> None:
    _rows(workspace, 3)

    async def read() -> bytes:
        return b"".join([part async for part in lines_async(Activity.objects.all())])

    found = [json.loads(line) for line in awaited(read)().splitlines()]

    assert [row["objectId"] for row in found] == ["0", "1", "2"]


def test_a_token_reads_no_more_than_its_workspace_and_scopes(
    client_of: Clients, workspace: Workspace, elsewhere: Workspace
) -> None:
    _rows(workspace)
    _rows(elsewhere)
    _rows(None)
    counts = {}
    for scopes in ({"view"}, {"view", "administer"}):
        user: Any = get_user_model().objects.create_superuser(f"root {len(scopes)}")
        user.token_limits = TokenLimits(workspace.pk, frozenset(scopes))
        counts[len(scopes)] = len(client_of(user).get("/v1/Activity").json())

    assert counts == {1: 0, 2: 1}


def _lines(answer: Any) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "application/x-ndjson"
    return [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]


def test_the_newest_seal_is_for_administrators(admin: APIClient, author: APIClient) -> None:
    assert author.get("/v1/Activity/head").status_code == 403
    assert admin.get("/v1/Activity/head").status_code == 404
    for number in (1, 2):
        AuditSeal.objects.create(
            number=number, previous=bytes(32), digest=bytes([number]) * 32, count=0, leaves=b"",
            last_transaction=1, last_row=uuid4(), since=timezone.now(), sealed_at=timezone.now(),
        )  # fmt: skip

    found = admin.get("/v1/Activity/head").json()

    assert (found["number"], found["digest"]) == (2, "02" * 32)
    assert found["head"] == f"2:{'02' * 32}"
