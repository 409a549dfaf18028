"""Network partitions: a worker cannot reach the database or the broker, or gets no answers.

A partner records its callers and times. No holder calls after its lease has ended, and each step
succeeds once, elsewhere.
"""

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from celery import current_app
from django.db import transaction

from runners.models import Run
from runners.process.identity import started
from tests.support.auditor import audit
from tests.support.fleet import Fleet, database_url
from tests.support.heard_calls import HeardCalls
from tests.support.partner import Partner
from tests.support.relay import Relay, relay
from tests.support.row_steps import rows
from tests.support.waiting import wait_until
from tests.support.workflows import publish, start, task, wait_for_end
from valkyr_project.embedded import Redis

LONG = 60.0  # seconds that the first holder of a step would take
LEASE = 6.0  # of the fleet
PROCESSES, THREADS, ENDED = "cut-processes", "cut-threads", "cut-ended"
QUEUES = (PROCESSES, THREADS, ENDED)
# Where each step runs, and what its first holder does when it must end.
STEPS: dict[str, tuple[str, dict[str, Any]]] = {
    "a process, heeds": (PROCESSES, {"heeds": True}),
    "a process, is interrupted": (PROCESSES, {}),
    "a process, swallows the interruption": (PROCESSES, {"stubborn": True}),
    "a thread, heeds": (THREADS, {"heeds": True}),
    "a thread, goes on": (ENDED, {}),
    "a process of its own, is interrupted": (THREADS, {}),
    "a process of its own, swallows the interruption": (THREADS, {"stubborn": True}),
}
ROW = "a transaction of its record"
SLOW_ROWS = {"VALKYR_DATABASE_STEP_SECONDS": "30"}


@dataclass
class Split:
    """The faults of the workers, and the affected executions."""

    fleet: Fleet
    line: Relay
    calls: HeardCalls
    ids: dict[str, UUID]

    def run(self, step: str) -> Run:
        return Run.objects.get(execution_id=self.ids[step])


@contextmanager
def begun(fleet: Fleet, partner: Partner) -> Iterator[Split]:
    """Start workers behind a relay to the database, with all steps in progress."""
    with relay(database_url()) as line:
        there = {"DATABASE_URL": line.url, **SLOW_ROWS}
        fleet.worker(PROCESSES, PROCESSES, "prefork", 4, **there)
        fleet.worker(THREADS, THREADS, "threads", 8, VALKYR_ISOLATED_STEPS="2", **there)
        fleet.worker(ENDED, ENDED, "threads", 4, **there)
        fleet.ensure()
        ids = {}
        with transaction.atomic():
            for name, (queue, inputs) in STEPS.items():
                given = {"url": partner.url, "seconds": LONG, **inputs}
                used = task("work", "test.knocker", queue=queue, **{"with": given})
                ids[name] = start(publish({"tasks": [used]}))
                if "of its own" in name:
                    Run.objects.filter(execution_id=ids[name]).update(suspect=True)
        split = Split(fleet, line, HeardCalls(partner), ids)
        runs = [split.run(name).pk for name in STEPS]
        wait_until(lambda: all(map(split.calls.of, runs)), 40, "the first call of each step")
        used = task("work", "test.row", queue=PROCESSES, **{"with": {"seconds": LEASE + 1}})
        ids[ROW] = start(publish({"tasks": [used]}))
        wait_until(lambda: split.run(ROW).state == "RUNNING", 20, "the step with a transaction")
        yield split


@pytest.fixture(scope="module")
def split(whole_fleet: Fleet) -> Iterator[Split]:
    """Cut the workers off from the database, but not from the broker, for longer than a lease.

    Other workers of their queues execute the steps; then the network is repaired.
    """
    fleet = whole_fleet
    with _stopped(Partner()) as partner, begun(fleet, partner) as split:
        split.line.cut()
        fleet.worker("kept", ",".join(QUEUES), "prefork", 4, **SLOW_ROWS)
        ids = [*split.ids.values()]
        wait_until(lambda: split.calls.taken_over(ids), 60, "the end of the first leases")
        wait_for_end(ids, 90)
        split.line.mend()
        try:
            yield split
        finally:
            for name in (*QUEUES, "kept"):
                if name in fleet.members:
                    fleet.remove(name)


