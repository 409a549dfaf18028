"""Beat and a worker really end: the on-call user gets a message, and another one after the
recovery.
"""

from collections.abc import Iterator

import pytest

from executions.database.clock import database_now
from tests.support.alerts import Receiver, rule
from tests.support.alerts import receiver as serving
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until, wait_until_gone
from tests.support.workflows import effect, publish, start, wait_for_end
from valkyr_plugins.alerts.models import Alert, AlertRule, AlertState


@pytest.fixture
def on_call(fleet: Fleet) -> Iterator[Receiver]:
    """Create an alert rule for beat and for queues without a worker, with short delays."""
    with serving() as server:
        made = rule("BEAT_SILENT", "NO_WORKER", url=server.url)
        AlertRule.objects.filter(pk=made.pk).update(silent_seconds=8, waiting_seconds=1)
        yield server
        AlertRule.objects.filter(pk=made.pk).delete()


def told(server: Receiver, kind: str, reason: str) -> bool:
    said = [body for body in server.said if body["reason"] == reason]
    return any(alert["kind"] == kind for body in said for alert in body["alerts"])


def test_a_beat_that_ends_is_told_of_by_a_worker_and_so_is_its_return(
    fleet: Fleet, on_call: Receiver
) -> None:
    fleet["beat"].kill()

    wait_until(lambda: told(on_call, "BEAT_SILENT", "RAISED"), 60, "word of the silent beat")
    assert not fleet["beat"].alive()
    alert = Alert.objects.get(kind="BEAT_SILENT")
    assert alert.state == AlertState.OPEN
    fleet.ensure()

    wait_until(lambda: told(on_call, "BEAT_SILENT", "OVER"), 60, "the all-clear")
    alert.refresh_from_db()
    assert alert.state == AlertState.OVER
    assert alert.first_at < database_now()


def test_work_without_a_worker_is_told_of_and_so_is_the_workers_return(
    fleet: Fleet, on_call: Receiver
) -> None:
    workers = [fleet["default-1"], fleet["default-2"]]
    for worker in workers:
        worker.ask_to_stop()
    wait_until_gone([worker.pid for worker in workers], 30)
    pk = start(publish({"tasks": [effect("one")]}))

    wait_until(lambda: told(on_call, "NO_WORKER", "RAISED"), 60, "word of the queue")
    fleet.ensure()

    wait_until(lambda: told(on_call, "NO_WORKER", "OVER"), 60, "the all-clear")
    assert wait_for_end([pk]) == {pk: "SUCCESS"}
