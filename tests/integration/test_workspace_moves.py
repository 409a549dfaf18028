"""Moves of a workspace between two databases, without workers."""

import os
import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.db import OperationalError, connections
from django.test import override_settings
from django_celery_beat.models import IntervalSchedule
from rest_framework.test import APIClient

from executions import credentials, lifecycle
from executions.accounts import tokens
from executions.database import moved_workspaces
from executions.database.clock import database_now
from executions.database.ids import uuid7
from executions.database.moving import is_moving
from executions.database.routing import is_ours, serving
from executions.database.sequences import first_number
from executions.models import (
    Activity,
    Credential,
    Membership,
    Tier,
    Trigger,
    Workflow,
    WorkflowExecution,
    Workspace,
    WorkspaceMove,
)
from executions.sealing import payload_keys, store
from executions.sealing.values import place_of, unseal
from executions.triggers import beat_entries
from runners.models import Run
from runners.moving import fence, moves
from runners.moving.fence import MoveGate
from runners.moving.sessions import opened
from runners.moving.tables import tables
from tests.support import emptying
from tests.support.cell_databases import second_cell
from tests.support.copies import session
from tests.support.engine_database import engine_database
from tests.support.rates import forget_rates
from tests.support.workflows import ACTOR, publish, start, task

NAME = f"workspace_moves_{os.getpid()}"
MIDDLEWARE = ["executions.api.cell_routing.CellRouting", *settings.MIDDLEWARE]
TASKS = {"tasks": [task("one"), task("two", after="one")]}
AUDIT = "executions_activity"