@contextmanager
def _stopped(partner: Partner) -> Iterator[Partner]:
    try:
        yield partner
    finally:
        partner.stop()


@pytest.mark.parametrize("step", STEPS)
def test_a_holder_that_is_cut_from_the_database_has_no_effect_after_its_lease(
    split: Split, step: str
) -> None:
    run = split.run(step)
    ends = split.calls.leases[str(run.pk)]
    first, others = split.calls.split(run.pk)
    assert ends - LEASE < max(first) < ends, "it goes on for most of its lease, not to its end"
    assert min(others) > max(first), "nobody else began before"
    assert {call.token for call in split.calls.of(run.pk)} == {1, run.lease_token}
    assert (run.state, run.outputs) == ("SUCCESS", run.lease_token)


@pytest.mark.parametrize("step", [*STEPS, ROW])
def test_a_step_that_was_stopped_since_its_lease_ended_is_not_blamed(
    split: Split, step: str
) -> None:
    run = split.run(step)
    assert (run.state, run.attempt, run.crashes, run.recoveries) == ("SUCCESS", 1, 0, 1)
    audit([split.ids[step]])


def test_the_rows_of_a_step_that_was_cut_off_are_written_once(split: Split) -> None:
    assert rows(split.ids[ROW]) == [("work.main", 1)]


def test_workers_that_were_cut_off_serve_again_by_themselves(split: Split) -> None:
    """Workers that were cut off serve again without help.

    A worker of threads whose step ignored the request has ended: its supervisor restarts it.
    """
    fleet = split.fleet
    if "kept" in fleet.members:
        fleet.remove("kept")
    assert fleet[PROCESSES].alive()
    assert fleet[THREADS].alive()
    assert not fleet[ENDED].alive()
    fleet[ENDED].start()
    given = {"url": split.calls.partner.url, "seconds": 0.1}
    ids = [
        start(publish({"tasks": [task("work", "test.knocker", queue=queue, **{"with": given})]}))
        for queue in QUEUES
    ]
    assert set(wait_for_end(ids, 60).values()) == {"SUCCESS"}
    assert {run.crashes for run in Run.objects.filter(execution_id__in=ids)} == {0}


@pytest.mark.parametrize("redis_cut", [True, False], ids=["broker", "slow"])
def test_a_step_goes_on_while_its_worker_has_a_lease(
    fleet: Fleet, redis: Redis, redis_cut: bool
) -> None:
    """A step continues while its worker has a lease: cut off only from the broker for longer than a
    lease, or for 200 ms from database and broker.
    """
    with relay(database_url()) as line, relay(redis.url) as broker:
        partner = Partner()
        there = {"DATABASE_URL": line.url, "REDIS_URL": broker.url, "CELERY_BROKER_URL": broker.url}
        fleet.worker("far", "far", "prefork", 2, **there)
        try:
            if not redis_cut:
                line.slow(0.2)
                broker.slow(0.2)
            fleet.ensure(120)
            given = {"url": partner.url, "seconds": 2.5 * LEASE}
            used = task("work", "test.knocker", queue="far", **{"with": given})
            execution = start(publish({"tasks": [used, task("after", "test.effect", "work")]}))
            run = Run.objects.get(execution_id=execution, step_path="work.main")
            calls = HeardCalls(partner)
            wait_until(lambda: calls.of(run.pk), 40, "the first call")
            if redis_cut:
                broker.cut()
            run_ends = time.monotonic() + 5 * LEASE
            wait_until(
                lambda: Run.objects.filter(pk=run.pk, state="SUCCESS").exists(),
                run_ends - time.monotonic(),
                "the success of the step",
            )
            broker.mend()
            assert wait_for_end([execution], 60)[execution] == "SUCCESS"
            run.refresh_from_db()
            assert (run.lease_token, run.recoveries, run.outputs) == (1, 0, 1)
            assert not calls.split(run.pk)[1]
            audit([execution])
        finally:
            fleet.remove("far")
            partner.stop()


