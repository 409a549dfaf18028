"""Send queued messages: take a few, send them concurrently, and record each result.

A process takes a message for 180 s, which is longer than any attempt. After a crash, the next
process sends the message with the same idempotency key. Only the result of the process that last
took the message is recorded.

One process at a time sends due messages. It waits for a batch at most 1 s longer than the HTTP
timeout. A message to a slow mail server occupies only its own thread; its result is recorded later.
"""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import timedelta
from functools import partial
from threading import get_ident
from typing import Any
from uuid import UUID

from django.db.models import F

from executions.public.access import Actor, record
from executions.public.addresses import page, public_page
from executions.public.database import AdvisoryLock, alone, connection, database_now, transaction
from executions.public.egress import EgressRules, rules_of
from executions.public.errors import NotFound, WrongState
from executions.public.sealing import SealingError
from runners.public.modules import ruled_by
from valkyr_plugins.alerts.channels import Outcome, attempt
from valkyr_plugins.alerts.conf import config
from valkyr_plugins.alerts.decisions import next_attempt
from valkyr_plugins.alerts.lifecycle import DELIVERIES
from valkyr_plugins.alerts.models import AlertDelivery, AlertRule, DeliveryReason, DeliveryState
from valkyr_plugins.alerts.rules import credential_of

AT_ONCE = 8
# Longer than any attempt: a mail server that delays each response can take 150 s.
LEASE = timedelta(seconds=180)
# Maximum number of a process's slow messages. The process takes no message beyond this number.
MOST_DRAGGING = 16
# Seconds that a batch may take in addition to one HTTP attempt.
MARGIN = 1.0
# Seconds after which a pass begins no more messages.
SECONDS = 20.0
MOST_LOGGED = 20

_dragging: set[Future[Outcome]] = set()


def send_due() -> int:
    """Send due messages, unless another process is sending; return the number of attempts."""
    until, count = time.monotonic() + SECONDS, 0
    with alone(AdvisoryLock.ALERT_SENDING) as mine:
        while mine and (taken := take(min(AT_ONCE, MOST_DRAGGING - len(_dragging)))):
            _send(taken)
            count += len(taken)
            if time.monotonic() > until:
                break
    return count


def take(most: int) -> list[AlertDelivery]:
    """Take at most `most` due messages for the duration of a lease; return them."""
    with transaction.atomic():
        now = database_now()
        rows = AlertDelivery.objects.select_for_update(skip_locked=True, of=("self",))
        due = list(
            rows.select_related("rule")
            .filter(state=DeliveryState.QUEUED, next_at__lte=now)
            .order_by("next_at")[:most]
        )
        AlertDelivery.objects.filter(pk__in=[row.pk for row in due]).update(
            next_at=now + LEASE, token=F("token") + 1
        )
    for row in due:
        row.token += 1
    return due


def send_now(delivery: AlertDelivery) -> Outcome:
    """Send one message that the caller has taken; record and return the result."""
    outcome = _attempt(delivery)
    conclude(delivery, outcome)
    return outcome


def conclude(delivery: AlertDelivery, outcome: Outcome) -> bool:
    """Record an attempt; return False if another process has taken the message meanwhile."""
    now = database_now()
    attempts = delivery.attempts + 1
    said = {
        "at": now.isoformat(),
        "error": outcome.error,
        "answer": outcome.answer,
        "ms": outcome.milliseconds,
    }
    changes: dict[str, Any] = {
        "attempts": attempts,
        "answer": outcome.answer,
        "error": outcome.error[:2_000],
        "log": [*delivery.log, said][-MOST_LOGGED:],
    }
    if not outcome.error:
        changes |= {"state": DeliveryState.SENT, "sent_at": now, "next_at": None}
    else:
        changes |= _later(delivery, attempts, outcome, now)
    mine = AlertDelivery.objects.filter(
        pk=delivery.pk, token=delivery.token, state=DeliveryState.QUEUED
    )
    DELIVERIES.labels(delivery.channel, "failed" if outcome.error else "sent").inc()
    return mine.update(**changes) == 1


