"""A process that stopped its step in time may end before the run that it held is released."""

import os
import signal

import pytest
from django.db import transaction

from runners.models import Run
from runners.process.identity import ended_itself, started
from runners.recovery.sweeper.leases import expired_leases
from tests.support.auditor import audit
from tests.support.fleet import Fleet, database_url
from tests.support.heard_calls import HeardCalls
from tests.support.outages import kill
from tests.support.partner import Partner
from tests.support.relay import relay
from tests.support.waiting import wait_until
from tests.support.workflows import publish, start, task, wait_for_end

QUEUE = "quiet"


@pytest.mark.parametrize(
    ("pool", "heeds"),
    [("threads", True), ("threads", False), ("prefork", True)],
    ids=["isolated, heeds", "isolated, is interrupted", "prefork, is killed while idle"],
)
def test_a_step_is_not_blamed_for_a_process_that_ended_after_it(
    fleet: Fleet, pool: str, heeds: bool
) -> None:
    """A step is not blamed for a process that ended after it.

    The sweep comes late: beat is frozen until the process has ended and the lease is over.
    """
    partner, beat = Partner(), fleet["beat"].pid
    calls = HeardCalls(partner)
    with relay(database_url()) as line:
        cut = {"VALKYR_ISOLATED_STEPS": "1", "DATABASE_URL": line.url}
        fleet.worker(QUEUE, QUEUE, pool, 1, **cut)
        try:
            fleet.ensure()
            given = {"url": partner.url, "seconds": 60.0, "heeds": heeds}
            used = task("work", "test.knocker", queue=QUEUE, **{"with": given})
            with transaction.atomic():
                execution = start(publish({"tasks": [used]}))
                suspect = pool == "threads"
                Run.objects.filter(execution_id=execution).update(suspect=suspect)
            run = Run.objects.get(execution_id=execution)
            wait_until(lambda: calls.of(run.pk), 40, "the first call")
            run.refresh_from_db()
            pid = calls.of(run.pk)[0].pid
            os.kill(beat, signal.SIGSTOP)
            line.cut()
            if pool == "prefork":
                stopped = f"stopped: run {run.pk}"
                wait_until(lambda: stopped in fleet[QUEUE].log.read_text(), 40, "the step's end")
                wait_until(lambda: ended_itself(run.leased_by), 10, "the process's note")
                kill(pid)
            wait_until(lambda: not started(pid), 40, "the end of the process")
            wait_until(expired_leases, 40, "the end of the lease")
            run.refresh_from_db()
            assert (run.state, run.crashes, run.recoveries) == ("PENDING", 0, 1)
            line.mend()
            os.kill(beat, signal.SIGCONT)
            assert wait_for_end([execution], 60)[execution] == "SUCCESS"
            audit([execution])
        finally:
            os.kill(beat, signal.SIGCONT)
            fleet.remove(QUEUE)
            partner.stop()