@pytest.mark.parametrize("way", ["there", "back"])
def test_a_worker_that_is_cut_off_in_one_direction_has_no_effect_after_its_lease(
    fleet: Fleet, way: Any
) -> None:
    """A worker that is cut off in one direction has no effect after its lease.

    Its statements do not arrive, or it receives no answers: then a renewal may succeed unnoticed.
    """
    with relay(database_url()) as line:
        partner = Partner()
        fleet.worker("deaf", "deaf", "prefork", 1, DATABASE_URL=line.url)
        try:
            fleet.ensure()
            given = {"url": partner.url, "seconds": LONG}
            used = task("work", "test.knocker", queue="deaf", **{"with": given})
            execution = start(publish({"tasks": [used]}))
            run = Run.objects.get(execution_id=execution)
            calls = HeardCalls(partner)
            wait_until(lambda: calls.of(run.pk), 40, "the first call")
            line.cut(way)
            wait_until(lambda: calls.taken_over([execution]), 60, "the end of the first lease")
            line.mend()
            assert wait_for_end([execution], 90)[execution] == "SUCCESS"
            run.refresh_from_db()
            first, others = calls.split(run.pk)
            assert max(first) < min(calls.leases[str(run.pk)], *others)
            assert (run.crashes, run.outputs) == (0, run.lease_token)
            assert run.lease_token > 1
            audit([execution])
        finally:
            fleet.remove("deaf")
            partner.stop()


@pytest.mark.parametrize("stall", ["2", "0"], ids=["by the watchdog", "as it wakes"])
@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_frozen_process_has_no_effect_after_its_lease(
    fleet: Fleet, pool: str, stall: str
) -> None:
    """A frozen process has no effect after its lease.

    With a watchdog it ends while it is frozen; without one, when it resumes. Then a step in a
    thread has at most one effect if the effect takes longer than ending the process.
    """
    partner = Partner()
    fleet.worker("frozen", "frozen", pool, 1, VALKYR_STALL_SECONDS=stall)
    try:
        fleet.ensure()
        given = {"url": partner.url, "seconds": LONG}
        used = task("work", "test.knocker", queue="frozen", **{"with": given})
        execution = start(publish({"tasks": [used]}))
        run = Run.objects.get(execution_id=execution)
        calls = HeardCalls(partner)
        wait_until(lambda: calls.of(run.pk), 40, "the first call")
        pid = calls.of(run.pk)[0].pid
        os.kill(pid, signal.SIGSTOP)
        fleet.worker("spare", "frozen", "prefork", 1)
        assert wait_for_end([execution], 60)[execution] == "SUCCESS"
        before = len(calls.split(run.pk)[0])
        partner.answers_slowly.set()
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
        wait_until(lambda: not started(pid), 20, "the end of the process that was frozen")
        late = len(calls.split(run.pk)[0]) - before
        assert late <= (1 if (pool, stall) == ("threads", "0") else 0)
        run.refresh_from_db()
        assert (run.crashes, run.recoveries, run.outputs) == (0, 1, run.lease_token)
        audit([execution])
    finally:
        for name in ("frozen", "spare"):
            if name in fleet.members:
                fleet.remove(name)
        partner.stop()


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_a_worker_that_is_cut_from_the_database_takes_no_messages(fleet: Fleet, pool: str) -> None:
    """A worker that is cut off from the database takes no messages, which would wait for the
    network; it takes messages again when the database answers.
    """
    with relay(database_url()) as line:
        cut = fleet.worker("dry", "dry", pool, 1, DATABASE_URL=line.url)
        try:
            fleet.ensure()
            assert "dry" in _consumed("dry")
            line.cut()
            wait_until(lambda: "dry" not in _consumed("dry"), 30, "the end of its consuming")
            used = task("work", "test.effect", queue="dry")
            execution = start(publish({"tasks": [used]}))
            line.mend()
            assert wait_for_end([execution], 30)[execution] == "SUCCESS"
            assert "dry" in _consumed("dry")
            assert "this worker takes messages again" in cut.log.read_text()
            run = Run.objects.get(execution_id=execution)
            assert (run.publications, run.lease_token) == (1, 1)
        finally:
            fleet.remove("dry")


def _consumed(worker: str) -> set[str]:
    """Return the queues that the worker consumes now."""
    name = f"{worker}@{socket.gethostname()}"
    said = current_app.control.inspect([name], timeout=5).active_queues() or {}
    return {queue["name"] for queue in said[name]}