@pytest.fixture(name="b", scope="module")
def _b(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    with engine_database(django_db_blocker), second_cell(NAME) as made:
        with override_settings(MIDDLEWARE=MIDDLEWARE):
            yield made
        emptying.empty()


@pytest.fixture(name="workflow")
def _workflow(b: str) -> Iterator[Workflow]:
    """Create a workflow of a new workspace in the first database, with four ended and two
    running executions.
    """
    forget_rates()
    moved_workspaces.forget()
    made = publish(TASKS, space(f"south-{Workspace.objects.count()}"))
    ids = [start(made) for _ in range(6)]
    for pk in ids[:4]:
        lifecycle.cancel(pk, actor=ACTOR)
    yield made
    connections.close_all()


def space(slug: str) -> Workspace:
    tier, _ = Tier.objects.get_or_create(name="unlimited")
    return Workspace.objects.create(name="South", slug=slug, tier=tier)


def told(_: str) -> None:
    """Ignore the progress."""


def move(
    workspace: UUID, cell: str, tell: Callable[[str], None] = told, pause_seconds: float = 60
) -> None:
    """Move a workspace, with a long limit for the pause, because the machine may be busy."""
    moves.move(str(workspace), cell, tell, pause_seconds=pause_seconds)


def rows(alias: str, workspace: UUID) -> dict[str, int]:
    """Return how many rows of a workspace each table has."""
    found = {}
    with connections[alias].cursor() as cursor:
        for table in tables():
            counted = f"SELECT count(*) FROM {table.name} t WHERE {table.condition}"
            cursor.execute(counted, {"workspace": workspace})
            if number := cursor.fetchone()[0]:
                found[table.name] = number
    return found


def live(alias: str, workspace: UUID) -> int:
    with serving(alias):
        found = WorkflowExecution.objects.filter(workspace=workspace, finished_at=None)
        return found.count()


def fence_is_gone() -> bool:
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_proc WHERE proname LIKE 'valkyr\\_move\\_%'")
        functions = cursor.fetchone()[0]
        cursor.execute("SELECT to_regclass(%s)", [fence.GATE])
        return functions == 0 and cursor.fetchone()[0] is None


def when(text: str, act: Callable[[], object]) -> Callable[[str], None]:
    """Return a progress function that acts at the first line with a text."""
    done: list[object] = []

    def tell(line: str) -> None:
        if text in line and not done:
            done.append(line)
            act()

    return tell


def killed_at(text: str, workspace: UUID) -> None:
    """Move the workspace in a separate process, which is killed at a line of its progress."""
    connections.close_all()
    child = os.fork()
    if child == 0:
        try:
            move(workspace, "b", when(text, lambda: os.kill(os.getpid(), signal.SIGKILL)))
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"the command ended before {text!r}"


def test_a_workspace_moves_with_all_its_rows(workflow: Workflow, b: str) -> None:
    pk = workflow.workspace_id
    before = rows("default", pk)
    move(pk, "b")

    after, left = rows(b, pk), rows("default", pk)
    assert after.pop(AUDIT) == before.pop(AUDIT) + 1
    assert after == before
    assert set(left) == {AUDIT, "executions_workspace"}
    with serving(b):
        running = WorkflowExecution.objects.filter(workspace=pk, state="RUNNING")
        due = Run.objects.filter(execution__in=running, state="PENDING", published_at=None)
        assert (running.count(), due.count()) == (2, 2)
    noted = WorkspaceMove.objects.get(workspace_id=pk)
    assert (noted.source, noted.target, noted.state) == ("", "b", "DONE")
    with serving(b):
        told = Activity.objects.get(workspace=pk, action="workspace.move")
    assert told.details["pauseMs"] == noted.pause_ms is not None
    assert fence_is_gone()


def test_a_workspace_moves_back(workflow: Workflow, b: str) -> None:
    pk = workflow.workspace_id
    before = rows("default", pk)
    move(pk, "b")
    with serving(b):
        start(Workflow.objects.get(pk=workflow.pk))
    move(pk, "")

    after = rows("default", pk)
    assert after["executions_workflowexecution"] == before["executions_workflowexecution"] + 1
    assert after[AUDIT] > before[AUDIT]
    assert live("default", pk) == 3
    assert Workspace.objects.get(pk=pk).archived_at is None
    assert start(workflow)


def test_a_tier_that_was_renamed_in_the_target_keeps_its_limits(b: str) -> None:
    gold = Tier.objects.create(name="gold", max_pending=5)
    Tier.objects.using(b).create(pk=gold.pk, name="silver", max_pending=7)
    made = Workspace.objects.create(name="North", slug="north", tier=gold)
    move(made.pk, "b")

    there = Tier.objects.using(b).filter(name__in=["gold", "silver"]).order_by("name")
    assert list(there.values_list("name", "max_pending")) == [("gold", 5), ("silver", 7)]
    assert Workspace.objects.using(b).get(pk=made.pk).tier.name == "gold"
    connections.close_all()


def test_changes_during_the_copy_come_along(workflow: Workflow, b: str) -> None:
    pk = workflow.workspace_id
    running = WorkflowExecution.objects.filter(workspace=pk, finished_at=None).first()
    ended = WorkflowExecution.objects.filter(workspace=pk).exclude(finished_at=None).first()
    assert running is not None
    assert ended is not None
    begun: list[UUID] = []

    def change() -> None:
        lifecycle.cancel(running.pk, actor=ACTOR)
        begun.append(start(workflow))
        WorkflowExecution.objects.filter(pk=ended.pk).update(trace_id="changed")

    move(pk, "b", when("ended executions copied", change))

    with serving(b):
        assert WorkflowExecution.objects.get(pk=running.pk).state == "CANCELLED"
        assert WorkflowExecution.objects.get(pk=ended.pk).trace_id == "changed"
        assert WorkflowExecution.objects.get(pk=begun[0]).state == "RUNNING"
    assert live(b, pk) == 2


def test_a_paused_workspace_writes_nothing_and_others_go_on(workflow: Workflow, b: str) -> None:
    other = publish(TASKS, space(f"other-{Workspace.objects.count()}"))
    run = Run.objects.filter(execution__workspace=workflow.workspace_id, state="PENDING").first()
    assert run is not None
    errors: list[BaseException] = []
    seen: list[Any] = []

    def write() -> None:
        try:
            start(workflow)
        except OperationalError as error:
            errors.append(error)
        seen.append(Run.objects.filter(pk=run.pk).update(priority=1))
        seen.append(WorkflowExecution.objects.filter(pk=run.execution_id).exists())
        seen.append(start(other))
        seen.append(Run.objects.filter(execution_id=seen[-1]).update(priority=1))

    move(workflow.workspace_id, "b", when("paused", write))

    assert [is_moving(error) for error in errors] == [True]
    assert seen[:2] == [0, True]
    assert seen[3] == 1


@pytest.mark.parametrize(
    ("line", "in_target"),
    [
        ("ended executions copied", False),
        ("changed executions copied", False),
        ("paused", False),
        ("rows copied during the pause", False),
        ("cut over", True),
        ("the workspace is in b", True),
        ("removed from the source", True),
        ("recorded in the audit trail", True),
    ],
)
def test_a_killed_move_leaves_the_workspace_in_one_place_and_goes_on(
    line: str, in_target: bool, workflow: Workflow, b: str
) -> None:
    pk = workflow.workspace_id
    before = rows("default", pk)
    killed_at(line, pk)

    if in_target:
        assert live(b, pk) == 2
    else:
        assert live(b, pk) == 0
        assert rows("default", pk) == before
    move(pk, "b")
    after = rows(b, pk)
    assert after.pop(AUDIT) == before.pop(AUDIT) + 1
    assert after == before
    assert live("default", pk) == 0
    assert fence_is_gone()


def test_an_aborted_move_returns_to_the_source(workflow: Workflow, b: str) -> None:
    pk = workflow.workspace_id
    killed_at("paused", pk)
    with pytest.raises(OperationalError):
        start(workflow)

    moves.abort(str(pk), told)

    assert start(workflow)
    assert rows(b, pk) == {}
    assert fence_is_gone()
    assert WorkspaceMove.objects.get(workspace_id=pk).state == "ABORTED"
    with pytest.raises(moves.MoveRefused, match="unfinished"):
        moves.abort(str(pk), told)


def test_a_switched_move_cannot_be_aborted(workflow: Workflow, b: str) -> None:
    killed_at("cut over", workflow.workspace_id)

    with pytest.raises(moves.MoveRefused, match="in the target already"):
        moves.abort(str(workflow.workspace_id), told)
    move(workflow.workspace_id, "b")


def test_a_pause_that_would_be_too_long_is_broken_off(workflow: Workflow, b: str) -> None:
    pk = workflow.workspace_id
    with pytest.raises(moves.PauseTooLong, match="continues"):
        move(pk, "b", pause_seconds=0)

    assert start(workflow)
    assert live(b, pk) == 0
    moves.abort(str(pk), told)


def test_a_locked_table_of_the_target_does_not_prolong_the_pause(
    workflow: Workflow, b: str
) -> None:
    pk = workflow.workspace_id
    with session(database=connections[b].settings_dict["NAME"]) as holder:
        holder.execute("LOCK TABLE executions_trigger IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(moves.PauseTooLong, match="waited"):
            move(pk, "b", pause_seconds=3)

    assert start(workflow)
    moves.abort(str(pk), told)


def test_a_step_that_its_worker_took_at_the_beginning_of_the_pause_gets_another_token(
    workflow: Workflow, b: str
) -> None:
    """Its worker executes it: a claim in the target with the same token would not fence it."""
    run = Run.objects.filter(execution__workflow=workflow, state="PENDING")[0]
    run.pk, run._state.adding, run.step_path = uuid7(), True, "two.main"
    run.state, run.lease_token, run.leased_by = "RUNNING", 1, "worker|1"
    run.lease_until = run.due_at = database_now() + timedelta(seconds=20)
    with opened("default", b) as sessions:
        fence.install(sessions.source, workflow.workspace_id)
        fence.set_gate(sessions.source, MoveGate.DRAINING)
        run.save(force_insert=True)
        fence.remove(sessions.source)

    run.refresh_from_db()
    assert (run.state, run.lease_token, run.leased_by) == ("PENDING", 1, "")
    assert run.due_at is not None
    assert run.due_at <= database_now()


def test_an_estimate_changes_nothing(workflow: Workflow, b: str) -> None:
    pk = workflow.workspace_id
    found = moves.estimate(str(pk), "b")

    assert found.ended == 4
    assert found.paused["executions_workflowexecution"] == 2
    assert not WorkspaceMove.objects.filter(workspace_id=pk).exists()
    assert fence_is_gone()
    with pytest.raises(moves.MoveRefused, match="already"):
        moves.estimate(str(pk), "")


def test_the_command_moves_and_says_what_it_refuses(workflow: Workflow, b: str) -> None:
    slug = workflow.workspace.slug

    def run(*words: str) -> str:
        out = StringIO()
        call_command("valkyr_cells", *words, stdout=out)
        return out.getvalue()

    shown = run("move", slug, "b", "--dry-run")
    killed_at("paused", workflow.workspace_id)
    status = run("status")
    done = run("move", slug, "b", "--pause", "60")

    assert "before the pause: 4 ended executions" in shown
    assert "2  executions_workflowexecution" in shown
    assert f"{workflow.workspace_id} moves from (first) to b: copying, 4 ended" in status
    assert "the workspace is in b; the pause was" in done
    for words, told_why in (
        (("move", slug, "b"), "in that cell already"),
        (("move", "nobody", "b"), "No cell has a workspace 'nobody'"),
        (("move", slug, "c"), "No cell 'c' is configured"),
        (("abort", slug), "No move of a workspace"),
    ):
        with pytest.raises(CommandError, match=told_why):
            run(*words)


def test_sealed_values_open_in_the_target(workflow: Workflow, b: str) -> None:
    pk = workflow.workspace_id
    payload_keys.make(pk)
    execution = start(workflow, {"word": "m4rker"})
    kept = credentials.create(
        workflow.workspace,
        name="bank",
        type="bearer",
        fields={"token": "t0ken-of-the-bank"},
        hosts=["bank.example"],
        actor=ACTOR,
    )
    move(pk, "b")

    payload_keys.forget()
    store.forget()
    with serving(b):
        assert WorkflowExecution.objects.get(pk=execution).trigger_payload == {"word": "m4rker"}
        row = Credential.objects.get(pk=kept.pk)
        assert b"t0ken-of-the-bank" in unseal(row.sealed, place_of(row))
        payload_keys.make(pk)
        assert start(Workflow.objects.get(pk=workflow.pk), {"word": "new"})


def test_schedules_are_sent_by_the_targets_beat(workflow: Workflow, b: str) -> None:
    daily = {"type": "CRON", "schedule": "0 3 * * *"}
    made = publish({**TASKS, "triggers": [daily]}, workflow.workspace)
    trigger = Trigger.objects.get(workflow=made)
    due = trigger.next_at
    move(workflow.workspace_id, "b")

    assert beat_entries.entry_of(trigger) is None
    with serving(b):
        there = Trigger.objects.get(pk=trigger.pk)
        entry = beat_entries.entry_of(there)
    assert there.next_at == due is not None
    assert entry is not None
    assert entry.enabled
    assert entry.queue.endswith("b:control")


def test_a_schedule_that_became_an_interval_moves_as_it_was_published(
    workflow: Workflow, b: str
) -> None:
    daily = {"type": "CRON", "schedule": "0 3 * * *"}
    made = publish({**TASKS, "triggers": [daily]}, workflow.workspace)
    trigger = Trigger.objects.get(workflow=made)
    entry = beat_entries.entry_of(trigger)
    assert entry is not None
    entry.interval = IntervalSchedule.objects.create(every=5, period=IntervalSchedule.MINUTES)
    entry.crontab = None
    entry.save()
    move(workflow.workspace_id, "b")

    with serving(b):
        moved = beat_entries.entry_of(Trigger.objects.get(pk=trigger.pk))
        assert moved is not None
        assert moved.interval is None
        assert (moved.crontab.hour, moved.crontab.minute) == ("3", "0")


def test_requests_find_a_moved_workspace(workflow: Workflow, b: str) -> None:
    pk = workflow.workspace_id
    user = get_user_model().objects.create_user(f"mover-{pk}", password="secret-word-9")
    Membership.objects.create(user=user, workspace_id=pk, role="ADMIN")
    text = tokens.create_token(workflow.workspace, user, name="t", maker=user, actor=ACTOR)[1]
    asking = APIClient()
    asking.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    execution = WorkflowExecution.objects.filter(workspace=pk).first()
    assert execution is not None
    assert asking.get(f"/v1/WorkflowExecution/{execution.pk}").status_code == 200
    answers: list[Any] = []

    def ask() -> None:
        answers.append(asking.post(f"/v1/WorkflowExecution/{workflow.pk}/execute", {}, "json"))
        answers.append(asking.get(f"/v1/WorkflowExecution/{execution.pk}"))

    move(pk, "b", when("paused", ask))
    moved_workspaces.forget()

    refused, read = answers
    assert (refused.status_code, refused.json()["code"]) == (503, "workspace_moving")
    assert refused.headers["Retry-After"]
    assert read.status_code == 200
    found = asking.get(f"/v1/WorkflowExecution/{execution.pk}")
    assert (found.status_code, found.json()["id"]) == (200, str(execution.pk))
    begun = asking.post(f"/v1/WorkflowExecution/{workflow.pk}/execute", {}, "json")
    assert begun.status_code == 202, begun.content
    with serving(b):
        assert WorkflowExecution.objects.filter(pk=begun.json()["id"]).exists()
    listed = asking.get("/v1/WorkflowExecution", {"workspaceId": str(pk)}).json()
    assert len(listed) == 7


def test_rows_left_at_the_source_are_not_listed(workflow: Workflow, b: str) -> None:
    pk = workflow.workspace_id
    root = get_user_model().objects.create_superuser(f"root-{pk}", password="secret-word-9")
    asking = APIClient()
    asking.force_authenticate(root)
    move(pk, "b")
    moved_workspaces.forget()

    listed = [row["id"] for row in asking.get("/v1/Workspace", {"limit": 500}).json()]
    trail = [row["id"] for row in asking.get("/v1/Activity", {"limit": 500}).json()]
    assert listed.count(str(pk)) == 1
    assert len(trail) == len(set(trail))


def test_an_unavailable_directory_stops_no_request(
    workflow: Workflow, b: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(b):
        made = publish(TASKS, space(f"north-{workflow.pk}"))

    def refuse(*_: Any, **__: Any) -> None:
        raise OperationalError("connection refused")

    moved_workspaces.forget()
    connections["default"].close()
    monkeypatch.setattr(connections["default"], "connect", refuse)

    assert moved_workspaces.place_of(made.pk, b) == b


def test_numbers_of_rows_differ_between_cells(b: str) -> None:
    with connections[b].cursor() as cursor:
        cursor.execute("SELECT last_value FROM executions_payloadkey_id_seq")
        assert cursor.fetchone()[0] >= first_number("b") > 2**36


# Models without rows of a workspace, or whose rows do not move; the others move by themselves.
STAYS = {
    "dlq.BeatPulse": "of a database",
    "dlq.RetentionMark": "of a database",
    "dlq.SavedView": "of a person",
    "executions.AccountSession": "of a person",
    "executions.AuditSeal": "of a database's audit trail",
    "executions.KeptAnswer": "of a person; kept for a day",
    "executions.Keyset": "the target's keys get those of the source",
    "executions.RateCount": "counters by digests",
    "executions.Tier": "found by name, or copied",
    "executions.WorkspaceMove": "the directory",
    "runners.CachedResult": "computed again",
    "runners.HeldPermit": "taken again with the run",
    "runners.Runner": "reports again",
    "valkyr_circuits.CircuitRule": "of the whole installation",
    "valkyr_figures.CountedHour": "of a database",
    "valkyr_mfa.Passkey": "of a person",
    "valkyr_mfa.RecoveryCode": "of a person",
    "valkyr_mfa.SecondFactor": "of a person",
}


def test_each_table_moves_or_says_why_not() -> None:
    moved = {table.model._meta.label for table in tables()}
    ours = {
        one._meta.label
        for one in apps.get_models(include_auto_created=True)
        if is_ours(one) and one._meta.managed and not one._meta.proxy
    }

    assert ours - moved == set(STAYS) & ours
    assert not moved & set(STAYS)
