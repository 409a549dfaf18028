"""A day with the API in which each operation is called once: the source of the document's
examples.
"""

from datetime import date, timedelta
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import override_settings

from dlq.groups import tally
from dlq.models import FailureGroup
from executions import credentials
from executions.access.actor import Actor
from executions.audit.chain import BEGINNING, EPOCH, ChainLink
from executions.audit.seals import LAST_ID
from executions.database.clock import database_now
from executions.models import AuditSeal, Membership, Tier, Workflow, WorkflowExecution, Workspace
from executions.publishing.from_code import publish_from_code
from runners.models import Run
from tests.contract.recorder import Recorder, short, steady
from tests.support.failures import fail
from tests.support.jobs import run_jobs
from tests.support.preparing import prepare_remote_runs
from tests.support.segments import claimed, recorded
from valkyr_plugins.alerts.lifecycle import Finding, notice, tell
from valkyr_plugins.alerts.models import AlertKind, AlertRule
from valkyr_plugins.archive import writing
from valkyr_plugins.archive.models import ArchiveFile
from valkyr_plugins.backtest import working
from valkyr_plugins.circuits.models import CircuitBreaker
from valkyr_plugins.limits.models import CostEntry
from valkyr_plugins.mcp import proposals
from valkyr_plugins.mcp.in_process import InProcessApi
from valkyr_plugins.mcp.models import ProposalKind

DEFINITION: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "order-fulfilment",
    "description": "Pack an order once somebody has approved it and the stock came.",
    "variables": {"carrier": None},
    "labels": {"customer": "{{ input.customer }}"},
    "triggers": [{"type": "WEBHOOK", "auth": "bearer"}, {"type": "EVENT", "event": "order.paid"}],
    "tasks": [
        {"id": "price", "use": "data.set", "with": {"values": {"total": "{{ input.total }}"}}},
        {"id": "approve", "use": "flow.approval", "with": {"title": "Ship this order?"}},
        {"id": "stock", "use": "flow.wait_for_event", "with": {"event": "stock.came"}},
        {"id": "pack", "use": "remote.step", "queue": "remote", "with": {"handler": "pack"}},
    ],
}
UNDOABLE: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "reservation",
    "settings": {"compensation": "manual"},
    "tasks": [
        {"id": "reserve", "use": "flow.noop", "undo": {"use": "flow.noop"}},
        {"id": "approve", "use": "flow.approval", "with": {"title": "Ship?"}, "after": "reserve"},
    ],
}
FROM_N8N: dict[str, Any] = {
    "name": "Tell Ann",
    "nodes": [
        {"name": "By hand", "type": "n8n-nodes-base.manualTrigger", "position": [0, 0]},
        {
            "name": "Tell Ann",
            "type": "n8n-nodes-base.telegram",
            "position": [220, 0],
            "parameters": {"chatId": "7", "text": "={{ $json.news }}"},
            "credentials": {"telegramApi": {"id": "1", "name": "our bot"}},
        },
    ],
    "connections": {"By hand": {"main": [[{"node": "Tell Ann", "type": "main", "index": 0}]]}},
}


def play(document: dict[str, Any]) -> dict[str, Any]:
    """Send every request; return requests and answers by operation."""
    day = Recorder(document)
    ask = day.ask
    tier = Tier.objects.get_or_create(name="unlimited")[0]
    shop = Workspace.objects.create(slug="shop", name="Shop", tier=tier)
    ada: Any = get_user_model().objects.create_user("ada", password="a-long-password")
    Membership.objects.create(user=ada, workspace=shop, role="ADMIN")
    get_user_model().objects.create_user("grace")
    pair = ask("obtainToken", {"username": "ada", "password": "a-long-password"})
    ask("refreshToken", {"refresh": pair["refresh"]})
    other = ask("obtainToken", {"username": "ada", "password": "a-long-password"})
    ask("revokeToken", {"token": other["refresh"]})
    day.client.force_authenticate(ada)
    ask("endSession", id=ask("listSessions")[0]["id"])
    ask("endOtherSessions")
    for name in ("getHealth", "getLiveness", "getReadiness", "getMe", "listModuleTypes",
                 "getWorkflowSchema", "listWorkflowTemplates"):  # fmt: skip
        ask(name)
    _author(day)
    _operate(day)
    _mend(day)
    _backtest(day)
    _archive(day)
    _serve(day)
    _reset_a_circuit(day, shop)
    _alert(day, shop)
    _administer(day, ada, str(shop.pk))
    return steady({name: entry for name, entry in day.kept.items() if entry})


