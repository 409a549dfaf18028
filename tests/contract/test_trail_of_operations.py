"""Every operation that changes something writes its audit entries, and no others."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from executions.models import Activity, Trigger, Workspace
from executions.triggers.webhook import secret_of
from tests.support.document import document
from tests.support.workflows import task

from .named_objects import EXECUTION, GROUP, LETTER, MIGRATION, REDRIVE, RUN, NamedObjects
from .people import a_workspace

pytestmark = pytest.mark.django_db


PLACE = {"workspaceId": "{workspace}"}
DEFINITION = {"schema": "valkyr/1", "name": "i", "tasks": [{"id": "one", "use": "flow.noop"}]}
# operation: (method, address, body, its rows). An address and a body refer to objects by name.
RECORDED: dict[str, tuple[str, str, Any, list[str]]] = {
    "createWorkflow": ("post", "/v1/Workflow", {"name": "n", **PLACE}, ["workflow.create"]),
    "updateWorkflow": (
        "put", "/v1/Workflow/{workflow}", {"name": "n", "definition": {}}, ["workflow.update"]
    ),
    "patchWorkflow": (
        "patch", "/v1/Workflow/{workflow}", {"enabled": False}, ["workflow.update"]
    ),
    "deleteWorkflow": ("delete", "/v1/Workflow/{workflow}", None, ["workflow.archive"]),
    "testWorkflow": (
        "post", "/v1/Workflow/{draft}/test", {}, ["workflow.test", "execution.start"]
    ),
    "takeOverWorkflow": (
        "post", "/v1/Workflow/{from_code}/take-over", {}, ["workflow.create", "workflow.take_over"],
    ),
    "publishWorkflow": ("post", "/v1/Workflow/{draft}/publish", {}, ["workflow.publish"]),
    "publishCanary": (
        "post", "/v1/Workflow/{changed}/canary", {"percent": 5},
        ["workflow.publish", "canary.begin"],
    ),
    "changeCanary": (
        "patch", "/v1/Workflow/{with_canary}/canary", {"percent": 9}, ["canary.change"]
    ),
    "promoteCanary": (
        "post", "/v1/Workflow/{with_canary}/canary/promote", {}, ["canary.promote"]
    ),
    "stopCanary": ("post", "/v1/Workflow/{with_canary}/canary/stop", {}, ["canary.stop"]),
    "rollBackWorkflow": (
        "post", "/v1/Workflow/{with_canary}/rollbacks", {},
        ["canary.replace", "workflow.rollback"],
    ),
    "applyBundle": (
        "post", "/v1/Workspace/{workspace}/bundle/apply", {"workflows": {"from-git": DEFINITION}},
        ["workflow.create", "workflow.publish", "bundle.apply"],
    ),
    "importWorkflow": (
        "post", "/v1/Workflow/import?workspaceId={workspace}", DEFINITION, ["workflow.create"]
    ),
    "importN8nWorkflow": (
        "post", "/v1/Workflow/import-n8n?workspaceId={workspace}",
        {"name": "from n8n", "nodes": []}, ["workflow.create"],
    ),
    "setWorkflowPermissions": (
        "put", "/v1/Workflow/{workflow}/permissions",
        {"username": "{reader}", "permissions": ["READ"]}, ["workflow.share"],
    ),
    "executeWorkflow": ("post", EXECUTION + "/{workflow}/execute", {}, ["execution.start"]),
    "executeWorkflowBatch": (
        "post", EXECUTION + "/{workflow}/execute-batch", {"payloads": [{}, {}]},
        ["execution.start"],
    ),
    "startExecution": (
        "post", "/api/v1/workflow/executions/start",
        {"workflowDefinitionId": "{workflow}", **PLACE}, ["execution.start"],
    ),
    "pauseWorkflowExecution": ("post", EXECUTION + "/{execution}/pause", {}, ["execution.pause"]),
    "resumeWorkflowExecution": ("post", EXECUTION + "/{paused}/resume", {}, ["execution.resume"]),
    "cancelWorkflowExecution": (
        "post", EXECUTION + "/{execution}/cancel", {}, ["execution.cancel"]
    ),
    "undoWorkflowExecution": ("post", EXECUTION + "/{undoable}/undo", {}, ["execution.undo"]),
    "pauseWorkflowExecutions": (
        "post", EXECUTION + "/pause", {"ids": ["{execution}"]}, ["execution.pause"]
    ),
    "resumeWorkflowExecutions": (
        "post", EXECUTION + "/resume", {"ids": ["{paused}"]}, ["execution.resume"]
    ),
    "cancelWorkflowExecutions": (
        "post", EXECUTION + "/cancel", {"ids": ["{execution}", "{paused}"]},
        ["execution.cancel", "execution.cancel"],
    ),
    "rollbackWorkflowExecution": (
        "post", EXECUTION + "/{past}/rollback", {"stepPath": "one.main"}, ["execution.rollback"]
    ),
    "forkWorkflowExecution": (
        "post", EXECUTION + "/{past}/fork", {}, ["execution.start", "execution.fork"]
    ),
    "replayWorkflowExecution": (
        "post", EXECUTION + "/{past}/replay", {}, ["execution.start", "execution.replay"]
    ),
    # It is in the tables: tests/plugins/archive restores archived ones.
    "restoreWorkflowExecution": ("post", EXECUTION + "/{past}/restore", {}, []),
    "createCheckpoint": (
        "post", EXECUTION + "/{execution}/checkpoints", {}, ["execution.checkpoint"]
    ),
    "signalWorkflowExecution": (
        "post", EXECUTION + "/{listener}/signal", {"name": "paid"}, ["execution.signal"]
    ),
    "revealWorkflowExecution": (
        "post", EXECUTION + "/{execution}/reveal", {"reason": "x"}, ["payload.reveal"]
    ),
    "revealRun": ("post", RUN + "/{run}/reveal", {"reason": "x"}, ["payload.reveal"]),
    "revealDeadLetterEntry": (
        "post", LETTER + "/{letter}/reveal", {"reason": "x"}, ["payload.reveal"]
    ),
    "decideRun": ("post", RUN + "/{approval}/decide", {"decision": "approved"}, ["run.decide"]),
    "quarantineRun": ("post", RUN + "/{run}/quarantine", {"reason": "x"}, ["run.quarantine"]),
    "resetCircuitBreaker": (
        "post", "/v1/CircuitBreaker/{circuit}/reset", {"reason": "x"}, ["circuit.reset"]
    ),
    "requeueDeadLetterEntry": ("post", LETTER + "/{letter}/requeue", {}, ["dead_letter.requeued"]),
    "fixDeadLetterEntry": (
        "post", LETTER + "/{letter}/fix", {"outputs": None}, ["dead_letter.fixed"]
    ),
    "discardDeadLetterEntry": (
        "post", LETTER + "/{letter}/discard", {"notes": "x"}, ["dead_letter.discarded"]
    ),
    "skipDeadLetterEntry": ("post", LETTER + "/{letter}/skip", {}, ["dead_letter.skipped"]),
    "restoreDeadLetterEntry": (
        "post", LETTER + "/{discarded}/restore", {"reason": "x"}, ["dead_letter.restored"]
    ),
    "pinDeadLetterEntry": (
        "post", LETTER + "/{letter}/pin", {"reason": "x"}, ["dead_letter.pinned"]
    ),
    "unpinDeadLetterEntry": (
        "post", LETTER + "/{pinned}/unpin", {"reason": "x"}, ["dead_letter.unpinned"]
    ),
    "discardDeadLetterEntries": (
        "post", LETTER + "/discard", {"ids": ["{letter}"], "notes": "x"}, ["dead_letter.discarded"]
    ),
    "approveProposal": (
        "post", "/v1/Proposal/{proposal}/approve", {}, ["group.note", "proposal.approve"]
    ),
    "rejectProposal": ("post", "/v1/Proposal/{proposal}/reject", {}, ["proposal.reject"]),
    "exposeWorkflow": ("put", "/v1/Workflow/{workflow}/tool", {}, ["workflow_tool.create"]),
    "hideWorkflow": ("delete", "/v1/Workflow/{exposed}/tool", None, ["workflow_tool.delete"]),
    "createRedrive": ("post", REDRIVE, {"ids": ["{letter}"]}, ["redrive.make"]),
    "requeueDeadLetterEntries": (
        "post", LETTER + "/requeue", {"ids": ["{letter}"]}, ["redrive.make", "redrive.start"]
    ),
    "backtestWorkflow": (
        "post", "/v1/Workflow/{workflow}/backtest", {"last": 10}, ["backtest.start"]
    ),
    "cancelBacktest": ("post", "/v1/Backtest/{backtest}/cancel", {}, ["backtest.cancel"]),
    "createExecutionMigration": (
        "post", MIGRATION, {"workflowId": "{two_versions}", "fromVersion": 1}, ["migration.make"]
    ),
    "startExecutionMigration": (
        "post", MIGRATION + "/{migration}/start", {}, ["migration.start"]
    ),
    "pauseExecutionMigration": (
        "post", MIGRATION + "/{begun_migration}/pause", {}, ["migration.pause"]
    ),
    "resumeExecutionMigration": (
        "post", MIGRATION + "/{paused_migration}/resume", {}, ["migration.resume"]
    ),
    "cancelExecutionMigration": (
        "post", MIGRATION + "/{migration}/cancel", {}, ["migration.cancel"]
    ),
    "startRedrive": ("post", REDRIVE + "/{redrive}/start", {}, ["redrive.start"]),
    "pauseRedrive": ("post", REDRIVE + "/{begun_redrive}/pause", {}, ["redrive.pause"]),
    "resumeRedrive": ("post", REDRIVE + "/{paused_redrive}/resume", {}, ["redrive.resume"]),
    "abortRedrive": ("post", REDRIVE + "/{redrive}/abort", {}, ["redrive.abort"]),
    "patchFailureGroup": (
        "patch", GROUP + "/{group}", {"status": "ACKNOWLEDGED", "muted": True},
        ["group.acknowledge", "group.mute"],
    ),
    "changeFailureGroups": (
        "post", GROUP + "/status", {"ids": ["{group}"], "status": "IGNORED"}, ["group.ignore"]
    ),
    "noteFailureGroup": ("post", GROUP + "/{group}/notes", {"text": "x"}, ["group.note"]),
    "mergeFailureGroups": (
        "post", GROUP + "/{mixed_group}/merge", {"ids": ["{odd_group}"]}, ["group.merge"]
    ),
    "unmergeFailureGroup": (
        "post", GROUP + "/{merged_group}/unmerge", {"fingerprint": "{fingerprint}"},
        ["group.unmerge"],
    ),
    "splitFailureGroup": (
        "post", GROUP + "/{mixed_group}/split", {"by": "http_status"}, ["group.split"]
    ),
    "patchTrigger": ("patch", "/v1/Trigger/{trigger}", {"enabled": False}, ["trigger.disable"]),
    "rotateTriggerSecret": (
        "post", "/v1/Trigger/{trigger}/rotate-secret", {}, ["trigger.rotate"]
    ),
    "publishEvent": ("post", "/v1/Event", {"name": "told", **PLACE}, ["event.publish"]),
    "createAlertRule": (
        "post", "/v1/AlertRule",
        {"name": "a", "kinds": ["GROUP_NEW"], "channel": "SLACK",
         "secret": "https://hooks.slack.com/canary", **PLACE},
        ["alert_rule.create"],
    ),
    "patchAlertRule": (
        "patch", "/v1/AlertRule/{alert_rule}", {"enabled": False}, ["alert_rule.update"]
    ),
    "testAlertRule": ("post", "/v1/AlertRule/{alert_rule}/test", {}, ["alert_rule.test"]),
    "deleteAlertRule": ("delete", "/v1/AlertRule/{alert_rule}", None, ["alert_rule.delete"]),
    "resendAlertDelivery": (
        "post", "/v1/AlertDelivery/{alert_delivery}/resend", {}, ["alert_delivery.resend"]
    ),
    "createCredential": (
        "post", "/v1/Credential",
        {"name": "a", "fields": {"value": "canary"}, "hosts": ["*"], **PLACE},
        ["credential.create"],
    ),
    "patchCredential": (
        "patch", "/v1/Credential/{credential}", {"description": "x"}, ["credential.update"]
    ),
    "deleteCredential": ("delete", "/v1/Credential/{credential}", None, ["credential.delete"]),
    "createQuota": ("post", "/v1/Quota", {"maxPerHour": 5, **PLACE}, ["quota.create"]),
    "patchQuota": ("patch", "/v1/Quota/{quota}", {"maxPerHour": 5}, ["quota.update"]),
    "deleteQuota": ("delete", "/v1/Quota/{quota}", None, ["quota.delete"]),
    "createBudget": ("post", "/v1/Budget", {"amount": 5, **PLACE}, ["budget.create"]),
    "patchBudget": ("patch", "/v1/Budget/{budget}", {"amount": 5}, ["budget.update"]),
    "deleteBudget": ("delete", "/v1/Budget/{budget}", None, ["budget.delete"]),
    "createMembership": (
        "post", "/v1/Membership", {"username": "{reader}", "role": "USER", "workspaceId": "{new}"},
        ["membership.create"],
    ),
    "patchMembership": (
        "patch", "/v1/Membership/{member}", {"role": "SYSTEM"}, ["membership.update"]
    ),
    "deleteMembership": ("delete", "/v1/Membership/{member}", None, ["membership.delete"]),
    "createServiceAccount": (
        "post", "/v1/ServiceAccount", {"name": "r", **PLACE}, ["service_account.create"]
    ),
    "patchServiceAccount": (
        "patch", "/v1/ServiceAccount/{robot}", {"description": "x"}, ["service_account.update"]
    ),
    "disableServiceAccount": (
        "delete", "/v1/ServiceAccount/{robot}", None, ["service_account.update"]
    ),
    "createApiToken": ("post", "/v1/ApiToken", {"name": "t", **PLACE}, ["api_token.create"]),
    "patchApiToken": ("patch", "/v1/ApiToken/{token}", {"name": "t"}, ["api_token.update"]),
    "revokeApiToken": ("delete", "/v1/ApiToken/{token}", None, ["api_token.revoke"]),
    "createWorkspace": (
        "post", "/v1/Workspace", {"name": "n", "tierId": "{tier}"}, ["workspace.create"]
    ),
    "patchWorkspace": ("patch", "/v1/Workspace/{new}", {"name": "m"}, ["workspace.update"]),
    "patchSealing": (
        "patch", "/v1/Workspace/{new}/sealing", {"enabled": True}, ["payloads.seal"],
    ),
    "archiveWorkspace": ("delete", "/v1/Workspace/{new}", None, ["workspace.archive"]),
    "createTier": ("post", "/v1/Tier", {"name": "t"}, ["tier.create"]),
    "patchTier": ("patch", "/v1/Tier/{other}", {"maxPending": 5}, ["tier.update"]),
    "deleteTier": ("delete", "/v1/Tier/{other}", None, ["tier.delete"]),
}  # fmt: skip
# Operations with a caller of another kind, tested below: without an account, or with its own
# session, which test_sessions.py has.
OUTSIDE = {
    "receiveWebhook",
    "receiveCallback",
    "obtainToken",
    "revokeToken",
    "endSession",
    "endOtherSessions",
}
NOT_RECORDED = {
    "previewRedrive": "changes nothing",
    "previewNewRedrive": "changes nothing",
    "previewExecutionMigration": "changes nothing",
    "previewProposal": "changes nothing",
    "validateWorkflow": "changes nothing",
    "evaluateTemplate": "changes nothing",
    "previewSchedule": "changes nothing",
    "validateDefinition": "changes nothing",
    "planBundle": "changes nothing",
    "createTrigger": "always refused",
    "deleteTrigger": "always refused",
    "refreshToken": "goes on with a sign-in that is recorded",
    "leaseRun": "the engine's work, which the run tells",
    "updateRunHeartbeat": "the engine's work, which the run tells",
    "completeRun": "the engine's work, which the run tells",
    "failRun": "the engine's work, which the run tells",
}


@pytest.fixture(scope="module", autouse=True)
def made(kept_world: None) -> Mapping[str, str]:
    """Create the objects that many operations need and no other operation changes; return their
    ids.
    """
    workspace = a_workspace()
    get_user_model().objects.create_superuser("root")
    reader = get_user_model().objects.create_user("reader")
    workspace.memberships.create(user=reader, role="USER")
    new = Workspace.objects.create(name="New", slug="new", tier=workspace.tier)
    found = NamedObjects(
        {
            "workspace": str(workspace.pk),
            "tier": str(workspace.tier_id),
            "reader": "reader",
            "new": str(new.pk),
        }
    )
    for name in ("draft", "workflow", "run", "letter", "past", "trigger"):
        found[name]
    return MappingProxyType(dict(found))


@pytest.fixture
def world(made: Mapping[str, str]) -> NamedObjects:
    return NamedObjects(made)


def test_the_tables_name_every_operation_that_changes_something() -> None:
    paths = document()["paths"]
    there_are = {
        operation["operationId"]
        for methods in paths.values()
        for method, operation in methods.items()
        if method != "get"
    }

    assert set(RECORDED) | OUTSIDE | set(NOT_RECORDED) == there_are


@pytest.mark.parametrize("operation", RECORDED)
def test_an_operation_leaves_its_rows_with_who_and_from_where(
    world: NamedObjects, operation: str
) -> None:
    method, address, body, expected = RECORDED[operation]
    address, body = _filled(address, world), _filled(body, world)
    before = set(Activity.objects.values_list("pk", flat=True))

    answer = getattr(world.root, method)(address, body, format="json")

    assert answer.status_code < 300, answer.content
    left = Activity.objects.exclude(pk__in=before).order_by("pk")
    assert [row.action for row in left] == expected
    for row in left:
        assert (row.actor_name, row.via, row.address) == ("root", "api", "127.0.0.1")
        assert (row.workspace_id is None) == operation.endswith("Tier")
        assert row.object_id


@pytest.mark.parametrize(
    ("operation", "changed"),
    [
        ("patchWorkflow", {"enabled": (True, False)}),
        ("pauseWorkflowExecution", {"state": ("RUNNING", "PAUSED")}),
        ("cancelWorkflowExecution", {"state": ("RUNNING", "CANCELLED")}),
        ("undoWorkflowExecution", {"state": ("FAILED", "RUNNING")}),
        ("patchTrigger", {"enabled": (True, False)}),
        ("rotateTriggerSecret", {"secretVersion": (1, 2)}),
        ("discardDeadLetterEntry", {"resolution": ("PENDING", "DISCARDED")}),
        ("restoreDeadLetterEntry", {"resolution": ("DISCARDED", "PENDING")}),
        ("pinDeadLetterEntry", {"pinned": (False, True)}),
    ],
)
def test_a_change_says_what_was_and_what_is(
    world: NamedObjects, operation: str, changed: dict[str, tuple[Any, Any]]
) -> None:
    method, address, body, [action] = RECORDED[operation]
    address = _filled(address, world)

    getattr(world.root, method)(address, body, format="json")

    row = Activity.objects.filter(action=action).latest("pk")
    assert row.before is not None
    assert row.after is not None
    assert {name: (row.before[name], row.after[name]) for name in changed} == changed
    assert set(row.after) - set(changed) <= {"revision"}


def test_of_a_draft_the_trail_keeps_the_checksum_alone(world: NamedObjects) -> None:
    definition = {"schema": "valkyr/1", "name": "d", "tasks": [task("canary")]}
    address = f"/v1/Workflow/{world['workflow']}"

    world.root.patch(address, {"definition": definition}, format="json")

    row = Activity.objects.filter(action="workflow.update").get()
    assert set(row.after or {}) == {"draftChecksum", "revision"}
    assert "canary" not in str((row.before, row.after, row.details))


def test_of_overrides_the_trail_keeps_their_names_alone(world: NamedObjects) -> None:
    address = f"{LETTER}/{world['letter']}/requeue"

    answer = world.root.post(address, {"value": {"token": "canary"}}, format="json")

    assert answer.status_code == 200, answer.content
    row = Activity.objects.get(action="dead_letter.requeued")
    assert row.details["overrides"] == ["value"]
    assert "canary" not in str((row.before, row.after, row.details))


def test_a_webhooks_and_a_callbacks_caller_are_known_by_their_address(world: NamedObjects) -> None:
    client = APIClient()
    trigger = Trigger.objects.get(pk=world["trigger"])
    token = {"Authorization": f"Bearer {secret_of(trigger.pk, trigger.secret_version)}"}
    address = f"/v1/callbacks/{world['callback']}"
    before = set(Activity.objects.values_list("pk", flat=True))

    assert client.post(f"/v1/hooks/{trigger.pk}", {}, "json", headers=token).status_code == 202
    assert client.post(address, {}, format="json").status_code == 202

    left = Activity.objects.exclude(pk__in=before).order_by("pk")
    assert list(left.values_list("action", "actor_id", "actor_name", "via", "address")) == [
        ("execution.start", None, "webhook", "webhook", "127.0.0.1"),
        ("execution.callback", None, "callback", "callback", "127.0.0.1"),
    ]


def test_a_refused_request_leaves_nothing(world: NamedObjects, stranger: APIClient) -> None:
    address = f"{EXECUTION}/{world['execution']}"
    before = Activity.objects.count()

    assert stranger.post(f"{address}/cancel", {}, format="json").status_code == 401
    assert world.root.post(f"{address}/resume", {}, format="json").status_code == 409
    assert world.root.post(f"{address}/reveal", {}, format="json").status_code == 422

    assert Activity.objects.count() == before


def _filled(shape: Any, world: NamedObjects) -> Any:
    if isinstance(shape, str):
        return shape.format_map(world)
    if isinstance(shape, list):
        return [_filled(inner, world) for inner in shape]
    if isinstance(shape, dict):
        return {name: _filled(inner, world) for name, inner in shape.items()}
    return shape
