"""The tests call every operation as each role, as a member of another workspace, and as a
superuser.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction
from rest_framework.test import APIClient

from dlq.models import DeadLetterEntry
from executions import credentials
from executions.access import visible
from executions.access.actor import Actor
from executions.models import Membership, Workflow, WorkflowExecution, Workspace
from runners.models import Run
from valkyr_plugins.alerts.lifecycle import Finding, notice, tell
from valkyr_plugins.alerts.models import AlertKind
from valkyr_plugins.alerts.rules import create_rule
from valkyr_plugins.circuits.models import CircuitBreaker
from valkyr_plugins.limits.budgets import BUDGETS
from valkyr_plugins.limits.models import CostEntry
from valkyr_plugins.limits.quotas import QUOTAS
from valkyr_plugins.mcp import proposals
from valkyr_plugins.mcp.in_process import InProcessApi
from valkyr_plugins.mcp.models import ProposalKind
from valkyr_plugins.version_migration.models import ExecutionMigration

from .people import a_client, a_greeting, a_member, a_workspace, an_author

pytestmark = pytest.mark.django_db
ANN = Actor(None, "ann", "test")

# operation: (method, address, body), then the answers for WORKFLOW, SYSTEM and USER of the
# workspace and for WORKFLOW of another one. ADMIN gets what WORKFLOW gets, except for ADMINS.
OPERATIONS: dict[str, tuple[str, str, Any, tuple[int, int, int, int]]] = {
    "get workflow": ("get", "/v1/Workflow/{w}", None, (200, 403, 404, 404)),
    "change workflow": ("patch", "/v1/Workflow/{w}", {"enabled": True}, (200, 403, 404, 404)),
    "replace": ("put", "/v1/Workflow/{w}", {"name": "n", "definition": {}}, (200, 403, 404, 404)),
    "validate": ("post", "/v1/Workflow/{w}/validate", {}, (200, 403, 404, 404)),
    "evaluate": (
        "post", "/v1/Workflow/{w}/evaluate", {"template": "{{ 1 }}"}, (200, 403, 404, 404),
    ),
    "next times": (
        "post", "/v1/Workflow/{w}/next-times", {"trigger": {"schedule": "0 8 * * *"}},
        (200, 403, 404, 404),
    ),
    "publish": ("post", "/v1/Workflow/{w}/publish", {}, (409, 403, 404, 404)),
    "get canary": ("get", "/v1/Workflow/{w}/canary", None, (404, 403, 404, 404)),
    "publish canary": (
        "post", "/v1/Workflow/{w}/canary", {"percent": 5}, (409, 403, 404, 404)
    ),
    "change canary": ("patch", "/v1/Workflow/{w}/canary", {"percent": 5}, (404, 403, 404, 404)),
    "promote canary": ("post", "/v1/Workflow/{w}/canary/promote", {}, (404, 403, 404, 404)),
    "stop canary": ("post", "/v1/Workflow/{w}/canary/stop", {}, (404, 403, 404, 404)),
    "live versions": ("get", "/v1/Workflow/{w}/live-versions", None, (200, 403, 404, 404)),
    "canaries": ("get", "/v1/Workflow/{w}/canaries", None, (200, 403, 404, 404)),
    "rollbacks": ("get", "/v1/Workflow/{w}/rollbacks", None, (200, 403, 404, 404)),
    "roll back workflow": ("post", "/v1/Workflow/{w}/rollbacks", {}, (409, 403, 404, 404)),
    "validate anything": (
        "post", "/v1/Workflow/validate", {"definition": {}, "workspaceId": "{ws}"},
        (200, 403, 403, 404),
    ),
    "test": ("post", "/v1/Workflow/{w}/test", {"params": {"name": "x"}}, (202, 403, 404, 404)),
    "last results": ("get", "/v1/Workflow/{w}/last-results", None, (200, 403, 404, 404)),
    "versions": ("get", "/v1/Workflow/{w}/versions", None, (200, 403, 404, 404)),
    "version": ("get", "/v1/Workflow/{w}/versions/1", None, (200, 403, 404, 404)),
    "export": ("get", "/v1/Workflow/{w}/export", None, (200, 403, 404, 404)),
    "delete": ("delete", "/v1/Workflow/{w}", None, (204, 403, 404, 404)),
    "execute": (
        "post", "/v1/WorkflowExecution/{w}/execute", {"params": {"name": "x"}},
        (202, 202, 404, 404),
    ),
    "batch": (
        "post", "/v1/WorkflowExecution/{w}/execute-batch", {"payloads": [{"name": "x"}]},
        (202, 202, 404, 404),
    ),
    "start": (
        "post", "/api/v1/workflow/executions/start",
        {"workflowDefinitionId": "{w}", "workspaceId": "{ws}", "input": {"name": "x"}},
        (202, 202, 404, 404),
    ),
    "queue item": (
        "get", "/api/v1/workflow/executions/queue/{e}", None, (200, 200, 404, 404)
    ),
    "get execution": ("get", "/v1/WorkflowExecution/{e}", None, (200, 403, 404, 404)),
    "timeline": ("get", "/v1/WorkflowExecution/{e}/timeline", None, (200, 403, 404, 404)),
    "graph": ("get", "/v1/WorkflowExecution/{e}/graph", None, (200, 403, 404, 404)),
    "watch": ("get", "/v1/WorkflowExecution/{e}/subscribe", None, (200, 403, 404, 404)),
    "watch workflow": ("get", "/v1/vaiworkflow/subscribe/{w}", None, (200, 403, 404, 404)),
    "pause": ("post", "/v1/WorkflowExecution/{e}/pause", {}, (200, 403, 404, 404)),
    "resume": ("post", "/v1/WorkflowExecution/{e}/resume", {}, (409, 403, 404, 404)),
    "cancel": ("post", "/v1/WorkflowExecution/{e}/cancel", {}, (200, 403, 404, 404)),
    "undo": ("post", "/v1/WorkflowExecution/{e}/undo", {}, (409, 403, 404, 404)),
    "get run": ("get", "/v1/Run/{r}", None, (200, 403, 404, 404)),
    "lease": (
        "post", "/v1/Run/lease", {"runnerId": "r", "queues": ["gpu"]}, (403, 200, 403, 403)
    ),
    "heartbeat": ("post", "/v1/Run/{r}/heartbeat", {"leaseToken": "x"}, (403, 409, 404, 404)),
    "complete": (
        "post", "/v1/Run/{r}/complete", {"leaseToken": "x", "outputs": "x"}, (403, 409, 404, 404)
    ),
    "fail": (
        "post", "/v1/Run/{r}/fail",
        {"leaseToken": "x", "error": "x", "errorType": "PERMANENT"}, (403, 409, 404, 404),
    ),
    "quarantine": ("post", "/v1/Run/{r}/quarantine", {"reason": "x"}, (200, 403, 404, 404)),
    "get dead letter": ("get", "/v1/DeadLetterQueue/{d}", None, (200, 403, 404, 404)),
    "requeue": ("post", "/v1/DeadLetterQueue/{d}/requeue", {}, (200, 403, 404, 404)),
    "fix": (
        "post", "/v1/DeadLetterQueue/{d}/fix", {"outputs": {"text": "Hi"}}, (200, 403, 404, 404)
    ),
    "skip": ("post", "/v1/DeadLetterQueue/{d}/skip", {}, (200, 403, 404, 404)),
    "discard": (
        "post", "/v1/DeadLetterQueue/{d}/discard", {"notes": "x"}, (200, 403, 404, 404)
    ),
    "export dead letters": ("get", "/v1/DeadLetterQueue/export", None, (200, 200, 200, 200)),
    "copy as pytest": ("get", "/v1/DeadLetterQueue/{d}/pytest", None, (422, 403, 404, 404)),
    "copy as curl": ("get", "/v1/DeadLetterQueue/{d}/curl", None, (422, 403, 404, 404)),
    "pin": ("post", "/v1/DeadLetterQueue/{d}/pin", {}, (200, 403, 404, 404)),
    "unpin": ("post", "/v1/DeadLetterQueue/{d}/unpin", {}, (200, 403, 404, 404)),
    "restore": ("post", "/v1/DeadLetterQueue/{d}/restore", {}, (409, 403, 404, 404)),
    "get group": ("get", "/v1/FailureGroup/{g}", None, (200, 403, 404, 404)),
    "change group": (
        "patch", "/v1/FailureGroup/{g}", {"status": "ACKNOWLEDGED"}, (200, 403, 404, 404)
    ),
    "note group": ("post", "/v1/FailureGroup/{g}/notes", {"text": "x"}, (201, 403, 404, 404)),
    "merge groups": (
        "post", "/v1/FailureGroup/{g}/merge", {"ids": ["01987c4e-0000-7000-8000-000000000001"]},
        (404, 403, 404, 404),
    ),
    "unmerge group": (
        "post", "/v1/FailureGroup/{g}/unmerge", {"fingerprint": "x"}, (422, 403, 404, 404)
    ),
    "split group": ("post", "/v1/FailureGroup/{g}/split", {"by": "target"}, (422, 403, 404, 404)),
    "get proposal": ("get", "/v1/Proposal/{p}", None, (200, 403, 404, 404)),
    "preview proposal": ("post", "/v1/Proposal/{p}/preview", {}, (200, 403, 404, 404)),
    "approve proposal": ("post", "/v1/Proposal/{p}/approve", {}, (200, 403, 404, 404)),
    "reject proposal": ("post", "/v1/Proposal/{p}/reject", {}, (200, 403, 404, 404)),
    "expose workflow": ("put", "/v1/Workflow/{w}/tool", {}, (200, 403, 404, 404)),
    "hide workflow": ("delete", "/v1/Workflow/{w}/tool", None, (204, 403, 404, 404)),
    "make redrive": ("post", "/v1/Redrive", {"groupId": "{g}"}, (201, 403, 404, 404)),
    "requeue many": (
        "post", "/v1/DeadLetterQueue/requeue", {"groupId": "{g}"}, (202, 403, 404, 404)
    ),
    "get redrive": ("get", "/v1/Redrive/{re}", None, (200, 403, 404, 404)),
    "redrive's items": ("get", "/v1/Redrive/{re}/items", None, (200, 403, 404, 404)),
    "preview redrive": ("post", "/v1/Redrive/{re}/preview", {}, (200, 403, 404, 404)),
    "make migration": (
        "post", "/v1/ExecutionMigration", {"workflowId": "{w}", "fromVersion": 1},
        (422, 403, 404, 404),
    ),
    "get migration": ("get", "/v1/ExecutionMigration/{mg}", None, (200, 403, 404, 404)),
    "migration's executions": (
        "get", "/v1/ExecutionMigration/{mg}/executions", None, (200, 403, 404, 404)
    ),
    "preview migration": ("post", "/v1/ExecutionMigration/{mg}/preview", {}, (200, 403, 404, 404)),
    "start migration": ("post", "/v1/ExecutionMigration/{mg}/start", {}, (200, 403, 404, 404)),
    "pause migration": ("post", "/v1/ExecutionMigration/{mg}/pause", {}, (409, 403, 404, 404)),
    "resume migration": ("post", "/v1/ExecutionMigration/{mg}/resume", {}, (409, 403, 404, 404)),
    "cancel migration": ("post", "/v1/ExecutionMigration/{mg}/cancel", {}, (200, 403, 404, 404)),
    "start redrive": ("post", "/v1/Redrive/{re}/start", {}, (200, 403, 404, 404)),
    "pause redrive": ("post", "/v1/Redrive/{re}/pause", {}, (409, 403, 404, 404)),
    "resume redrive": ("post", "/v1/Redrive/{re}/resume", {}, (409, 403, 404, 404)),
    "abort redrive": ("post", "/v1/Redrive/{re}/abort", {}, (200, 403, 404, 404)),
    "reveal execution": (
        "post", "/v1/WorkflowExecution/{e}/reveal", {"reason": "x"}, (403, 403, 404, 404)
    ),
    "reveal run": ("post", "/v1/Run/{r}/reveal", {"reason": "x"}, (403, 403, 404, 404)),
    "reveal dead letter": (
        "post", "/v1/DeadLetterQueue/{d}/reveal", {"reason": "x"}, (403, 403, 404, 404)
    ),
    "activity": ("get", "/v1/Activity", None, (200, 200, 200, 200)),
    "export activity": ("get", "/v1/Activity/export", None, (403, 403, 403, 403)),
    "create": ("post", "/v1/Workflow", {"name": "n", "workspaceId": "{ws}"}, (201, 403, 403, 404)),
    "keep credential": (
        "post", "/v1/Credential",
        {"workspaceId": "{ws}", "name": "bank", "fields": {"value": "hunter2"}, "hosts": ["*"]},
        (403, 403, 403, 404),
    ),
    "get credential": ("get", "/v1/Credential/{c}", None, (200, 403, 404, 404)),
    "change credential": (
        "patch", "/v1/Credential/{c}", {"description": "x"}, (403, 403, 404, 404)
    ),
    "delete credential": ("delete", "/v1/Credential/{c}", None, (403, 403, 404, 404)),
    "make quota": (
        "post", "/v1/Quota", {"workspaceId": "{ws}", "userId": None, "maxPerDay": 9},
        (403, 403, 403, 404),
    ),
    "get quota": ("get", "/v1/Quota/{q}", None, (200, 403, 404, 404)),
    "change quota": ("patch", "/v1/Quota/{q}", {"maxPerDay": 9}, (403, 403, 404, 404)),
    "delete quota": ("delete", "/v1/Quota/{q}", None, (403, 403, 404, 404)),
    "get circuit": ("get", "/v1/CircuitBreaker/{b}", None, (200, 403, 404, 404)),
    "reset circuit": (
        "post", "/v1/CircuitBreaker/{b}/reset", {"reason": "x"}, (200, 403, 404, 404)
    ),
    "make budget": (
        "post", "/v1/Budget", {"workspaceId": "{ws}", "amount": 9}, (403, 403, 403, 404)
    ),
    "get budget": ("get", "/v1/Budget/{m}", None, (200, 403, 404, 404)),
    "change budget": ("patch", "/v1/Budget/{m}", {"amount": 9}, (403, 403, 404, 404)),
    "delete budget": ("delete", "/v1/Budget/{m}", None, (403, 403, 404, 404)),
    "costs": ("get", "/v1/CostEntry", None, (200, 200, 200, 200)),
    "spend": ("get", "/v1/Spend?groupBy=day", None, (200, 200, 200, 200)),
    "figures": ("get", "/v1/Figures?workflowId={w}", None, (200, 403, 404, 404)),
    "make alert rule": (
        "post", "/v1/AlertRule",
        {"workspaceId": "{ws}", "name": "n", "channel": "EMAIL", "kinds": ["GROUP_NEW"],
         "recipients": ["ann@example.com"]},
        (403, 403, 403, 404),
    ),
    "get alert rule": ("get", "/v1/AlertRule/{ar}", None, (403, 403, 404, 404)),
    "change alert rule": (
        "patch", "/v1/AlertRule/{ar}", {"enabled": False}, (403, 403, 404, 404)
    ),
    "try alert rule": ("post", "/v1/AlertRule/{ar}/test", {}, (403, 403, 404, 404)),
    "send alert again": (
        "post", "/v1/AlertDelivery/{ad}/resend", {}, (403, 403, 404, 404)
    ),
    "delete alert rule": ("delete", "/v1/AlertRule/{ar}", None, (403, 403, 404, 404)),
    "usage": ("get", "/v1/Workspace/{ws}/usage", None, (200, 403, 404, 404)),
    "me": ("get", "/v1/Me", None, (200, 200, 200, 200)),
    "get workspace": ("get", "/v1/Workspace/{ws}", None, (200, 200, 200, 404)),
    "rename workspace": ("patch", "/v1/Workspace/{ws}", {"name": "n"}, (403, 403, 403, 404)),
    "add nobody": (
        "post", "/v1/Membership", {"workspaceId": "{ws}", "username": "nobody", "role": "USER"},
        (403, 403, 403, 404),
    ),
    "make program": (
        "post", "/v1/ServiceAccount", {"workspaceId": "{ws}", "name": "robot"},
        (403, 403, 403, 404),
    ),
    "make token": (
        "post", "/v1/ApiToken", {"workspaceId": "{ws}", "name": "t"}, (201, 201, 403, 404)
    ),
    "modules": ("get", "/v1/ModuleType", None, (200, 200, 200, 200)),
}  # fmt: skip
# Where ADMIN, and a superuser, get another answer than WORKFLOW.
ADMINS = {
    "reveal execution": 200,
    "reveal run": 200,
    "reveal dead letter": 200,
    "export activity": 200,
    "lease": 200,
    "heartbeat": 409,
    "complete": 409,
    "fail": 409,
    "keep credential": 201,
    "change credential": 200,
    "delete credential": 204,
    "rename workspace": 200,
    "add nobody": 422,
    "make program": 201,
    "make quota": 201,
    "change quota": 200,
    "delete quota": 204,
    "make budget": 201,
    "change budget": 200,
    "delete budget": 204,
    "make alert rule": 201,
    "get alert rule": 200,
    "change alert rule": 200,
    "try alert rule": 200,
    "send alert again": 409,
    "delete alert rule": 204,
}
LISTS = (
    "Workflow", "WorkflowExecution", "Run", "DeadLetterQueue", "Credential", "Quota", "Budget",
    "Redrive", "ExecutionMigration", "Proposal", "CostEntry", "CircuitBreaker", "Alert",
    "AlertDelivery",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def things(kept_world: None) -> Mapping[str, str]:
    """Create a workflow, a running execution with a live run, and a dead letter."""
    workspace, author = a_workspace(), an_author()
    greeting = a_greeting(author)
    address = f"/v1/WorkflowExecution/{greeting['id']}/execute"
    started = [
        author.post(address, {"params": {"name": "x"}}, format="json").json()["id"]
        for _ in range(2)
    ]
    dead = Run.objects.get(execution_id=started[0])
    letter = author.post(f"/v1/Run/{dead.pk}/quarantine", {"reason": "poison"}, format="json")
    assert letter.status_code == 200, letter.content
    live = Run.objects.get(execution_id=started[1])
    secret = credentials.create(
        workspace, name="shop", type="secret", fields={"value": "hunter2"}, hosts=["*"], actor=ANN
    )
    limited = Membership.objects.filter(workspace=workspace).first()
    quota = QUOTAS.create(
        workspace, {"max_per_day": 1_000}, user_id=limited and limited.user_id, actor=ANN
    )
    facts = {"period": "total", "amount": Decimal(1_000)}
    budget = BUDGETS.create(workspace, facts, user_id=None, actor=ANN)
    CostEntry.objects.create(
        workspace=workspace, workflow_id=greeting["id"], execution_id=started[1], run_id=live.pk
    )
    rule = create_rule(
        workspace,
        {
            "name": "On call",
            "kinds": ["GROUP_NEW"],
            "channel": "EMAIL",
            "recipients": ["a@b.example"],
        },
        actor=ANN,
    )
    notice(rule, Finding(AlertKind.GROUP_NEW, "group:1", "It broke."))
    tell(rule)
    boss = get_user_model().objects.create_superuser("boss")
    group = str(DeadLetterEntry.objects.get().group_id)
    proposal = proposals.propose(
        InProcessApi(boss, None, Actor.of(boss)),
        ProposalKind.GROUP,
        {"groupId": group, "note": "It broke."},
        "It broke.",
    )
    version = Workflow.objects.get(pk=greeting["id"]).latest_version
    migration = ExecutionMigration.objects.create(
        workspace=workspace, workflow_id=greeting["id"], source=version, target=version
    )
    found = {
        "mg": str(migration.pk),
        "p": str(proposal.pk),
        "ar": str(rule.pk),
        "ad": str(rule.deliveries.get().pk),
        "w": greeting["id"],
        "ws": str(workspace.pk),
        "e": started[1],
        "r": str(live.pk),
        "d": letter.json()["id"],
        "re": author.post("/v1/Redrive", {"ids": [letter.json()["id"]]}, format="json").json()[
            "id"
        ],
        "g": str(DeadLetterEntry.objects.get().group_id),
        "c": str(secret.pk),
        "q": str(quota.pk),
        "m": str(budget.pk),
        "b": str(CircuitBreaker.objects.create(workspace=workspace, target="http.request:a").pk),
    }
    return MappingProxyType(found)


@pytest.fixture(scope="module", autouse=True)
def names(things: Mapping[str, str]) -> Mapping[str, str]:
    """Return the user names of the callers by kind; a superuser is in no workspace."""
    users = {
        "ADMIN": a_member("ADMIN"),
        "WORKFLOW": a_member("WORKFLOW", name="second author"),
        "SYSTEM": a_member("SYSTEM"),
        "USER": a_member("USER"),
        "elsewhere": a_member("WORKFLOW", a_workspace("elsewhere")),
        "superuser": get_user_model().objects.create_superuser("root"),
    }
    return MappingProxyType({who: user.username for who, user in users.items()})


@pytest.fixture
def people(names: Mapping[str, str]) -> dict[str, APIClient]:
    """Return the callers' clients, each with a user object without caches of earlier tests."""
    users = {user.username: user for user in get_user_model().objects.all()}
    return {who: a_client(users[name]) for who, name in names.items()}


