"""Alerts open once, are counted, are reported once per interval, and close with an all-clear."""

from datetime import timedelta

import pytest
from django.db import transaction

from executions.models import Workspace
from tests.support.alerts import finding, rule
from tests.support.workflows import default_workspace, publish, task
from valkyr_plugins.alerts.lifecycle import EACH, LISTED, MOST, close, notice, tell
from valkyr_plugins.alerts.models import (
    Alert,
    AlertDelivery,
    AlertKind,
    AlertNews,
    AlertRule,
    AlertState,
    DeliveryReason,
)
from valkyr_plugins.alerts.news import fold, leave, wanting

pytestmark = pytest.mark.django_db


def an_interval_later(alert: Alert) -> None:
    Alert.objects.filter(pk=alert.pk).update(told_at=alert.first_at - timedelta(days=2))


def reasons() -> list[str]:
    return list(AlertDelivery.objects.order_by("id").values_list("reason", flat=True))


def test_what_happens_again_counts_up_and_is_told_of_once() -> None:
    mine = rule()
    for _ in range(3):
        alert = notice(mine, finding())
        tell(mine)

    assert (alert.count, reasons()) == (3, ["RAISED"])
    assert AlertDelivery.objects.get().message["alerts"][0]["count"] == 1


def test_an_interval_later_it_is_told_of_again_with_its_count() -> None:
    mine = rule()
    alert = notice(mine, finding())
    tell(mine)
    notice(mine, finding())
    an_interval_later(alert)

    assert tell(mine) == 1
    assert tell(mine) == 0
    assert reasons() == ["RAISED", "AGAIN"]
    assert AlertDelivery.objects.latest("id").message["alerts"][0]["count"] == 2


def test_what_lasts_counts_once_an_interval() -> None:
    mine = rule()
    silent = finding("beat", kind=AlertKind.BEAT_SILENT)
    for _ in range(5):
        alert = notice(mine, silent)
        tell(mine)
    assert alert.count == 1
    an_interval_later(alert)

    assert notice(mine, silent).count == 2
    tell(mine)
    assert reasons() == ["RAISED", "AGAIN"]


def test_the_all_clear_is_sent_once() -> None:
    mine = rule()
    alert = notice(mine, finding())
    tell(mine)

    assert [close(mine, [alert.pk]) for _ in range(3)] == [1, 0, 0]
    assert reasons() == ["RAISED", "OVER"]
    alert.refresh_from_db()
    assert alert.state == AlertState.OVER


def test_what_nobody_was_told_of_is_over_in_silence() -> None:
    mine = rule()

    close(mine, [notice(mine, finding()).pk])

    assert reasons() == []


def test_a_flapping_subject_is_one_alert_and_its_next_message_waits() -> None:
    mine = rule()
    alert = notice(mine, finding())
    tell(mine)
    for _ in range(4):
        close(mine, [alert.pk])
        assert notice(mine, finding()).pk == alert.pk
        tell(mine)
    assert reasons() == ["RAISED", "OVER"]
    an_interval_later(alert)

    tell(mine)

    assert reasons() == ["RAISED", "OVER", "AGAIN"]


def test_many_at_once_share_a_message_that_lists_the_first() -> None:
    mine = rule()
    for number in range(LISTED + 5):
        notice(mine, finding(f"circuit:{number}"))

    assert tell(mine) == LISTED + 5
    message = AlertDelivery.objects.get().message
    assert len(message["alerts"]) == LISTED
    assert message["more"] == 5


def test_few_have_a_message_each() -> None:
    mine = rule()
    for number in range(EACH):
        notice(mine, finding(f"circuit:{number}"))
    tell(mine)

    assert AlertDelivery.objects.count() == EACH


def test_a_flood_waits_and_is_told_of_together() -> None:
    mine = rule()
    for number in range(MOST + 10):
        notice(mine, finding(f"circuit:{number}"))
        tell(mine)
    assert AlertDelivery.objects.count() == MOST
    AlertDelivery.objects.update(created_at=mine.created_at - timedelta(hours=1))

    assert tell(mine) == 10
    assert AlertDelivery.objects.count() == MOST + 1


def test_news_reach_the_rules_that_want_them() -> None:
    elsewhere = Workspace.objects.create(slug="elsewhere", name="e", tier=default_workspace().tier)
    other = publish({"tasks": [task("one")]})
    wanted = {
        rule(name="all").pk,
        rule("CIRCUIT_OPEN", name="circuits").pk,
        rule(name="installation", workspace=None).pk,
    }
    rule("GROUP_NEW", name="groups")
    rule(name="elsewhere", workspace=elsewhere)
    rule(name="off", enabled=False)
    rule(name="one workflow", about_id=other.pk)

    assert {found.pk for found in wanting(finding())} == wanted
    leave(finding())
    assert fold() == 3
    assert set(Alert.objects.values_list("rule_id", flat=True)) == wanted
    assert not AlertNews.objects.exists()


def test_news_of_what_was_rolled_back_are_none() -> None:
    rule()

    with transaction.atomic():
        leave(finding())
        transaction.set_rollback(True)

    assert fold() == 0


def test_a_workspaces_alerts_and_messages_are_its_own() -> None:
    mine = rule()
    notice(mine, finding())
    tell(mine)

    for model in (AlertRule, Alert, AlertDelivery):
        assert model.objects.get().workspace_id == mine.workspace_id
    assert AlertDelivery.objects.get().reason == DeliveryReason.RAISED
