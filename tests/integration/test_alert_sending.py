"""Messages are really sent, to HTTP and SMTP servers that answer correctly or incorrectly."""

import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes
from email.policy import default
from typing import Any

import pytest
from django.db import connection

from executions.database.advisory_locks import AdvisoryLock
from executions.database.clock import database_now
from executions.errors import WrongState
from executions.models import Activity
from executions.triggers import signature
from tests.support.alerts import ACTOR, SECRET, PostOffice, Receiver, finding, rule
from tests.support.alerts import post_office as serving_mail
from tests.support.alerts import receiver as serving
from tests.support.waiting import wait_until
from valkyr_plugins.alerts import conf
from valkyr_plugins.alerts.lifecycle import notice, tell
from valkyr_plugins.alerts.models import AlertDelivery, AlertRule, DeliveryState
from valkyr_plugins.alerts.sending import (
    LEASE,
    conclude,
    resend,
    send_due,
    send_now,
    send_test,
    take,
)

pytestmark = pytest.mark.django_db
HOSTILE = "boom\r\nBcc: eve@example.com <script>alert(1)</script> <!channel>"


@pytest.fixture(autouse=True)
def _reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with serving() as server:
        yield server


@pytest.fixture
def post_office(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostOffice]:
    with serving_mail() as (office, url):
        monkeypatch.setenv("VALKYR_EMAIL_URL", url)
        yield office


def queued(mine: AlertRule, **facts: Any) -> AlertDelivery:
    notice(mine, finding(**facts))
    tell(mine)
    return AlertDelivery.objects.get()


def due_now(delivery: AlertDelivery) -> None:
    AlertDelivery.objects.filter(pk=delivery.pk).update(
        next_at=database_now() - timedelta(seconds=1)
    )


def test_a_webhook_is_signed_as_ours_are_and_says_what_it_is_about(receiver: Receiver) -> None:
    delivery = queued(rule(url=receiver.url))

    assert send_due() == 1

    (request,), (said,) = receiver.received, receiver.said
    proof = signature.read(request["headers"]["x-valkyr-signature"])
    assert proof is not None
    assert signature.is_signed(proof, request["body"], [SECRET])
    assert request["headers"]["idempotency-key"] == str(delivery.pk) == said["id"]
    assert said["reason"] == "RAISED"
    assert said["alerts"][0]["link"].startswith("http")
    delivery.refresh_from_db()
    assert (delivery.state, delivery.answer, delivery.attempts) == (DeliveryState.SENT, 200, 1)
    assert delivery.sent_at is not None