def _seal() -> None:
    """Add a seal directly: the sealing duty would skip the rows of the test's open transaction."""
    link = ChainLink(1, BEGINNING, database_now(), EPOCH, 1, LAST_ID, b"")
    parts = {name: getattr(link, name) for name in ChainLink.__slots__}
    AuditSeal.objects.create(count=0, digest=link.digest(), **parts)


def _author(day: Recorder) -> None:
    ask = day.ask
    made = ask("createWorkflow", {"definition": DEFINITION})
    pk = made["id"]
    ask("getWorkflow", id=pk)
    ask("listWorkflows")
    ask("validateWorkflow", {}, id=pk)
    ask("validateDefinition", {"definition": DEFINITION})
    daily = {
        "schedule": "0 8 * * *",
        "timezone": "Europe/Berlin",
        "startAt": "2030-01-01T00:00:00Z",
    }
    ask("previewSchedule", {"trigger": daily | {"endAt": "2030-01-02T00:00:00Z"}}, id=pk)
    ask("evaluateTemplate", {"template": "{{ input.n + 2 }}", "scope": {"input": {"n": 40}}}, id=pk)
    ask("updateWorkflow", {"name": made["name"], "definition": DEFINITION}, id=pk)
    ask("patchWorkflow", {"description": "Orders of the shop."}, id=pk)
    ask("publishWorkflow", {"kind": "published"}, id=pk)
    ask("listWorkflowVersions", id=pk)
    ask("getWorkflowVersion", id=pk, n=1)
    ask("exportWorkflow", id=pk, Accept="application/json")
    pinned = {"price": {"output": {"total": 80}}}
    ask("testWorkflow", {"params": {}, "upTo": "price", "pinned": pinned}, id=pk)
    ask("getLastResults", id=pk)
    _bundle(day, made["workspaceId"])
    day.client.get(f"/v1/Workflow/{pk}/permissions")
    ask("setWorkflowPermissions", {"username": "ada", "permissions": ["READ"]}, id=pk)
    ask("listWorkflowPermissions", id=pk)
    other = ask("importWorkflow", {**DEFINITION, "name": "returns"}, query="?slug=returns")
    ask("deleteWorkflow", id=other["id"])
    place = Workspace.objects.get(pk=made["workspaceId"])
    code = {"origin": "shop.flows:refund", "line": 12, "workspace": place}
    written = publish_from_code("refund", UNDOABLE, **code)
    copy = ask("takeOverWorkflow", {"name": "Refund by hand"}, id=str(written.workflow_id))
    for one in (written.workflow_id, copy["id"]):
        day.client.delete(f"/v1/Workflow/{one}")
    ask("importN8nWorkflow", FROM_N8N, query="?dryRun=true")
    _canary(day)
    _migration(day)
    hook, *_ = [t for t in ask("listTriggers") if t["type"] == "WEBHOOK"]
    ask("getTrigger", id=hook["id"])
    ask("patchTrigger", {"enabled": True}, id=hook["id"])
    ask("rotateTriggerSecret", {"overlapSeconds": 3600}, id=hook["id"])
    secret = ask("getTriggerSecret", id=hook["id"])["secret"]
    ask("receiveWebhook", {"total": 80}, triggerId=hook["id"], Authorization=f"Bearer {secret}")
    event = ask("publishEvent", {"name": "order.paid", "payload": {"total": 90}, "id": "order-7"})
    ask("listEvents")
    ask("getEvent", id=event["id"])


