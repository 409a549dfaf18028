"""Waits on real workers occupy no worker, survive the loss of all workers, and end in time."""

import signal
import subprocess
import sys
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model

from executions import lifecycle
from executions.access.actor import Actor
from executions.database.clock import database_now
from executions.models import Event, Membership, WorkflowExecution
from executions.triggers.event import publish_event
from runners.models import Run, Waiter
from runners.waits import approvals, callbacks
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.stack import PROJECT
from tests.support.waiting import wait_until
from tests.support.workflows import (
    ACTOR,
    default_workspace,
    describe,
    publish,
    start,
    start_many,
    states,
    task,
    wait_for_end,
)

EVENT = "order.paid"
EVERY_WAIT = {
    "tasks": [
        task("nap", "flow.delay", **{"with": {"seconds": "{{ input.seconds }}"}}),
        task("go", "flow.approval", **{"with": {"title": "Go, {{ input.name }}?"}}),
        task(
            "paid",
            "flow.wait_for_event",
            **{"with": {"event": EVENT, "filter": "{{ event.name == input.name }}"}},
        ),
        task("tell", "data.set", **{"with": {"values": {"url": "{{ tasks.call.callbackUrl }}"}}}),
        task("call", "flow.callback", "tell"),
        task("late", "flow.callback", **{"with": {"timeoutSeconds": 0.5}}),
        task(
            "all",
            "data.set",
            ["nap", "go:approved", "paid:success", "call:success", "late:timeout"],
            join="all",
            **{
                "with": {
                    "values": {
                        "napped": "{{ tasks.nap.output.waitedSeconds >= input.seconds }}",
                        "by": "{{ tasks.go.output.by }}",
                        "event": "{{ tasks.paid.output.event.name }}",
                        "call": "{{ tasks.call.output.payload }}",
                    }
                }
            },
        ),
    ],
    "output": "{{ tasks.all.output }}",
}


def waiting(execution: UUID) -> set[str]:
    runs = Run.objects.filter(execution_id=execution, state="WAITING")
    return {path.removesuffix(".main") for path in runs.values_list("step_path", flat=True)}


def run_of(execution: UUID, name: str) -> Run:
    return Run.objects.get(execution_id=execution, step_path=f"{name}.main")


def answer(execution: UUID, name: str, user: Any) -> None:
    """Send all outside events for which the execution waits."""
    approvals.decide(run_of(execution, "go").pk, "approved", "", user=user, actor=Actor.of(user))
    token = run_of(execution, "tell").outputs["url"].rpartition("/")[2]
    callbacks.receive(token, name, actor=Actor.system("test"))
    publish_event(default_workspace(), EVENT, {"name": name}, actor=ACTOR)


def expected(name: str) -> dict[str, Any]:
    return {"napped": True, "by": "wanda", "event": name, "call": name}


def wanda() -> Any:
    user, _ = get_user_model().objects.get_or_create(username="wanda")
    Membership.objects.get_or_create(
        user=user, workspace=default_workspace(), defaults={"role": "WORKFLOW"}
    )
    return user


def test_what_waits_outlives_every_worker(fleet: Fleet) -> None:
    workflow = publish(EVERY_WAIT)
    names = [f"order-{n}" for n in range(5)]
    ids = start_many(workflow, [{"name": name, "seconds": 3} for name in names])
    asleep = {"nap", "go", "paid", "call"}
    wait_until(
        lambda: all(waiting(pk) - {"nap"} == asleep - {"nap"} for pk in ids), 30, "all asleep"
    )
    for member in fleet.members.values():
        member.kill()
    user = wanda()
    for pk, name in zip(ids[:3], names, strict=False):
        answer(pk, name, user)
    fleet.ensure()
    for pk, name in zip(ids[3:], names[3:], strict=True):
        answer(pk, name, user)
    wait_for_end(ids, 40)
    for pk, name in zip(ids, names, strict=True):
        done = WorkflowExecution.objects.get(pk=pk)
        assert (done.state, done.output) == ("SUCCESS", expected(name)), describe([pk])
    assert not Waiter.objects.filter(execution_id__in=ids).exists()
    assert not Event.objects.filter(name=EVENT, delivered_at=None).exists()
    audit(ids)


def test_a_delay_ends_soon_after_it_is_due(fleet: Fleet) -> None:
    document = {
        "tasks": [task("nap", "flow.delay", **{"with": {"seconds": 1}}), task("after", after="nap")]
    }
    ids = start_many(publish(document), [{}] * 20)
    wait_for_end(ids, 30)
    naps = Run.objects.filter(execution_id__in=ids, step_path="nap.main")
    # The target is two seconds; a busy machine may need more.
    waited = [run.outputs["waitedSeconds"] for run in naps]
    assert all(1 <= seconds < 4 for seconds in waited), waited
    late = [(run.finished_at - run.started_at).total_seconds() for run in naps]
    assert max(late) < 5, late