def resend(delivery_id: UUID, *, actor: Actor, reason: str = "") -> AlertDelivery:
    """Queue a sent or abandoned message again. Raises NotFound or WrongState."""
    with transaction.atomic():
        rows = AlertDelivery.objects.select_for_update(no_key=True, of=("self",))
        delivery = rows.select_related("rule").filter(pk=delivery_id).first()
        if delivery is None:
            raise NotFound(f"There is no alert delivery {delivery_id}.")
        if delivery.state == DeliveryState.QUEUED:
            raise WrongState(
                f"Alert delivery {delivery.pk} is already queued. Valkyr sends it automatically.",
                delivery.state,
            )
        before = {"state": delivery.state, "attempts": delivery.attempts}
        delivery.state, delivery.attempts = DeliveryState.QUEUED, 0
        delivery.queued_at = delivery.next_at = database_now()
        delivery.channel = delivery.rule.channel
        delivery.save(update_fields=["state", "attempts", "queued_at", "next_at", "channel"])
        record(
            actor,
            "alert_delivery.resend",
            workspace_id=delivery.workspace_id,
            object_type="AlertDelivery",
            object_id=delivery.pk,
            reason=reason,
            before=before,
            after={"state": delivery.state, "attempts": 0},
        )
    return delivery


def _send(taken: Sequence[AlertDelivery]) -> None:
    """Send the taken messages concurrently, each in a thread.

    The result of a message that takes too long is recorded when its thread ends.
    """
    threads = ThreadPoolExecutor(len(taken), thread_name_prefix="alert")
    under_way: dict[Future[Outcome], AlertDelivery] = {}
    for row in taken:
        credential = _credential(row.rule)
        if isinstance(credential, Outcome):
            conclude(row, credential)
            continue
        rules = rules_of(row.rule.workspace_id)
        started = threads.submit(_ruled, row, credential, rules)
        under_way[started] = row
    threads.shutdown(wait=False)
    done, late = wait(under_way, timeout=config().send + MARGIN)
    for one in done:
        conclude(under_way[one], one.result())
    for one in late:
        _dragging.add(one)
        one.add_done_callback(partial(_conclude_late, under_way[one], get_ident()))


def _conclude_late(row: AlertDelivery, waiter: int, done: Future[Outcome]) -> None:
    """Record a late attempt's result, in the attempt's thread or in the one that waited for it."""
    _dragging.discard(done)
    try:
        conclude(row, done.result())
    finally:
        if get_ident() != waiter:
            connection.close()


def _attempt(delivery: AlertDelivery) -> Outcome:
    credential = _credential(delivery.rule)
    if isinstance(credential, Outcome):
        return credential
    return _ruled(delivery, credential, rules_of(delivery.rule.workspace_id))


def _ruled(
    delivery: AlertDelivery, credential: dict[str, str] | None, rules: EgressRules | None
) -> Outcome:
    """Send the message once, under the workspace's egress rules; return the result.

    Uses no query.
    """
    with ruled_by(lambda: rules):
        return attempt(delivery.rule, credential, delivery.message, delivery.pk)


def _credential(rule: AlertRule) -> dict[str, str] | Outcome | None:
    try:
        return credential_of(rule)
    except SealingError as error:
        return Outcome(f"The rule's secret cannot be opened: {error}", None, 0)


def _later(delivery: AlertDelivery, attempts: int, outcome: Outcome, now: Any) -> dict[str, Any]:
    """Return the changes after a failed attempt: the next attempt's time, or the state GIVEN_UP.

    Tests are sent only once.
    """
    at = None
    if delivery.reason != DeliveryReason.TEST:
        at = next_attempt(
            attempts,
            queued_at=delivery.queued_at,
            now=now,
            first=config().retry,
            give_up=config().give_up,
            asked=outcome.retry_after,
        )
    return {"next_at": at, "state": DeliveryState.GIVEN_UP if at is None else DeliveryState.QUEUED}


# Test a rule: send one message at once, and show the user whether it arrived.


def send_test(rule: AlertRule, *, actor: Actor) -> AlertDelivery:
    """Send a test message once; return its delivery with the result."""
    message: dict[str, Any] = {
        "reason": str(DeliveryReason.TEST),
        "rule": {"id": str(rule.pk), "name": rule.name},
        "workspace": None if rule.workspace is None else rule.workspace.slug,
        "link": public_page(page("valkyr_alerts_alertrule", rule.pk)),
        "alerts": [],
        "more": 0,
    }
    # Created with a lease, so that no other process sends it.
    delivery = AlertDelivery.objects.create(
        workspace_id=rule.workspace_id,
        rule=rule,
        reason=DeliveryReason.TEST,
        channel=rule.channel,
        message=message,
        token=1,
        next_at=database_now() + LEASE,
    )
    send_now(delivery)
    delivery.refresh_from_db()
    record(
        actor,
        "alert_rule.test",
        workspace_id=rule.workspace_id,
        object_type="AlertRule",
        object_id=rule.pk,
        details={"deliveryId": str(delivery.pk), "state": delivery.state},
    )
    return delivery