def _bundle(day: Recorder, workspace: str) -> None:
    """Export the workspace, plan a change, and apply it."""
    found = day.ask("exportBundle", id=workspace)
    wanted = {"workflows": {**found["workflows"], "reservation-2": UNDOABLE}, "resources": {}}
    wanted["resources"] = {
        "quotas": [{"resource": "tokens", "target": "draft-1", "maxPerDay": 5000}]
    }
    plan = day.ask("planBundle", wanted, id=workspace)
    commit = {"repository": "https://git.example.org/shop", "commit": "3f2c1d0", "ref": "main"}
    applied = {**wanted, "fingerprint": plan["fingerprint"], "source": commit}
    day.ask("applyBundle", applied, id=workspace)
    made = Workflow.objects.get(slug="reservation-2", workspace_id=workspace)
    day.client.delete(f"/v1/Workflow/{made.pk}")


def _canary(day: Recorder) -> None:
    """Publish, change, stop and promote canaries, and roll back a publication."""
    ask, steps = day.ask, [{"id": "price", "use": "flow.noop"}]
    draft = {"schema": "valkyr/1", "name": "pricing"}
    pk = ask("createWorkflow", {"definition": draft | {"tasks": steps}})["id"]
    ask("publishWorkflow", {"kind": "published"}, id=pk)
    stop = {"failureRate": 10, "atLeast": 50, "slower": 2.0}
    for number in (2, 3):
        more = [{"id": f"check{n}", "use": "flow.noop"} for n in range(number)]
        ask("patchWorkflow", {"definition": draft | {"tasks": steps + more}}, id=pk)
        ask("publishCanary", {"percent": 5, "stop": stop}, id=pk)
        if number == 2:
            ask("changeCanary", {"percent": 25, "reason": "No failures yet."}, id=pk)
            ask("getCanary", id=pk)
            ask("stopCanary", {"reason": "Prices were wrong."}, id=pk)
    ask("promoteCanary", {"reason": "As good as before."}, id=pk)
    ask("listCanaries", id=pk)
    ask("rollBackWorkflow", {"executions": "FORK", "reason": "Prices were wrong."}, id=pk)
    ask("listRollbacks", id=pk)
    day.client.delete(f"/v1/Workflow/{pk}")


def _migration(day: Recorder) -> None:
    """Move live executions to another version, in which a step has another id."""
    ask = day.ask
    wait = {"use": "flow.delay", "with": {"seconds": 86_400}}
    draft = {"schema": "valkyr/1", "name": "reminders", "tasks": [{"id": "rest", **wait}]}
    pk = ask("createWorkflow", {"definition": draft})["id"]
    ask("publishWorkflow", {"kind": "published"}, id=pk)
    ask("executeWorkflow", {}, workflowId=pk)
    mail = {"id": "remind", "use": "flow.noop", "after": "pause"}
    ask("patchWorkflow", {"definition": draft | {"tasks": [{"id": "pause", **wait}, mail]}}, id=pk)
    ask("publishWorkflow", {"kind": "published"}, id=pk)
    plan = {"fromVersion": 1, "steps": {"rest": "pause"}, "canary": 10, "ratePerSecond": 20}
    made = ask("createExecutionMigration", {"workflowId": pk, **plan})["id"]
    ask("previewExecutionMigration", {}, id=made)
    ask("startExecutionMigration", {"reason": "Version 2 sends a reminder."}, id=made)
    ask("pauseExecutionMigration", {"reason": "The mail server is down."}, id=made)
    ask("resumeExecutionMigration", {}, id=made)
    ask("listMigratedExecutions", id=made)
    ask("cancelExecutionMigration", {"reason": "Version 3 follows."}, id=made)
    ask("getExecutionMigration", id=made)
    ask("listLiveVersions", id=pk)
    ask("listExecutionMigrations")
    day.client.delete(f"/v1/Workflow/{pk}")


def _backtest(day: Recorder) -> None:
    """Compare a draft with ended executions, once to the end and once cancelled."""
    ask = day.ask
    ended = WorkflowExecution.objects.filter(finished_at__isnull=False).latest("created_at")
    draft = {
        "schema": "valkyr/1",
        "name": "compared",
        "tasks": [{"id": "call", "use": "http.request", "with": {"url": "https://example.com/"}}],
    }
    made = ask("backtestWorkflow", {"last": 100, "definition": draft}, id=str(ended.workflow_id))
    working.work(UUID(made["id"]))
    ask("getBacktest", id=made["id"])
    ask("listBacktestResults", id=made["id"])
    ask("listBacktests", id=str(ended.workflow_id))
    again = ask("backtestWorkflow", {"last": 10}, id=str(ended.workflow_id))
    ask("cancelBacktest", {"reason": "The draft has changed."}, id=again["id"])


