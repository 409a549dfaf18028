"""Rows for the admin's tests, written directly to the tables: a busy day of one workflow."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.apps import apps
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.utils import timezone
from django.utils.text import slugify
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)

from dlq.groups.find_group import Failing, placed
from dlq.models import DeadLetterEntry
from executions import credentials
from executions.access.actor import Actor
from executions.accounts.service_accounts import create_service_account
from executions.database.ids import uuid7
from executions.definition.catalog import catalog
from executions.definition.graph.document import normalise
from executions.definition.graph.resolve import resolve
from executions.models import (
    Activity,
    ApiToken,
    CronTick,
    Event,
    Membership,
    RefusedMessage,
    Tier,
    Trigger,
    Workflow,
    WorkflowExecution,
    WorkflowVersion,
    Workspace,
)
from runners.models import Run, Runner
from tests.support.sharing import assign_perm

DEFINITION: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "Order import",
    "tasks": [
        {"id": "reserve", "use": "flow.noop"},
        {"id": "charge", "use": "flow.noop", "after": "reserve"},
    ],
}
HOSTILE = "<script>alert('x')</script><b>bold</b> & größe"


def workspace(slug: str = "default") -> Workspace:
    """Return the workspace with that slug; create it if a flush deleted it."""
    tier, _ = Tier.objects.get_or_create(name="unlimited")
    return Workspace.objects.get_or_create(slug=slug, defaults={"name": slug, "tier": tier})[0]


def workflow(slug: str = "order-import", *, owner: Workspace | None = None) -> Workflow:
    """Create a published workflow."""
    made = Workflow.objects.create(
        workspace=owner or workspace(), name="Order import", slug=slug, definition=DEFINITION
    )
    version = WorkflowVersion.objects.create(
        workflow=made,
        number=1,
        source=DEFINITION,
        definition=resolve(normalise(DEFINITION), catalog()),
        checksum="c" * 64,
    )
    made.latest_version = version
    made.save()
    return made


def execution(of: Workflow, state: str = "RUNNING", **values: Any) -> WorkflowExecution:
    """Create an execution in that state, three minutes old."""
    now = timezone.now()
    final = state in {"SUCCESS", "FAILED", "CANCELLED", "TIMEOUT"}
    return WorkflowExecution.objects.create(
        workspace_id=of.workspace_id,
        workflow=of,
        version=of.latest_version,
        state=state,
        created_at=now - timedelta(minutes=3),
        started_at=None if state == "PENDING" else now - timedelta(minutes=2, seconds=58),
        finished_at=now - timedelta(minutes=1) if final else None,
        trigger_payload={"order": 1047, "note": HOSTILE, "password": "hunter2"},
        **values,
    )


def run(of: WorkflowExecution, step: str = "charge.main", state: str = "DLQ", **values: Any) -> Run:
    """Create an attempt of a step in that state."""
    now = timezone.now()
    final = state in {"SUCCESS", "FAILED", "DLQ", "CANCELLED", "SKIPPED"}
    fields: dict[str, Any] = {
        "segment": step,
        "step_path": step,
        "task_id": uuid4(),
        "module_id": uuid4(),
        "module": "http.request",
        "queue": "io",
        "queued_at": now - timedelta(minutes=2, seconds=50),
        "started_at": now - timedelta(minutes=2, seconds=49),
        "inputs": {"url": "http://partner.test/charge", "body": {"amount": 990, "note": HOSTILE}},
    }
    if final:
        fields |= {"finished_at": now - timedelta(minutes=2), "duration_ms": 1234.5}
    if state in {"RUNNING", "LEASED"}:
        fields |= {
            "leased_by": "io@box-1",
            "lease_token": 1,
            "lease_until": now + timedelta(seconds=30),
        }
    if state in {"FAILED", "DLQ"}:
        fields |= {
            "error": f"HTTP 422 from http://partner.test/charge: {HOSTILE}",
            "error_type": "PERMANENT",
            "error_details": {"status": 422, "traceback": 'Traceback …\n  File "x.py", line 1'},
        }
    return Run.objects.create(execution=of, state=state, **(fields | values))


def dead_letter(of: Run, **values: Any) -> DeadLetterEntry:
    """Create the dead letter of a dead run."""
    ended = of.execution
    group_id = placed(
        Failing(
            workspace_id=ended.workspace_id,
            workflow_id=ended.workflow_id,
            fingerprint=values.get("fingerprint", "f" * 64),
            place=of.step_path,
            module=of.module,
            exception="HttpError",
            message="HTTP <n> from <url>",
            sample=of.error,
            version_number=1,
        )
    ).group_id
    values.setdefault("fingerprint", "f" * 64)
    return DeadLetterEntry.objects.create(
        workspace_id=ended.workspace_id,
        workflow_id=ended.workflow_id,
        execution=ended,
        run=of,
        task_id=of.task_id,
        step_path=of.step_path,
        module=of.module,
        failure_type="PERMANENT_ERROR",
        failure_reason=of.error or "it failed",
        error_type=of.error_type,
        group_id=group_id,
        version_number=1,
        exception="HttpError",
        attempts=of.attempt,
        original_inputs=of.inputs,
        original_config={"url": "{{ vars.partner }}/charge"},
        quarantined_at=timezone.now() - timedelta(minutes=2),
        **values,
    )


def failed_order(of: Workflow) -> DeadLetterEntry:
    """Create a FAILED execution whose second step is dead after two attempts; return the dead
    letter.
    """
    ended = execution(of, "FAILED", error_message=f"charge.main failed: {HOSTILE}")
    run(ended, "reserve.main", "SUCCESS", outputs={"reserved": True})
    run(ended, "charge.main", "FAILED", attempt=1)
    return dead_letter(run(ended, "charge.main", "DLQ", attempt=2))


def redrive(letter: DeadLetterEntry, state: str = "RUNNING", **values: Any) -> Any:
    """Create a redrive of one dead letter that failed again."""
    from valkyr_plugins.redrive.models import Redrive, RedriveItem

    made = Redrive.objects.create(
        workspace_id=letter.workspace_id,
        group_id=letter.group_id,
        created_by_name="ada",
        selection={"ids": [str(letter.pk)]},
        state=state,
        total=1,
        reason=HOSTILE,
        **values,
    )
    RedriveItem.objects.create(redrive=made, entry=letter, state="FAILED_AGAIN", again=letter)
    return made


def one_of_each(of: Workflow, times: int = 1) -> None:
    """Create `times` rows in every table that the admin lists."""
    now = timezone.now()
    for number in range(times):
        letter = failed_order(of)
        if apps.is_installed("valkyr_plugins.redrive"):
            redrive(letter)
        live = execution(of, "RUNNING")
        run(live, "charge.main", "RUNNING")
        asked = {"title": HOSTILE, "description": HOSTILE, "approvers": []}
        run(live, "ask.main", "WAITING", waits_for="approval", progress=asked)
        execution(of, "SUCCESS", output={"total": 990})
        WorkflowVersion.objects.create(
            workflow=of, number=2 + number + of.versions.count(), source={}, definition={},
            checksum=str(uuid4()),
        )  # fmt: skip
        made = Trigger.objects.create(workflow=of, type="CRON", settings={"cron": "0 6 * * *"})
        CronTick.objects.create(trigger=made, fire_at=now, execution=live)
        listener = Trigger.objects.create(
            workflow=of, type="QUEUE", settings={"queue": "orders", "broker": None}
        )
        RefusedMessage.objects.create(
            trigger=listener, body=HOSTILE, headers={"from": HOSTILE}, code="not_json",
            reason=HOSTILE,
        )  # fmt: skip
        Event.objects.create(
            workspace_id=of.workspace_id, event_id=str(uuid4()), name="order.created",
            payload={"note": HOSTILE},
            started=[
                {"triggerId": str(made.pk), "workflowId": str(of.pk), "executionId": str(live.pk)},
                {"triggerId": None, "workflowId": None, "code": "x", "message": HOSTILE},
            ],
        )  # fmt: skip
        Runner.objects.create(
            name=f"io@{uuid7()}", host="box-1", pid=4711, pool="prefork", queues=["io", "default"]
        )
        Activity.objects.create(
            workspace_id=of.workspace_id, actor_name="ada", action="execution.cancel",
            object_type="WorkflowExecution", object_id=live.pk, reason=HOSTILE,
            details={"from": "RUNNING"},
        )  # fmt: skip
        people(of.workspace, f"ada-{uuid7()}")
        kept = credentials.create(
            of.workspace, name=f"c_{uuid7().hex}", type="secret", fields={"value": "hunter2"},
            hosts=["*"], description=HOSTILE, actor=Actor.system("tests"),
        )  # fmt: skip
        step = credentials.UsingStep(
            of.workspace_id, of.pk, live.pk, uuid4(), "charge.main", 1, "http.request", HOSTILE
        )
        credentials.opened_for(step, [kept.name])
        credentials.note_refused(step, "missing", HOSTILE)
        share(of)
        schedules(f"cron of {uuid7()}")
        for plugin, make in OF_PLUGINS.items():
            if apps.is_installed(f"valkyr_plugins.{plugin}"):
                make(of, live, number)


def limited(execution: WorkflowExecution) -> None:
    """Create the costs of an execution, and limits of a member of its workspace."""
    from valkyr_plugins.limits.models import Budget, CostEntry, Quota

    of = execution.workflow
    CostEntry.objects.create(
        workspace=of.workspace, workflow=of, execution=execution, run_id=execution.pk, tokens=5,
        module="llm.chat", model=HOSTILE, currency="USD",
    )  # fmt: skip
    member = Membership.objects.filter(workspace=of.workspace, role="WORKFLOW").latest("pk")
    Quota.objects.create(workspace=of.workspace, user=member.user, max_per_hour=100)
    Budget.objects.create(workspace=of.workspace, user=member.user, amount=100)


def alerted(of: Workspace) -> None:
    """Create an alert rule, its alert and the message about that alert."""
    from valkyr_plugins.alerts.lifecycle import Finding, notice, tell
    from valkyr_plugins.alerts.models import AlertDelivery, AlertKind
    from valkyr_plugins.alerts.rules import create_rule

    facts = {"name": f"{HOSTILE[:40]} {uuid7()}", "kinds": ["GROUP_NEW"], "channel": "EMAIL"}
    rule = create_rule(of, facts | {"recipients": ["ann@example.com"]}, actor=Actor.system("tests"))
    alert = notice(rule, Finding(AlertKind.GROUP_NEW, f"group:{uuid7()}", HOSTILE, "/admin/"))
    tell(rule)
    AlertDelivery.objects.filter(alert=alert).update(error=HOSTILE, attempts=1)


def sql_granted(of: Workspace) -> None:
    """Create the grant of a login role; the role itself does not exist."""
    from valkyr_plugins.sql_views.models import SqlGrant

    SqlGrant.objects.create(workspace=of, role=f"bi_{uuid7().hex[:20]}", created_by_name=HOSTILE)


def archived(of: Workspace) -> None:
    """Create an archive file whose storage is unavailable, an execution in it, and a dead
    letter.
    """
    from valkyr_plugins.archive.models import ArchivedExecution, ArchiveFile, KeptLetter

    made = ArchiveFile.objects.create(
        workspace=of, day=timezone.now().date(), part=ArchiveFile.objects.count() + 1,
        state="STORED", executions=1, error=HOSTILE,
    )  # fmt: skip
    ArchivedExecution.objects.create(id=uuid7(), workspace=of, file=made, ended_at=timezone.now())
    KeptLetter.objects.create(id=uuid7(), workspace=of, execution_id=uuid7(), row={})


def circuits(of: Workspace) -> None:
    """Create a circuit whose target failed, and a rule."""
    from valkyr_plugins.circuits.models import CircuitBreaker, CircuitRule

    CircuitBreaker.objects.create(
        workspace=of, target=f"http.request:{uuid7()}", failures=2, last_error=HOSTILE
    )
    CircuitRule.objects.create(pattern=f"http.request:{uuid7()}", failure_threshold=3)


def canaries(of: Workflow, number: int) -> None:
    """Create a canary that ended, and the rollback of its version."""
    from valkyr_plugins.canary.models import Canary, VersionRollback

    latest = of.versions.earliest("number")
    bad = WorkflowVersion.objects.create(
        workflow=of, number=1_000 + number + of.versions.count(), source={}, definition={},
        checksum=str(uuid4()),
    )  # fmt: skip
    common = {"workspace": of.workspace, "workflow": of, "created_by_name": HOSTILE}
    Canary.objects.create(
        **common, version=bad, latest=latest, percent=5, state="STOPPED", reason=HOSTILE,
        ended_at=timezone.now(),
    )  # fmt: skip
    VersionRollback.objects.create(
        **common, bad=bad, good=latest, switched=False, treatment="FORK", reason=HOSTILE,
        refused=[{"id": str(uuid7()), "reason": HOSTILE}], failed=1,
    )  # fmt: skip


def compared(execution: WorkflowExecution) -> None:
    """Create a backtest that ended, and its result for one execution."""
    from valkyr_plugins.backtest.models import Backtest, BacktestResult

    made = Backtest.objects.create(
        workspace=execution.workspace, workflow=execution.workflow, revision=1, definition={},
        most=10, state="DONE", total=1, done=1, counts={"SAME": 1}, groups=[], error=HOSTILE,
        created_by_name=HOSTILE, finished_at=timezone.now(),
    )  # fmt: skip
    BacktestResult.objects.create(backtest=made, execution_id=execution.pk, verdict="SAME", same=1)


def migrated(execution: WorkflowExecution) -> None:
    """Create a migration of executions that rejected one."""
    from valkyr_plugins.version_migration.models import ExecutionMigration, MigratedExecution

    made = ExecutionMigration.objects.create(
        workspace=execution.workspace, workflow=execution.workflow, source=execution.version,
        target=execution.version, names={HOSTILE: HOSTILE}, reason=HOSTILE, total=1, refused=1,
        state="PAUSED", pause_reason=HOSTILE, created_by_name=HOSTILE,
    )  # fmt: skip
    MigratedExecution.objects.create(
        migration=made, execution=execution, state="REFUSED", reason=HOSTILE
    )


def proposed(of: Workflow) -> None:
    """Create a change that an agent proposed, and a workflow that agents can call."""
    from valkyr_plugins.mcp.models import Proposal, WorkflowTool

    Proposal.objects.create(
        workspace=of.workspace, kind="start", title=HOSTILE, rationale=HOSTILE,
        object_type="Workflow", object_id=of.pk,
        arguments={"workflowId": str(of.pk), "input": {"note": HOSTILE}},
        created_by_name=HOSTILE, created_via="API token", expires_at=timezone.now(),
    )  # fmt: skip
    WorkflowTool.objects.get_or_create(
        workflow_id=of.pk, defaults={"workspace": of.workspace, "created_by_name": HOSTILE}
    )


def second_factor(of: Any) -> None:
    """Create a confirmed factor of an account, a passkey, and a recovery code."""
    from valkyr_plugins.mfa import factors
    from valkyr_plugins.mfa.models import Passkey, RecoveryCode, SecondFactor

    made = factors.begin(of)
    SecondFactor.objects.filter(pk=made.pk).update(confirmed_at=timezone.now())
    RecoveryCode.objects.create(user=made.user, digest="0" * 64)
    Passkey.objects.create(
        user=made.user, name="Laptop", site="shop.example",
        credential_id=str(made.user.pk).encode(), credential=b"",
    )  # fmt: skip


def person(name: str) -> Any:
    """Create an account without a password, for any name field of the project's user model."""
    model = get_user_model()
    return model._default_manager.create(**{model.USERNAME_FIELD: name})