def test_a_message_goes_only_where_the_egress_rules_allow(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_EGRESS_ALLOW", "hooks.example.com")
    delivery = queued(rule(url=receiver.url))

    send_due()

    delivery.refresh_from_db()
    assert "VALKYR_EGRESS_ALLOW allows hooks.example.com" in delivery.log[0]["error"]
    assert receiver.received == []


def test_who_fails_twice_gets_it_the_third_time_with_the_same_key(receiver: Receiver) -> None:
    delivery = queued(rule(url=receiver.url))
    receiver.answers = [500, 429]

    for _ in range(2):
        assert send_due() == 1
        assert send_due() == 0  # not before its time
        due_now(delivery)
    send_due()

    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (DeliveryState.SENT, 3)
    assert [one["answer"] for one in delivery.log] == [500, 429, 200]
    keys = {request["headers"]["idempotency-key"] for request in receiver.received}
    assert keys == {str(delivery.pk)}
    assert len({request["body"] for request in receiver.received}) == 1


def test_after_a_day_a_message_is_given_up_and_can_be_sent_again(receiver: Receiver) -> None:
    delivery = queued(rule(url=receiver.url))
    receiver.answers = [503]
    AlertDelivery.objects.update(queued_at=database_now() - timedelta(days=1))
    send_due()
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.GIVEN_UP
    assert "503" in delivery.error

    resend(delivery.pk, actor=ACTOR)
    send_due()

    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.SENT
    assert Activity.objects.filter(action="alert_delivery.resend").count() == 1


def test_what_is_queued_cannot_be_queued_again() -> None:
    delivery = queued(rule())

    with pytest.raises(WrongState, match="already queued"):
        resend(delivery.pk, actor=ACTOR)


def test_a_receiver_that_hangs_is_left_and_the_others_get_theirs(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_ALERT_SEND_SECONDS", "2")
    conf.config.cache_clear()
    with serving() as hanging:
        hanging.answers = ["hang"]
        slow = queued(rule(name="slow", url=hanging.url))
        good = rule(name="good", url=receiver.url)
        notice(good, finding())
        tell(good)

        assert send_due() == 2

    conf.config.cache_clear()
    slow.refresh_from_db()
    assert slow.state == DeliveryState.QUEUED
    assert "ReadTimeout" in slow.error
    assert AlertDelivery.objects.get(rule=good).state == DeliveryState.SENT


@pytest.mark.django_db(transaction=True)
def test_a_mail_server_that_drags_on_holds_nobody_up(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_ALERT_SEND_SECONDS", "0.5")
    conf.config.cache_clear()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("VALKYR_EMAIL_URL", f"smtp://127.0.0.1:{silent.getsockname()[1]}")
        slow = queued(rule(name="slow", channel="EMAIL", secret="", recipients=["a@example.com"]))
        assert send_due() == 1
        slow.refresh_from_db()
        assert (slow.state, slow.attempts) == (DeliveryState.QUEUED, 0)

        monkeypatch.delenv("VALKYR_ALERT_SEND_SECONDS")  # the webhook's own time-out too
        conf.config.cache_clear()
        good = rule(name="good", url=receiver.url)
        notice(good, finding())
        tell(good)
        assert send_due() == 1
        assert AlertDelivery.objects.get(rule=good).state == DeliveryState.SENT
        silent.accept()[0].close()

    def recorded() -> bool:
        slow.refresh_from_db()
        return slow.attempts == 1 and bool(slow.error)

    wait_until(recorded, 30, "what came of the mail")
    conf.config.cache_clear()


def test_a_private_address_is_refused(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "")
    delivery = queued(rule(url=receiver.url))

    send_due()

    delivery.refresh_from_db()
    assert receiver.received == []
    assert "a private or special address" in delivery.error


def test_a_redirect_is_no_delivery(receiver: Receiver) -> None:
    delivery = queued(rule(url=receiver.url))
    receiver.answers = [302]

    send_due()

    delivery.refresh_from_db()
    assert (delivery.answer, delivery.state) == (302, DeliveryState.QUEUED)


def test_a_mail_arrives_and_hostile_text_stays_text(post_office: PostOffice) -> None:
    mine = rule(channel="EMAIL", secret="", recipients=["ann@example.com", "bob@example.com"])
    delivery = queued(mine, sentence=HOSTILE)

    send_due()

    (envelope,) = post_office.envelopes
    message = message_from_bytes(envelope.content, policy=default)
    assert envelope.rcpt_tos == ["ann@example.com", "bob@example.com"]
    assert "Bcc" not in message
    assert message["Subject"].strip().startswith("[default] boom Bcc: eve@example.com")
    assert str(delivery.pk) in message["Message-ID"]
    assert message.get_content_type() == "text/plain"
    assert "http://" in message.get_content()


def test_a_mail_server_of_the_rules_own_is_guarded(
    post_office: PostOffice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "")
    mine = rule(
        channel="EMAIL",
        secret="smtp://me:hunter2-canary@127.0.0.1:2525",
        recipients=["a@b.example"],
    )
    delivery = queued(mine)

    send_due()

    delivery.refresh_from_db()
    assert "private or special address" in delivery.error
    assert "hunter2" not in delivery.error


def test_slack_gets_text_in_which_nobody_is_mentioned(receiver: Receiver) -> None:
    mine = rule(channel="SLACK", secret=f"{receiver.url}/T0/B0/canary")
    delivery = queued(mine, sentence=HOSTILE)

    send_due()

    (said,) = receiver.said
    assert receiver.received[0]["path"] == "/hook/T0/B0/canary"
    assert "<!channel>" not in said["text"]
    assert "&lt;!channel&gt;" in said["text"]
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.SENT


def test_no_secret_comes_back_in_what_is_kept_or_logged(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    secret = f"{receiver.url}/T0/B0/canary-7f3a9"
    receiver.text = f"no such hook: {secret}"
    receiver.answers = [404]
    delivery = queued(rule(channel="SLACK", secret=secret))

    send_due()

    delivery.refresh_from_db()
    assert delivery.answer == 404
    assert "canary" not in delivery.error
    assert "canary" not in str(AlertDelivery.objects.values())
    assert "canary" not in caplog.text
    assert b"canary" not in bytes(AlertRule.objects.get().sealed)
    assert "canary" not in str(list(Activity.objects.values()))


def test_whoever_dies_in_between_leaves_it_to_the_next(receiver: Receiver) -> None:
    delivery = queued(rule(url=receiver.url))
    (dead,) = take(8)
    assert take(8) == []
    due_now(delivery)  # the lease is over

    assert send_due() == 1

    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.SENT
    outcome = send_now(dead)
    assert outcome.error == ""
    delivery.refresh_from_db()
    assert delivery.attempts == 1, "the dead sender's word must not count"


def test_only_the_newest_takers_word_counts() -> None:
    delivery = queued(rule())
    (first,) = take(8)
    due_now(delivery)
    (second,) = take(8)
    failure = send_now(first)

    assert failure.error
    delivery.refresh_from_db()
    assert delivery.attempts == 0
    assert conclude(second, failure)


def test_a_test_says_what_became_of_it_and_is_tried_once(receiver: Receiver) -> None:
    mine = rule(url=receiver.url)
    receiver.answers = [200, 500]

    good, bad = send_test(mine, actor=ACTOR), send_test(mine, actor=ACTOR)

    assert (good.state, good.answer) == (DeliveryState.SENT, 200)
    assert (bad.state, bad.answer) == (DeliveryState.GIVEN_UP, 500)
    assert [said["reason"] for said in receiver.said] == ["TEST", "TEST"]
    assert Activity.objects.filter(action="alert_rule.test").count() == 2
    assert LEASE.total_seconds() > 60


@pytest.mark.django_db(transaction=True)
def test_two_senders_never_send_one_message_twice(receiver: Receiver) -> None:
    mine = rule(url=receiver.url)
    for number in range(12):
        notice(mine, finding(f"circuit:{number}"))
        tell(mine)

    def send() -> None:
        try:
            while taken := take(2):
                for delivery in taken:
                    send_now(delivery)
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    keys = [request["headers"]["idempotency-key"] for request in receiver.received]
    assert len(keys) == len(set(keys)) == 12


@pytest.mark.django_db(transaction=True)
def test_one_process_sends_at_a_time(receiver: Receiver) -> None:
    queued(rule(url=receiver.url))
    done: list[int] = []

    def elsewhere() -> None:
        try:
            done.append(send_due())
        finally:
            connection.close()

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [AdvisoryLock.ALERT_SENDING])
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join(30)
        cursor.execute("SELECT pg_advisory_unlock(%s)", [AdvisoryLock.ALERT_SENDING])

    assert done == [0]
    assert send_due() == 1