def _archive(day: Recorder) -> None:
    """Read an archived execution that is also still in the tables."""
    ended = WorkflowExecution.objects.filter(finished_at__isnull=False).order_by("id")[0]
    with TemporaryDirectory() as folder:
        chosen = {**getattr(settings, "VALKYR", {}), "ARCHIVE": f"file://{folder}"}
        with override_settings(VALKYR=chosen):
            file, _ = writing.write(ended.workspace_id, date(2026, 10, 1), [ended.pk])
            whole = day.ask("getArchivedExecution", id=ended.pk)
            # Too long to be read, but for one run.
            shown = whole | {"runs": short(whole["runs"])}
            day.kept["getArchivedExecution"]["answers"] = {"200": shown}
            day.ask("restoreWorkflowExecution", {"reason": "A complaint."}, id=ended.pk)
    # Not the same in each recording.
    ArchiveFile.objects.filter(pk=file.pk).update(size=48_203)
    day.ask("listArchiveFiles")


def _start(day: Recorder) -> str:
    listed = day.ask("listWorkflows")
    pk = next(one["id"] for one in listed if one["name"] == DEFINITION["name"])
    started = day.ask(
        "executeWorkflow", {"params": {"total": 120, "customer": "ann"}}, workflowId=pk
    )
    return str(started["id"])


def _operate(day: Recorder) -> None:
    ask = day.ask
    pk = ask("listWorkflows")[0]
    execution = _start(day)
    recorded(claimed(execution, "price.main"))  # type: ignore[arg-type]
    recorded(claimed(execution, "approve.main"))  # type: ignore[arg-type]
    recorded(claimed(execution, "stock.main"))  # type: ignore[arg-type]
    ask("executeWorkflowBatch", {"payloads": [{"total": 1}]}, workflowId=pk["id"])
    body = {"workflowDefinitionId": pk["id"], "workspaceId": pk["workspaceId"], "input": {}}
    ask("getQueueItem", queueId=ask("startExecution", body)["queueId"])
    ask("listWorkflowExecutions")
    ask("countExecutionsByLabel", query="?name=customer")
    ask("getWorkflowExecution", id=execution)
    ask("getWorkflowExecutionTimeline", id=execution)
    ask("explainWorkflowExecution", id=execution)
    ask("getWorkflowExecutionGraph", id=execution)
    ask("listRuns")
    waiting = Run.objects.get(execution_id=execution, step_path="approve.main")
    ask("getRun", id=waiting.pk)
    ask("decideRun", {"decision": "approved", "comment": "In stock."}, id=waiting.pk)
    ask("signalWorkflowExecution", {"name": "stock.came", "payload": {"pieces": 4}}, id=execution)
    made = ask("createCheckpoint", {"name": "before the price change"}, id=execution)
    ask("listCheckpoints", id=execution)
    ask("getCheckpoint", id=execution, checkpointId=made["id"])
    ask("pauseWorkflowExecution", {"reason": "The carrier is down."}, id=execution)
    ask("resumeWorkflowExecution", {"reason": "It is back."}, id=execution)
    ask("rollbackWorkflowExecution", {"stepPath": "price.main"}, id=execution)
    ask("forkWorkflowExecution", {"stepPath": "price.main"}, id=execution)
    ask("replayWorkflowExecution", {}, id=execution)
    ask("revealWorkflowExecution", {"reason": "A customer asked."}, id=execution)
    ask("cancelWorkflowExecution", {"reason": "The customer withdrew."}, id=execution)
    verification = ask("replayWorkflowExecution", {"verify": True}, id=execution)
    run_jobs()
    ask("getVerification", id=verification["id"])
    _undo(day)
    many = {"ids": [_start(day), execution], "reason": "The carrier is down."}
    for verb in ("pause", "resume", "cancel"):
        ask(f"{verb}WorkflowExecutions", many)