def test_a_cancel_and_a_time_out_end_what_waits(fleet: Fleet) -> None:
    given = {"name": "never", "seconds": 600}
    cancelled = start(publish(EVERY_WAIT), given)
    timed_out = start(publish(EVERY_WAIT | {"settings": {"timeoutSeconds": 4}}), given)
    wait_until(lambda: waiting(cancelled) == {"nap", "go", "paid", "call"}, 20, "all asleep")
    lifecycle.cancel(cancelled, actor=ACTOR)
    assert wait_for_end([cancelled, timed_out], 30) == {
        cancelled: "CANCELLED",
        timed_out: "TIMEOUT",
    }
    ids = [cancelled, timed_out]
    assert not Waiter.objects.filter(execution_id__in=ids).exists()
    assert waiting(cancelled) == waiting(timed_out) == set()


def test_a_delay_that_comes_due_during_a_pause_goes_on_with_the_resume(fleet: Fleet) -> None:
    document = {"tasks": [task("nap", "flow.delay", **{"with": {"seconds": 600}})]}
    execution = start(publish(document))
    wait_until(lambda: waiting(execution) == {"nap"}, 20, "asleep")
    lifecycle.pause(execution, actor=ACTOR)
    Run.objects.filter(execution_id=execution).update(due_at=database_now())
    wait_until(lambda: waiting(execution) == set(), 20, "woken")
    assert states([execution])[execution] == "PAUSED"
    assert run_of(execution, "nap").state == "PENDING"
    lifecycle.resume(execution, actor=ACTOR)
    assert wait_for_end([execution], 20)[execution] == "SUCCESS"


def test_an_event_reaches_a_step_in_a_moment(fleet: Fleet) -> None:
    listen = task("paid", "flow.wait_for_event", **{"with": {"event": "parcel.sent"}})
    ids = start_many(publish({"tasks": [listen]}), [{}] * 20)
    wait_until(lambda: all(waiting(pk) == {"paid"} for pk in ids), 20, "all asleep")
    event = publish_event(default_workspace(), "parcel.sent", {}, actor=ACTOR).event
    wait_for_end(ids, 20)
    event.refresh_from_db()
    ended = WorkflowExecution.objects.filter(pk__in=ids).values_list("finished_at", flat=True)
    took = max((at - event.created_at).total_seconds() for at in ended)
    assert took < 4, took


def test_an_event_with_costly_filters_is_delivered_message_by_message_and_none_is_lost(
    fleet: Fleet,
) -> None:
    # Each takes about half of its budget, all together more than twice what a message has.
    costly = "{{ [input.n] * 50000 == [input.n] * 50000 and input.n % 2 == event.odd }}"
    asleep = {"with": {"event": "stock.counted", "filter": costly}}
    listen = task("counted", "flow.wait_for_event", **asleep)
    ids = start_many(publish({"tasks": [listen]}), [{"n": n} for n in range(120)])
    wait_until(lambda: all(waiting(pk) == {"counted"} for pk in ids), 60, "all asleep")

    event = publish_event(default_workspace(), "stock.counted", {"odd": 1}, actor=ACTOR).event

    wait_until(
        lambda: Event.objects.filter(pk=event.pk, delivered_at__isnull=False).exists(),
        30,
        "all decided",
    )
    odd = [pk for n, pk in enumerate(ids) if n % 2]
    assert set(wait_for_end(odd, 30).values()) == {"SUCCESS"}
    even = [pk for pk in ids if pk not in odd]
    assert all(waiting(pk) == {"counted"} for pk in even)
    event.refresh_from_db()
    assert event.delivered_to is not None, "it was kept how far a message came"
    for pk in even:
        lifecycle.cancel(pk, actor=ACTOR)
    audit(ids)


# It puts its run to sleep, reports it and waits for a line before it commits; the first thing that
# it would do after the commit ends it.
DIES_ASLEEP = """
import os, signal, sys, uuid, django
django.setup()
from django.db import transaction
from tests.support.segments import claimed, recorded
held = claimed(uuid.UUID(sys.argv[1]), "ask.main")
with transaction.atomic():
    transaction.on_commit(lambda: os.kill(os.getpid(), signal.SIGKILL))
    recorded(held)
    print("asleep", flush=True)
    sys.stdin.readline()
"""


def test_an_event_is_heard_that_came_while_a_process_fell_asleep_and_died(fleet: Fleet) -> None:
    # No worker serves the queue: the process below executes the step.
    ask = task("ask", "flow.wait_for_event", queue="nobody", **{"with": {"event": "order.lost"}})
    execution = start(publish({"tasks": [ask], "output": "{{ tasks.ask.output.event }}"}))
    with subprocess.Popen(
        [sys.executable, "-c", DIES_ASLEEP, str(execution)],
        cwd=PROJECT,
        env=fleet.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "asleep\n"
        event = publish_event(default_workspace(), "order.lost", {"n": 1}, actor=ACTOR).event
        wait_until(lambda: Event.objects.get(pk=event.pk).delivered_at, 10, "the event delivered")
        process.communicate("commit\n", timeout=120)
    assert process.returncode == -signal.SIGKILL
    assert run_of(execution, "ask").state == "WAITING", "nobody saw it wait when the event came"

    wait_until(lambda: run_of(execution, "ask").state == "PENDING", 30, "the run awake")

    assert run_of(execution, "ask").wake["eventId"] == event.event_id
    lifecycle.cancel(execution, actor=ACTOR)