# The column of the table for each caller.
COLUMNS = {"ADMIN": 0, "WORKFLOW": 0, "SYSTEM": 1, "USER": 2, "elsewhere": 3, "superuser": 0}


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_each_role_may_do_what_the_table_says(
    things: Mapping[str, str], people: dict[str, APIClient], name: str
) -> None:
    method, address, body, expected = OPERATIONS[name]
    if body:
        body = {k: v.format(**things) if isinstance(v, str) else v for k, v in body.items()}
    wanted = {who: expected[column] for who, column in COLUMNS.items()}
    if name in ADMINS:
        wanted |= {"ADMIN": ADMINS[name], "superuser": ADMINS[name]}

    answers = {
        who: _undone(client, method, address.format(**things), body)
        for who, client in people.items()
    }

    got = {who: answer.status_code for who, answer in answers.items()}
    assert got == wanted, {who: getattr(a, "content", "") for who, a in answers.items()}


@pytest.mark.parametrize(
    "name", sorted(name for name in OPERATIONS if "{" in str(OPERATIONS[name]))
)
def test_what_is_elsewhere_is_answered_like_what_is_nowhere(
    things: Mapping[str, str], people: dict[str, APIClient], name: str
) -> None:
    method, address, body, _ = OPERATIONS[name]
    nowhere = {key: str(uuid4()) for key in things}

    def told(ids: Mapping[str, str]) -> tuple[int, str]:
        filled = body and {k: v.format(**ids) if isinstance(v, str) else v for k, v in body.items()}
        answer = _undone(people["elsewhere"], method, address.format(**ids), filled)
        text = answer.content.decode()
        for pk in ids.values():
            text = text.replace(pk, "it")
        return answer.status_code, text

    assert told(things) == told(nowhere)