def _undo(day: Recorder) -> None:
    """Decide whether a failed execution is undone, in a workflow that lets users decide."""
    pk = day.ask("importWorkflow", UNDOABLE, query="?slug=reservation")["id"]
    day.ask("publishWorkflow", {"kind": "published"}, id=pk)
    execution = day.ask("executeWorkflow", {"params": {}}, workflowId=pk)["id"]
    recorded(claimed(execution, "reserve.main"))
    run = Run.objects.get(execution_id=execution, step_path="approve.main")
    day.ask("quarantineRun", {"reason": "The carrier is gone."}, id=run.pk)
    day.ask("undoWorkflowExecution", {"reason": "The carrier is gone."}, id=execution)


def _mend(day: Recorder) -> None:
    ask = day.ask

    def dead() -> str:
        execution = _start(day)
        run = Run.objects.get(execution_id=execution, step_path="price.main")
        letter = ask("quarantineRun", {"reason": "The price is wrong."}, id=run.pk)
        ask("revealRun", {"reason": "To find the cause."}, id=run.pk)
        return str(letter["id"])

    first = dead()
    ask("listDeadLetterQueue")
    ask("countDeadLettersByLabel", query="?name=customer&resolution=PENDING")
    ask("exportDeadLetterQueue")
    ask("getDeadLetterEntry", id=first)
    ask("revealDeadLetterEntry", {"reason": "To find the cause."}, id=first)
    ask("requeueDeadLetterEntry", {"values": {"total": 100}}, id=first)
    given = {"outputs": {"total": 100}, "notes": "Agreed by phone."}
    ask("fixDeadLetterEntry", given, id=dead())
    ask("skipDeadLetterEntry", {"notes": "This order needs no price."}, id=dead())
    withdrawn = dead()
    ask("pinDeadLetterEntry", {"reason": "For the audit."}, id=withdrawn)
    ask("unpinDeadLetterEntry", {"reason": "The audit is over."}, id=withdrawn)
    ask("discardDeadLetterEntry", {"notes": "The customer withdrew."}, id=withdrawn)
    ask("restoreDeadLetterEntry", {"reason": "The customer came back."}, id=withdrawn)
    ask("discardDeadLetterEntries", {"ids": [dead(), first], "notes": "A test run."})
    _redrive(day, [dead(), dead()])
    groups = _failed_twice()
    _propose(day, groups[0])
    _judge(day, groups)


def _redrive(day: Recorder, letters: list[str]) -> None:
    """Redrive many dead letters at a set pace."""
    ask = day.ask
    careful = {"ratePerSecond": 20, "canary": 10, "stopAbove": 20, "reason": "Mended in v7."}
    ask("previewNewRedrive", {"ids": letters, **careful})
    made = ask("createRedrive", {"ids": letters, **careful})["id"]
    ask("previewRedrive", {}, id=made)
    ask("startRedrive", {}, id=made)
    ask("pauseRedrive", {"reason": "The partner asked for a break."}, id=made)
    ask("resumeRedrive", {}, id=made)
    ask("listRedriveItems", id=made)
    ask("abortRedrive", {"reason": "It does not help."}, id=made)
    mended = {"overrides": {"values": {"total": 100}}, "reason": "Agreed by phone."}
    ask("requeueDeadLetterEntries", {"filter": {"resolution": "PENDING"}, **mended})
    ask("getRedrive", id=made)
    ask("listRedrive")


def _propose(day: Recorder, group: str) -> None:
    """Let an agent propose changes, and a user decide."""
    ask = day.ask
    ada: Any = get_user_model().objects.get(username="ada")
    workflow = FailureGroup.objects.get(pk=group).workflow_id
    for decide in ("rejectProposal", "approveProposal"):
        made = proposals.propose(
            InProcessApi(ada, None, Actor.of(ada, "api token repair agent")),
            ProposalKind.GROUP,
            {"groupId": str(group), "note": "The partner's certificate has expired."},
            "All failures name the same certificate.",
        )
        ask("previewProposal", {}, id=made.pk)
        ask(decide, {"reason": "Checked."}, id=made.pk)
    ask("getProposal", id=made.pk)
    ask("listProposals")
    ask("exposeWorkflow", {"direct": False}, id=workflow)
    ask("hideWorkflow", id=workflow)