def share(of: Workflow) -> None:
    """Give a user and a group a permission on the workflow."""
    assign_perm("read_workflow", person(f"grace-{uuid7()}"), of)
    assign_perm("read_workflow", Group.objects.create(name=f"night-{uuid7()}"), of)


def people(of: Workspace, name: str) -> None:
    """Create a member, a service account with a token, and a group."""
    user = person(name)
    Membership.objects.create(user=user, workspace=of, role="WORKFLOW")
    robot = create_service_account(of, name=slugify(name), actor=Actor.system("tests"))
    ApiToken.objects.create(
        workspace=of, user=robot.user, name=HOSTILE[:80], prefix="vlk_0123", digest=uuid7().hex,
        scopes=["view", "trigger"],
    )  # fmt: skip
    Group.objects.create(name=name)


def schedules(name: str) -> None:
    """Create a row in each of beat's tables."""
    ClockedSchedule.objects.create(clocked_time=timezone.now())
    SolarSchedule.objects.get_or_create(event="sunset", latitude=52, longitude=13)
    IntervalSchedule.objects.create(every=5, period="seconds")
    # Without a zone, beat looks through the machine's thousand time zones first.
    crontab = CrontabSchedule.objects.create(minute="0", hour="6", timezone="UTC")
    PeriodicTask.objects.create(name=name, task="executions.fire_cron", crontab=crontab)


# By plugin: rows of a workflow, a live execution of it, and the number of the repetition.
OF_PLUGINS: dict[str, Callable[[Workflow, WorkflowExecution, int], object]] = {
    "limits": lambda of, live, number: limited(live),
    "alerts": lambda of, live, number: alerted(of.workspace),
    "circuits": lambda of, live, number: circuits(of.workspace),
    "canary": lambda of, live, number: canaries(of, number),
    "version_migration": lambda of, live, number: migrated(live),
    "backtest": lambda of, live, number: compared(live),
    "archive": lambda of, live, number: archived(of.workspace),
    "mcp": lambda of, live, number: proposed(of),
    "sql_views": lambda of, live, number: sql_granted(of.workspace),
    "mfa": lambda of, live, number: second_factor(person(f"mallory-{uuid7()}")),
}