def _undone(client: APIClient, method: str, address: str, body: Any) -> Any:
    """Return the answer and undo its effects, so that each request finds the same state."""
    with transaction.atomic():
        answer = getattr(client, method)(address, body, format="json")
        transaction.set_rollback(True)
    return answer


@pytest.mark.parametrize("name", LISTS)
def test_a_list_holds_what_one_may_see(
    things: Mapping[str, str], people: dict[str, APIClient], name: str
) -> None:
    seen = {who: len(client.get(f"/v1/{name}").json()) for who, client in people.items()}

    assert seen["ADMIN"] == seen["WORKFLOW"] == seen["superuser"] > 0
    assert seen["SYSTEM"] == seen["USER"] == seen["elsewhere"] == 0


def test_who_is_in_several_workspaces_says_where_a_workflow_goes(
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    workspace: Workspace,
    elsewhere: Workspace,
) -> None:
    both = member("WORKFLOW")
    both.valkyr_memberships.create(workspace=elsewhere, role="ADMIN")
    client = client_of(both)

    unsaid = client.post("/v1/Workflow", {"name": "w"}, format="json")
    said = client.post(
        "/v1/Workflow", {"name": "w", "workspaceId": str(elsewhere.pk)}, format="json"
    )

    assert unsaid.status_code == 422
    assert unsaid.json()["code"] == "workspace_required"
    assert said.status_code == 201
    assert said.json()["workspaceId"] == str(elsewhere.pk)
    assert [row["name"] for row in client.get("/v1/Workflow").json()] == ["w", "greeting"]


def test_who_is_in_no_workspace_sees_and_makes_nothing(
    client_of: Callable[[Any], APIClient], things: Mapping[str, str]
) -> None:
    client = client_of(get_user_model().objects.create_user("lonely"))

    assert client.get("/v1/Workflow").json() == []
    assert client.get(f"/v1/Workflow/{things['w']}").status_code == 404
    assert client.post("/v1/Workflow", {"name": "w"}, format="json").status_code == 403


def test_a_user_switched_off_sees_nothing(
    member: Callable[..., Any], things: Mapping[str, str]
) -> None:
    user = member("ADMIN")
    assert visible(user, Workflow.objects.all()).count() == 1
    user.is_active = False

    assert visible(user, Workflow.objects.all()).count() == 0
    assert visible(user, WorkflowExecution.objects.all()).count() == 0