def _judge(day: Recorder, groups: list[Any]) -> None:
    """Acknowledge, annotate, split, merge and ignore failure groups."""
    ask, (first, other) = day.ask, groups
    ask("listFailureGroups")
    ask("patchFailureGroup", {"status": "ACKNOWLEDGED", "reason": "Looking into it."}, id=first)
    ask("noteFailureGroup", {"text": "The partner mends it on Monday."}, id=first)
    ask("getFailureGroup", id=first)
    ask("splitFailureGroup", {"by": "http_status"}, id=first)
    merged = ask("mergeFailureGroups", {"ids": [str(other)]}, id=first)
    ask(
        "unmergeFailureGroup",
        {"fingerprint": merged["fingerprints"][-1]["fingerprint"]},
        id=first,
    )
    ask("changeFailureGroups", {"ids": [str(first)], "status": "IGNORED"})


def _failed_twice() -> list[Any]:
    """Create two groups: a partner that answers with two errors, and one that is down."""
    of = Workflow.objects.order_by("created_at").first()
    assert of is not None, "the day began with a workflow"
    first = [fail(of, "The partner is out of order.", details={"status": 500 + n}) for n in (0, 3)]
    other = fail(of, "The partner is away.")
    tally.fold()
    return [first[0].group_id, other.group_id]


def _serve(day: Recorder) -> None:
    ask = day.ask
    wanted = {"runnerId": "warehouse-1", "queues": ["remote"], "limit": 1}
    for operation, result in (
        ("completeRun", {"outputs": {"packed": True}}),
        ("failRun", {"error": "The box is lost.", "errorType": "PERMANENT"}),
    ):
        prepare_remote_runs()
        leased = ask("leaseRun", wanted)
        run = (leased if isinstance(leased, list) else leased["runs"])[0]
        pk = run.get("id") or run["run"]["id"]
        token = {"leaseToken": run["leaseToken"]}
        ask("updateRunHeartbeat", token, id=pk)
        ask(operation, token | result, id=pk)
    for runner in ask("listRunners")[:1]:
        ask("getRunner", id=runner["id"])


def _reset_a_circuit(day: Recorder, shop: Workspace) -> None:
    now = database_now()
    made = CircuitBreaker.objects.create(
        workspace=shop,
        target="http.request:carrier.example.com",
        state="OPEN",
        failures=5,
        last_error="The server answered 503 Service Unavailable.",
        last_failure_at=now,
        opened_at=now,
        times_opened=1,
        next_retry_at=now + timedelta(seconds=60),
    )
    day.ask("listCircuitBreakers", query="?state=OPEN")
    day.ask("getCircuitBreaker", id=made.pk)
    day.ask("resetCircuitBreaker", {"reason": "The carrier is back."}, id=made.pk)


def _alert(day: Recorder, shop: Workspace) -> None:
    ask = day.ask
    told = {"kinds": ["GROUP_NEW", "NO_WORKER"], "channel": "EMAIL"}
    rule = ask("createAlertRule", told | {"name": "On call", "recipients": ["ann@example.com"]})
    ask("listAlertRules")
    ask("getAlertRule", id=rule["id"])
    ask("patchAlertRule", {"intervalSeconds": 900}, id=rule["id"])
    mine = AlertRule.objects.get(pk=rule["id"])
    sentence = "New failure in Orders, step charge: HttpError: HTTP <n> from <url>"
    notice(mine, Finding(AlertKind.GROUP_NEW, f"group:{shop.pk}", sentence, "/admin/"))
    tell(mine)
    ask("listAlerts", query="?state=OPEN")
    ask("listAlertDeliveries")
    tried = ask("testAlertRule", id=rule["id"])
    ask("resendAlertDelivery", {"reason": "The mail server is back."}, id=tried["id"])
    ask("deleteAlertRule", id=rule["id"])


