"""Alerts about lasting conditions open while the conditions last, and close afterwards."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import resolve

from dlq import pulse
from dlq.events import StoppedRedrive, group_new, group_regressed, redrive_stopped
from dlq.models import BeatPulse, DeadLetterEntry, FailureGroup, GroupHour, GroupStatus
from executions.addresses import page, public_page, shown_page
from executions.database.clock import database_now
from executions.events import LASTING, ReportedCondition, condition_began
from executions.models import Workspace
from runners.models import Run, Runner
from tests.support import admin_rows as rows
from tests.support.alerts import receiver as serving
from tests.support.alerts import rule
from tests.support.workflows import publish, start, task
from valkyr_plugins.alerts import beat_monitor, conditions
from valkyr_plugins.alerts.conditions import high_rates, old_entries, unserved_queues
from valkyr_plugins.alerts.models import Alert, AlertDelivery, AlertKind, AlertState
from valkyr_plugins.alerts.news import fold
from valkyr_plugins.alerts.rules import problems_of
from valkyr_plugins.alerts.watching import forget, watch, watch_alone
from valkyr_plugins.circuits.models import CircuitBreaker
from valkyr_plugins.redrive.models import Redrive, RedriveState

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def letter() -> DeadLetterEntry:
    """Create a dead letter, and count it as open in its group."""
    entry = rows.failed_order(rows.workflow())
    FailureGroup.objects.update(open=1, total=1)
    return entry


@pytest.fixture
def waiting() -> Run:
    """Create a run that has waited for two minutes in the queue `default`."""
    pk = start(publish({"tasks": [task("one", "data.set", **{"with": {"values": {}}})]}))
    Run.objects.filter(execution_id=pk).update(
        queue="default", state="PENDING", queued_at=database_now() - timedelta(minutes=2)
    )
    return Run.objects.get(execution_id=pk)


def worker(*queues: str, **facts: Any) -> Runner:
    given = {"name": f"w@{Runner.objects.count()}", "host": "box", "pid": 1, "pool": "prefork"}
    return Runner.objects.create(**given | facts, queues=list(queues))


def this_hour() -> datetime:
    return database_now().replace(minute=0, second=0, microsecond=0)


def opened() -> list[str]:
    alerts = Alert.objects.filter(state=AlertState.OPEN)
    return sorted(alerts.values_list("kind", flat=True))


def test_far_more_failures_than_usual_are_found(letter: DeadLetterEntry) -> None:
    mine = rule("RATE_HIGH")
    GroupHour.objects.create(group_id=letter.group_id, hour=this_hour(), count=40)
    for day in range(1, 8):
        at = this_hour() - timedelta(days=day)
        for hour in (at, at - HOUR):
            GroupHour.objects.create(group_id=letter.group_id, hour=hour, count=5)

    (found,) = high_rates(mine, database_now())

    assert found.subject == f"workflow:{letter.workflow_id}"
    assert "about 40 failures in the last hour" in found.sentence
    mine.rate_factor = 100
    assert list(high_rates(mine, database_now())) == []


@pytest.mark.parametrize("quiet", [{"muted": True}, {"status": GroupStatus.IGNORED}])
def test_groups_that_are_to_be_quiet_raise_nothing(
    letter: DeadLetterEntry, quiet: dict[str, Any]
) -> None:
    rule()
    GroupHour.objects.create(group_id=letter.group_id, hour=this_hour(), count=500)
    DeadLetterEntry.objects.update(quarantined_at=database_now() - timedelta(days=9))
    FailureGroup.objects.update(**quiet)
    if "muted" in quiet:
        group_new.send(None, group_id=letter.group_id)
        group_regressed.send(None, group_id=letter.group_id, version_number=2)

    fold()
    watch()

    assert opened() == []


def test_a_dead_letter_open_for_too_long_is_found_and_is_over_once_resolved(
    letter: DeadLetterEntry,
) -> None:
    mine = rule("ENTRY_OLD", oldest_hours=24)
    assert list(old_entries(mine, database_now())) == []
    DeadLetterEntry.objects.update(quarantined_at=database_now() - timedelta(hours=30))
    watch()
    assert "open for 30.0 h; the limit is 24 h" in Alert.objects.get().sentence

    DeadLetterEntry.objects.update(resolution="DISCARDED", resolved_at=database_now())
    watch()

    assert opened() == []
    assert [d.reason for d in AlertDelivery.objects.order_by("id")] == ["RAISED", "OVER"]


def test_work_where_no_worker_serves_is_found_and_over_when_one_does(waiting: Run) -> None:
    mine = rule("NO_WORKER")
    worker("control")
    assert [found.subject for found in unserved_queues(mine, database_now())] == ["queue:default"]
    watch()
    assert opened() == ["NO_WORKER"]

    worker("default", "io")
    watch()

    assert opened() == []
    reasons = AlertDelivery.objects.order_by("id").values_list("reason", flat=True)
    assert list(reasons) == ["RAISED", "OVER"]


@pytest.mark.parametrize(
    "served",
    [
        {"seen_at": database_now, "leaving_at": database_now},
        {"seen_at": lambda: database_now() - timedelta(seconds=36)},
    ],
)
def test_a_worker_that_leaves_or_is_silent_serves_nobody(
    waiting: Run, served: dict[str, Any]
) -> None:
    worker("default", **{name: at() for name, at in served.items()})

    assert list(unserved_queues(rule("NO_WORKER"), database_now()))


def test_work_that_has_just_come_or_may_not_run_is_no_alarm(waiting: Run) -> None:
    mine = rule("NO_WORKER", waiting_seconds=600)
    assert list(unserved_queues(mine, database_now())) == []
    mine.waiting_seconds = 10
    Run.objects.update(retry_after=database_now() + timedelta(hours=1))
    assert list(unserved_queues(mine, database_now())) == []
    Run.objects.update(retry_after=None)
    waiting.execution.__class__.objects.update(state="PAUSED")

    assert list(unserved_queues(mine, database_now())) == []


def test_a_remote_queue_is_served_by_runners_of_the_same_workspace(waiting: Run) -> None:
    mine = rule("NO_WORKER")
    elsewhere = Workspace.objects.create(slug="e", name="e", tier=rows.workspace().tier)
    Run.objects.update(queue="gpu")
    worker("gpu", workspace=elsewhere)

    (found,) = unserved_queues(mine, database_now())

    assert "no remote runner serves" in found.sentence
    worker("gpu", workspace=rows.workspace())
    assert list(unserved_queues(mine, database_now())) == []


def test_any_queue_without_a_worker_is_found(waiting: Run) -> None:
    mine = rule("NO_WORKER")
    worker("control", "default", "io")
    Run.objects.update(queue="images")

    (found,) = unserved_queues(mine, database_now())

    assert found.subject == "queue:images"
    assert "1 run waits in queue images, which no worker serves" in found.sentence
    worker("images")
    assert list(unserved_queues(mine, database_now())) == []


def test_a_queue_of_the_project_is_found_behind_a_backlog(
    waiting: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_CELERY_QUEUES", "images")
    monkeypatch.setattr(conditions, "MOST_NAMED", 0)
    Run.objects.update(queue="images")

    (found,) = unserved_queues(rule("NO_WORKER"), database_now())

    assert found.subject == "queue:images"


def test_looking_where_all_is_well_costs_few_queries(letter: DeadLetterEntry) -> None:
    rule("RATE_HIGH", "ENTRY_OLD", "NO_WORKER")
    worker("control", "default", "io")

    with CaptureQueriesContext(connection) as asked:
        watch_alone()

    assert len(asked) < 30, [q["sql"] for q in asked]


@pytest.fixture
def happened(letter: DeadLetterEntry) -> dict[str, Any]:
    """Create one of each event, with its object."""
    rule()
    group = FailureGroup.objects.get()
    redrive = Redrive.objects.create(
        workspace_id=group.workspace_id, group=group, created_by_name="ann", selection={},
        state=RedriveState.STOPPED, total=9,
    )  # fmt: skip
    breaker = CircuitBreaker.objects.create(
        workspace_id=group.workspace_id, target="http.request:a", state="OPEN",
        next_retry_at=database_now(),
    )  # fmt: skip
    group_new.send(None, group_id=group.pk)
    stopped = StoppedRedrive(
        redrive_id=redrive.pk, workspace_id=group.workspace_id, group_id=group.pk, total=9,
        created_by="ann", reason="60 % failed again",
        path=page("valkyr_redrive_redrive", redrive.pk),
    )  # fmt: skip
    redrive_stopped.send(None, stopped=stopped)
    where = page("valkyr_circuits_circuitbreaker", breaker.pk)
    condition_began.send(
        None,
        condition=ReportedCondition(
            "CIRCUIT_OPEN", "circuit", breaker.pk, group.workspace_id, "A circuit opened.", where
        ),
    )
    fold()
    return {"group": group, "redrive": redrive, "breaker": breaker}


def test_what_happens_is_told_of_with_a_link(happened: dict[str, Any]) -> None:
    watch()

    assert opened() == ["CIRCUIT_OPEN", "GROUP_NEW", "REDRIVE_STOPPED"]
    said = {alert.kind: alert.sentence for alert in Alert.objects.all()}
    assert said["GROUP_NEW"].startswith("New failure in Order import, step charge.main: HttpError")
    assert "60 % failed again" in said["REDRIVE_STOPPED"]
    for alert in Alert.objects.all():
        assert resolve(shown_page(alert.path))


def test_what_was_dealt_with_is_over(happened: dict[str, Any]) -> None:
    FailureGroup.objects.update(status=GroupStatus.ACKNOWLEDGED)
    Redrive.objects.update(state=RedriveState.ABORTED)
    CircuitBreaker.objects.update(state="CLOSED")

    assert watch()["over"] == 3

    assert opened() == []
    over = AlertDelivery.objects.filter(reason="OVER")
    assert [delivery.alert.kind for delivery in over if delivery.alert] == ["CIRCUIT_OPEN"]


def test_what_a_rule_does_not_ask_about_any_more_is_over_in_silence(
    happened: dict[str, Any],
) -> None:
    Alert.objects.get(kind="GROUP_NEW").rule.__class__.objects.update(enabled=False)

    assert watch()["over"] == 3
    assert not AlertDelivery.objects.filter(reason="OVER").exists()


def test_a_silent_beat_is_seen_and_told_of_without_beat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    began = database_now() - timedelta(hours=1)
    with serving() as server:
        rule("BEAT_SILENT", url=server.url, silent_seconds=60)
        pulse.beat()
        assert beat_monitor.look(began) == 0
        BeatPulse.objects.update(ticked_at=database_now() - timedelta(seconds=90))

        assert [beat_monitor.look(began), beat_monitor.look(began)] == [1, 0]

        (said,) = server.said
        assert "No duty of beat has run for 90 s" in said["alerts"][0]["sentence"]
        pulse.beat()
        watch()
    assert opened() == []
    assert AlertDelivery.objects.latest("id").reason == "OVER"


def test_a_worker_that_has_just_begun_gives_beat_time() -> None:
    rule("BEAT_SILENT")
    BeatPulse.objects.update_or_create(pk=1, defaults={"ticked_at": database_now() - HOUR})

    assert beat_monitor.look(database_now()) == 0


def test_a_circuit_is_dealt_with_where_its_plugin_is_left_out(
    happened: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(LASTING, "CIRCUIT_OPEN")

    assert watch()["over"] == 1
    assert opened() == ["GROUP_NEW", "REDRIVE_STOPPED"]


def test_the_pulse_is_written_now_and_then_only() -> None:
    pulse.beat()
    first = pulse.last_beat()
    pulse.beat()

    assert pulse.last_beat() == first


def test_old_alerts_are_forgotten_and_open_ones_never(happened: dict[str, Any]) -> None:
    FailureGroup.objects.update(status=GroupStatus.RESOLVED)
    watch()
    long_ago = database_now() - timedelta(days=31)
    Alert.objects.filter(state=AlertState.OVER).update(over_at=long_ago)
    Alert.objects.update(first_at=long_ago)

    assert forget() == 1
    assert opened() == ["CIRCUIT_OPEN", "REDRIVE_STOPPED"]


def test_every_kind_has_a_page() -> None:
    assert page("runners_runner") == "runners/runner/"
    assert page("dlq_failuregroup", 7) == "dlq/failuregroup/7/change/"
    assert public_page(page("runners_runner")).endswith("/admin/runners/runner/")
    assert set(AlertKind)


def test_a_rule_with_a_label_reports_only_dead_letters_with_it(letter: DeadLetterEntry) -> None:
    mine = rule("ENTRY_OLD", oldest_hours=24, label="customer:big")
    DeadLetterEntry.objects.update(quarantined_at=database_now() - timedelta(hours=30))
    assert list(old_entries(mine, database_now())) == []

    DeadLetterEntry.objects.update(labels={"customer": "big"})

    (found,) = old_entries(mine, database_now())
    assert found.workflow_id == letter.workflow_id


def test_a_new_failure_reaches_the_rules_with_its_label(letter: DeadLetterEntry) -> None:
    DeadLetterEntry.objects.update(labels={"customer": "big"})
    for value in ("big", "small"):
        rule("GROUP_NEW", name=value, label=f"customer:{value}")

    group_new.send(None, group_id=letter.group_id)

    assert fold() == 1
    assert Alert.objects.get().rule.name == "big"


@pytest.mark.parametrize(
    ("kind", "label", "code"),
    [("NO_WORKER", "customer:big", "unexpected"), ("GROUP_NEW", "Customer", "bad_label")],
)
def test_a_rule_with_a_label_that_cannot_hold_is_rejected(kind: str, label: str, code: str) -> None:
    mine = rule(kind)
    mine.label = label
    found = [(one.path, one.code) for one in problems_of(mine, "s" * 20)]
    assert found == [("label", code)]
