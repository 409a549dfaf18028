"""`manage.py prune`: its output, errors, audit entries and exit codes."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from dlq.groups import status, tally
from dlq.models import DeadLetterEntry, FailureGroup, GroupFingerprint, GroupHour, Resolution
from dlq.resolve import transitions
from executions.access.actor import Actor
from executions.models import Activity, Workflow
from tests.support import admin_rows
from tests.support.aging import aged, left
from tests.support.failures import fail

pytestmark = pytest.mark.django_db


@pytest.fixture
def orders() -> Workflow:
    return admin_rows.workflow()


def prune(*arguments: str) -> str:
    said = StringIO()
    call_command("prune", *arguments, stdout=said)
    return said.getvalue()


def test_a_dry_run_says_what_would_go_and_why_the_rest_stays(orders: Workflow) -> None:
    for _ in range(3):
        aged(orders, 400)
    letter = fail(orders)
    aged(orders, 400, "FAILED")
    type(letter.execution).objects.filter(pk=letter.execution_id).update(
        state="FAILED", finished_at="2020-01-01T00:00:00Z"
    )
    before = left()

    said = prune("--dry-run")

    assert "would delete" in said
    assert "executions               4, 8 runs, from " in said
    assert "1 stay: open dead letters" in said
    assert left() == before
    assert not Activity.objects.filter(action="retention.prune").exists()

    assert "executions               4, 8 runs, from " in prune()
    assert left() == {letter.execution_id}


def test_it_may_be_narrowed_and_is_written_down(orders: Workflow) -> None:
    other = admin_rows.workflow(owner=admin_rows.workspace("other"))
    kept = [aged(other, 400), aged(orders, 400, "CANCELLED"), aged(orders, 39)]
    aged(orders, 41)

    prune("--older-than", "40d", "--state", "success", "--workspace", "default",
          "--workflow", orders.slug, "--what", "executions")  # fmt: skip

    assert left() == {one.pk for one in kept}
    row = Activity.objects.get(action="retention.prune")
    assert row.via == "command"
    assert row.details == {
        "deleted": {"executions": 1}, "workspace": "default", "workflow": orders.slug,
        "olderThanDays": 40.0, "states": ["SUCCESS"],
    }  # fmt: skip


def ended_group(of: Workflow, days: float) -> None:
    """Create a resolved group whose only dead letter, hour and status are `days` days old."""
    ann, at = Actor(None, "ann", "test"), timezone.now() - timedelta(days=days)
    letter = fail(of)
    transitions.resolve(letter, Resolution.DISCARDED, actor=ann)
    status.resolve(letter.group_id, actor=ann)
    tally.fold()
    DeadLetterEntry.objects.filter(pk=letter.pk).update(resolved_at=at, expires_at=at)
    FailureGroup.objects.filter(pk=letter.group_id).update(status_at=at, last_seen=at)
    GroupHour.objects.filter(group_id=letter.group_id).update(hour=at)


def counts(said: str) -> dict[str, int]:
    lines = [line.split() for line in said.splitlines()]
    return {words[0]: int(words[1].strip(",")) for words in lines if words[0] in GROUPS}


GROUPS = ("groups", "fingerprints", "hours")


def test_failure_groups_their_fingerprints_and_hours_are_deleted(orders: Workflow) -> None:
    ended_group(orders, 60)

    assert counts(prune("--dry-run")) == {"groups": 0, "fingerprints": 1, "hours": 1}
    assert (FailureGroup.objects.count(), GroupHour.objects.count()) == (1, 1)
    assert counts(prune()) == {"groups": 0, "fingerprints": 1, "hours": 1}
    assert counts(prune("--dry-run")) == {"groups": 1, "fingerprints": 0, "hours": 0}
    assert counts(prune("--what", "groups")) == {"groups": 1}
    assert not FailureGroup.objects.exists()


def test_failure_groups_of_other_workflows_ages_and_states_stay(orders: Workflow) -> None:
    other = admin_rows.workflow(owner=admin_rows.workspace("other"))
    ended_group(orders, 5)
    ended_group(other, 20)

    prune("--older-than", "1d", "--state", "FAILED")
    prune("--older-than", "25d")
    prune("--older-than", "4d", "--workspace", "default", "--workflow", orders.slug)

    # Charts read the hour of five days ago.
    assert set(GroupFingerprint.objects.values_list("group__workflow", flat=True)) == {other.pk}
    assert GroupHour.objects.count() == 2


def test_time_that_is_over_is_an_exit_code_of_its_own(orders: Workflow) -> None:
    for _ in range(3):
        aged(orders, 400)

    with pytest.raises(CommandError, match="Run the command again") as stopped:
        call_command("prune", "--batch", "1", max_seconds=0, stdout=StringIO())

    assert stopped.value.returncode == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--older-than", "soon"], "is not an age"),
        (["--older-than", "0d"], "is not an age"),
        (["--state", "RUNNING"], "expected some of"),
        (["--what", "everything"], "cannot be pruned"),
        (["--workspace", "nobody"], "no workspace"),
        (["--workflow", "orders"], "needs --workspace"),
        (["--workspace", "default", "--workflow", "none"], "has no workflow"),
        (["--batch", "0"], "whole number"),
    ],
)
def test_what_makes_no_sense_is_refused(orders: Workflow, arguments: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        prune(*arguments)


def test_settings_that_make_no_sense_are_said(monkeypatch: Any) -> None:
    monkeypatch.setenv("VALKYR_KEEP_FAILED_DAYS", "-1")

    with pytest.raises(CommandError, match="VALKYR_KEEP_FAILED_DAYS is -1"):
        prune("--dry-run")