def _administer(day: Recorder, ada: Any, shop: str) -> None:
    ask = day.ask
    _credentials_and_tokens(day)
    member = ask("createMembership", {"username": "grace", "role": "WORKFLOW"})
    ask("listMemberships")
    ask("getMembership", id=member["id"])
    ask("patchMembership", {"role": "USER", "permissions": ["view_payloads"]}, id=member["id"])
    quota = ask("createQuota", {"maxPerDay": 10_000})
    ask("listQuotas")
    ask("getQuota", id=quota["id"])
    ask("patchQuota", {"maxPerDay": 20_000}, id=quota["id"])
    ask("deleteQuota", id=quota["id"])
    budget = ask("createBudget", {"amount": "250", "currency": "EUR", "softPercent": 75})
    ask("listBudgets")
    ask("getBudget", id=budget["id"])
    ask("patchBudget", {"amount": "300"}, id=budget["id"])
    ask("deleteBudget", id=budget["id"])
    _costs(day, shop)
    ask("deleteMembership", id=member["id"])
    ask("getWorkspaceUsage", id=shop)
    rows = ask("listActivity")
    ask("getActivity", id=rows[0]["id"])
    _seal()
    ask("getAuditHead")
    ask("exportActivity")
    ada.is_superuser = True
    tier = ask("createTier", {"name": "gold", "maxConcurrent": 100})
    ask("listTiers")
    ask("getTier", id=tier["id"])
    ask("patchTier", {"maxConcurrent": 200}, id=tier["id"])
    place = ask("createWorkspace", {"name": "Outlet", "slug": "outlet", "tierId": tier["id"]})
    ask("listWorkspaces")
    ask("getWorkspace", id=place["id"])
    ask("patchWorkspace", {"name": "Outlet shop"}, id=place["id"])
    ask("patchSealing", {"enabled": True, "reason": "customer data"}, id=place["id"])
    ask("getSealing", id=place["id"])
    ask("archiveWorkspace", id=place["id"])
    ask("deleteTier", id=ask("createTier", {"name": "silver"})["id"])


def _costs(day: Recorder, shop: str) -> None:
    ran = WorkflowExecution.objects.filter(workspace_id=shop).earliest("created_at")
    CostEntry.objects.create(
        workspace_id=shop,
        workflow_id=ran.workflow_id,
        execution=ran,
        run_id=ran.pk,
        user_id=ran.principal_id,
        module="llm.chat",
        model="deepseek-chat",
        input_tokens=1_200,
        output_tokens=300,
        tokens=1_500,
        amount="0.0021",
        currency="USD",
    )
    day.ask("listCosts")
    day.ask("getSpend", query="?groupBy=model")
    day.ask("getFigures", query="?range=1h")


def _credentials_and_tokens(day: Recorder) -> None:
    ask = day.ask
    fields = {"value": "the-secret-value"}
    hosts = ["orders.example.com"]
    made = ask("createCredential", {"name": "orders_api", "fields": fields, "hosts": hosts})
    ask("listCredentials")
    ask("getCredential", id=made["id"])
    ask("patchCredential", {"description": "Of the shop's API."}, id=made["id"])
    run = Run.objects.select_related("execution").order_by("id")[0]
    step = credentials.UsingStep(
        run.execution.workspace_id, run.execution.workflow_id, run.execution_id, run.pk,
        "order.main", 1, "http.request", "orders.example.com:443",
    )  # fmt: skip
    credentials.opened_for(step, ["orders_api"])
    ask("listCredentialUses")
    ask("exportCredentialUses")
    ask("deleteCredential", id=made["id"])
    robot = ask("createServiceAccount", {"name": "importer", "role": "SYSTEM"})
    ask("listServiceAccounts")
    ask("getServiceAccount", id=robot["id"])
    ask("patchServiceAccount", {"description": "Imports orders."}, id=robot["id"])
    ask("disableServiceAccount", id=robot["id"])
    token = ask("createApiToken", {"name": "nightly", "scopes": ["view", "trigger"]})
    ask("listApiTokens")
    ask("getApiToken", id=token["id"])
    ask("patchApiToken", {"name": "nightly import"}, id=token["id"])
    ask("revokeApiToken", id=token["id"])
