"""Events, decisions and callbacks reach waiting steps once, despite concurrency."""

import threading
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from executions import lifecycle
from executions.database import statements as execution_statements
from executions.errors import WrongState
from executions.models import Event, Membership, WorkflowExecution
from executions.triggers.event import publish_event
from runners import statements
from runners.dispatch import estimates, messages
from runners.models import EarlyCallback, Run, Waiter
from runners.planning import plan_execution
from runners.recovery.sweeper import waits as duty
from runners.recovery.sweeper import waits as timers
from runners.segment.template_data import callback_url_of
from runners.tasks import deliver_event
from runners.waits import approvals, callbacks
from runners.waits import events as deliver
from runners.waits import listeners as listening_to
from runners.waits.events import signal
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.segments import claimed, recorded, run_of
from tests.support.single_thread import World
from tests.support.workflows import (
    ACTOR,
    default_workspace,
    limited_workspace,
    publish,
    start,
    start_many,
    states,
    task,
)

PAID = "order.paid"
SIX_SECONDS = timedelta(seconds=6)
# Much of what a request may render with at once, and more than that.
COSTLY = "{{ [input.n] * 50000 == [input.n] * 50000 and input.n % 2 == event.odd }}"
TOO_COSTLY = "{{ [[input.n] * 90000] * 20 == [[input.n] * 90000] * 20 }}"


def listening(**inputs: Any) -> dict[str, Any]:
    return {
        "tasks": [task("ask", "flow.wait_for_event", **{"with": {"event": PAID, **inputs}})],
        "output": "{{ tasks.ask.output }}",
    }


def happen(payload: Any = None, *, workspace: Any = None, name: str = PAID, **more: Any) -> Event:
    """Publish an event and deliver it (in place of its message)."""
    event = publish_event(
        workspace or default_workspace(), name, payload, actor=ACTOR, **more
    ).event
    deliver.deliver(event.pk)
    event.refresh_from_db()
    return event


def output(execution: UUID) -> Any:
    return WorkflowExecution.objects.get(pk=execution).output


def run_state(execution: UUID, path: str = "ask.main") -> str:
    return run_of(execution, path).state


def test_an_event_wakes_everybody_who_waits_for_it(queue: World) -> None:
    workflow = publish(listening())
    ids = start_many(workflow, [{}] * 3)
    queue.drain()
    event = happen({"total": 3})
    queue.drain()
    assert set(states(ids).values()) == {"SUCCESS"}
    expected = {"event": {"total": 3}, "eventId": event.event_id, "name": PAID}
    assert [output(pk) for pk in ids] == [expected] * 3
    assert event.delivered_at is not None
    assert not Waiter.objects.filter(execution_id__in=ids).exists()


def test_an_event_of_another_name_or_workspace_wakes_nobody(queue: World) -> None:
    execution = start(publish(listening()))
    queue.drain()
    happen(name="order.sent")
    happen(workspace=limited_workspace(1))
    assert run_state(execution) == "WAITING"
    lifecycle.cancel(execution, actor=ACTOR)
    assert not Waiter.objects.filter(execution_id=execution).exists()


def test_an_event_that_came_before_is_not_heard(queue: World) -> None:
    event = publish_event(default_workspace(), PAID, {}, actor=ACTOR).event
    assert Event.objects.get(pk=event.pk).delivered_at is not None, "nobody listened"
    other = start(publish(listening()))
    queue.drain()
    late = publish_event(default_workspace(), PAID, {}, actor=ACTOR).event
    execution = start(publish(listening()))
    queue.drain()
    deliver.deliver(late.pk)
    assert (run_state(other), run_state(execution)) == ("PENDING", "WAITING")
    lifecycle.cancel(execution, actor=ACTOR)


@pytest.mark.plugins
def test_a_filter_decides_in_the_scope_of_its_step(queue: World) -> None:
    first = task("first", "data.set", **{"with": {"values": {"city": "{{ input.city }}"}}})
    fits = "{{ event.city == tasks.first.output.city and event.n > input.least + vars.more }}"
    ask = task("ask", "flow.wait_for_event", "first", **{"with": {"event": PAID, "filter": fits}})
    workflow = publish({"tasks": [first, ask], "variables": {"more": 1}})
    rome, oslo = start_many(workflow, [{"city": "Rome", "least": 3}, {"city": "Oslo", "least": 3}])
    queue.drain()
    happen({"city": "Rome", "n": 4})
    assert (run_state(rome), run_state(oslo)) == ("WAITING", "WAITING")
    happen({"city": "Rome", "n": 5})
    assert (run_state(rome), run_state(oslo)) == ("PENDING", "WAITING")
    happen({"city": "Oslo", "n": 9})
    queue.drain()
    assert states([rome, oslo]) == {rome: "SUCCESS", oslo: "SUCCESS"}


def test_the_items_of_a_map_wait_each_for_their_own_event(queue: World) -> None:
    own = "{{ event.order == item.id and index >= 0 }}"
    body = {
        "tasks": [task("ask", "flow.wait_for_event", **{"with": {"event": PAID, "filter": own}})]
    }
    document = {
        "tasks": [task("batch", "flow.map", **{"with": {"items": "{{ input.items }}"}}, body=body)],
        "output": "{{ tasks.batch.output }}",
    }
    execution = start(publish(document), {"items": [{"id": n} for n in range(5)]})
    queue.drain()
    for n in (3, 0, 4, 1):
        happen({"order": n})
        queue.drain()
    waiting = Run.objects.filter(execution_id=execution, state="WAITING", waits_for="event")
    assert [run.step_path for run in waiting] == ["batch[2].ask.main"]
    happen({"order": 2})
    queue.drain()
    assert [one["event"]["order"] for one in output(execution)] == [0, 1, 2, 3, 4]


def test_a_filter_that_fails_lets_nothing_pass_and_says_so_in_the_log(queue: World) -> None:
    execution = start(publish(listening(filter="{{ event.order.id == 1 }}")))
    queue.drain()
    for _ in range(25):
        happen({"total": 1})
    run = run_of(execution, "ask.main")
    assert run.state == "WAITING"
    assert len(run.logs) == 20
    assert run.logs[0]["level"] == "warning"
    assert "The filter failed, so the event did not wake the step" in run.logs[0]["message"]
    happen({"order": {"id": 1}})
    queue.drain()
    run.refresh_from_db()
    assert (run.state, len(run.logs)) == ("SUCCESS", 20)


def test_an_event_is_delivered_once_however_often_it_is_tried(queue: World) -> None:
    body = {"tasks": [task("ask", "flow.wait_for_event", **{"with": {"event": PAID}})]}
    document = {"tasks": [task("twice", "flow.loop", **{"with": {"count": 2}}, body=body)]}
    execution = start(publish(document))
    queue.drain()
    event = happen()
    queue.drain()
    assert run_state(execution, "twice[1].ask.main") == "WAITING"
    Event.objects.filter(pk=event.pk).update(delivered_at=None)
    assert deliver.deliver(event.pk) == 0
    assert run_state(execution, "twice[1].ask.main") == "WAITING"
    happen()
    queue.drain()
    assert states([execution])[execution] == "SUCCESS"


def test_the_duty_sends_the_lost_message_of_an_event_again(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = start(publish(listening()))
    queue.drain()
    event = publish_event(default_workspace(), PAID, {}, actor=ACTOR).event
    assert duty.undelivered_events() == 0, "its message may still come"
    assert run_state(execution) == "WAITING"
    run = run_of(execution, "ask.main")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE executions_event SET created_at = created_at - interval '6 s'")
        cursor.execute("UPDATE runners_waiter SET created_at = created_at - interval '6 s'")
    asked = told(monkeypatch)
    assert duty.undelivered_events() == 1
    run.refresh_from_db()
    assert (asked, run.state) == ([event.pk], "WAITING"), "a worker delivers it, not the sweep"
    assert deliver.deliver(event.pk) == 1
    event.refresh_from_db()
    assert event.delivered_at is not None
    run.refresh_from_db()
    assert run.state == "PENDING"


def told(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """Collect the events that messages request from now on."""
    asked: list[UUID] = []
    tell = messages.tell

    def noted(task: str, subject: UUID, *more: str) -> None:
        if task == deliver.DELIVER:
            asked.append(subject)
        tell(task, subject, *more)

    monkeypatch.setattr(messages, "tell", noted)
    return asked


def rendered(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect the result of each filter that is evaluated from now on."""
    found: list[Any] = []
    truth = listening_to.truth

    def noted(value: Any) -> bool:
        found.append(value)
        return truth(value)

    monkeypatch.setattr(listening_to, "truth", noted)
    return found


def test_filters_that_take_long_are_evaluated_a_few_a_message_until_all_are_decided(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No time at all: each call evaluates the one filter that it always evaluates.
    monkeypatch.setattr(deliver, "FILTER_SECONDS", 0.0)
    ids = start_many(publish(listening(filter=COSTLY)), [{"n": n} for n in range(7)])
    ids += start_many(publish(listening()), [{}])
    queue.drain()
    event = publish_event(default_workspace(), PAID, {"odd": 1}, actor=ACTOR).event
    asked, values = told(monkeypatch), rendered(monkeypatch)

    woken = [deliver.deliver(event.pk)]
    while asked:
        assert asked == [event.pk], "one further message a call"
        asked.clear()
        woken.append(deliver.deliver(event.pk))

    assert (len(values), sum(woken)) == (7, 4), "each filter once; three odd ones, and no filter"
    assert max(woken) <= 2
    event.refresh_from_db()
    assert event.delivered_at is not None
    queue.drain()
    ends = states(ids)
    assert [n for n, pk in enumerate(ids) if ends[pk] == "SUCCESS"] == [1, 3, 5, 7]
    for pk in ids:
        if ends[pk] != "SUCCESS":
            lifecycle.cancel(pk, actor=ACTOR)


def test_two_deliveries_of_one_event_do_not_both_go_on(
    queue: World, rivals: Rivals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliver, "FILTER_SECONDS", 0.0)
    ids = start_many(publish(listening(filter=COSTLY)), [{"n": n} for n in range(3)])
    queue.drain()
    event = publish_event(default_workspace(), PAID, {"odd": 1}, actor=ACTOR).event
    asked = told(monkeypatch)
    with transaction.atomic():
        Event.objects.select_for_update().get(pk=event.pk)
        other = rivals.begin(deliver.deliver, event.pk)
        wait_until_blocked(my_session())
        deliver.deliver(event.pk)
    assert (other.result(60), asked) == (0, [event.pk]), "only one of them asks for more"
    for pk in ids:
        lifecycle.cancel(pk, actor=ACTOR)


def test_a_message_that_is_sent_again_while_it_waits_for_its_turn_goes_on_once(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliver, "FILTER_SECONDS", 0.0)
    sent: list[tuple[Any, ...]] = []
    monkeypatch.setattr(messages, "tell", lambda task, *given: sent.append(given))
    ids = start_many(publish(listening(filter=COSTLY)), [{"n": n} for n in range(5)])
    queue.drain()
    sent.clear()
    event = publish_event(default_workspace(), PAID, {"odd": 1}, actor=ACTOR).event

    most = 0
    while sent:
        event.refresh_from_db()
        assert sent in ([(event.pk, deliver.stamped(event.looked_at))], [(event.pk,)])
        # The event is not processed for six seconds, so the duty sends each message once more.
        Event.objects.filter(pk=event.pk).update(
            created_at=F("created_at") - SIX_SECONDS, looked_at=F("looked_at") - SIX_SECONDS
        )
        Waiter.objects.update(created_at=F("created_at") - SIX_SECONDS)
        event.refresh_from_db()
        sent[:] = [(event.pk, deliver.stamped(event.looked_at))]
        duty.undelivered_events()
        waiting, sent[:] = sent.copy(), []
        for given in waiting:
            deliver_event(*map(str, given))
        most = max(most, len(sent))

    assert most == 1, "one of two messages goes on"
    event.refresh_from_db()
    assert event.delivered_at is not None
    for n, pk in enumerate(ids):
        if n % 2 == 0:
            lifecycle.cancel(pk, actor=ACTOR)


def test_a_costly_filter_gets_the_budget_of_a_request_and_its_run_says_so(queue: World) -> None:
    execution = start(publish(listening(filter=TOO_COSTLY)), {"n": 1})
    queue.drain()
    happen({"odd": 1})
    run = run_of(execution, "ask.main")
    assert run.state == "WAITING"
    assert "more work than a web process allows" in run.logs[0]["message"]
    lifecycle.cancel(execution, actor=ACTOR)


def test_a_run_that_falls_asleep_leaves_filters_that_take_long_to_a_worker(
    queue: World, rivals: Rivals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliver, "FILTER_SECONDS", 0.0)
    execution = start(publish(listening(filter="{{ event.n == 3 }}")))
    held = claimed(execution, "ask.main")
    with transaction.atomic():
        recorded(held)
        events = [rivals.begin(happen, {"n": n}).result(60) for n in (1, 2, 3)]
        asked = told(monkeypatch)
    assert asked == [event.pk for event in events[1:]]
    assert run_state(execution) == "WAITING"
    assert [deliver.deliver(event.pk) for event in events[1:]] == [0, 1]
    queue.drain()
    assert output(execution)["eventId"] == events[2].event_id


def test_an_event_that_comes_while_a_step_falls_asleep_is_heard(
    queue: World, rivals: Rivals
) -> None:
    execution = start(publish(listening()))
    held = claimed(execution, "ask.main")
    with transaction.atomic():
        recorded(held)  # asleep, which no query shows yet
        event = rivals.begin(happen, {"total": 1}).result(60)
        assert event.delivered_at is not None
    assert run_state(execution) == "PENDING"
    queue.drain()
    assert output(execution)["eventId"] == event.event_id


def test_an_event_that_commits_after_a_step_fell_asleep_is_heard(
    queue: World, rivals: Rivals
) -> None:
    execution = start(publish(listening()))
    held = claimed(execution, "ask.main")
    asleep, go = threading.Event(), threading.Event()

    def fall_asleep() -> None:
        with transaction.atomic():
            recorded(held)
            asleep.set()
            assert go.wait(60)

    sleeper = rivals.begin(fall_asleep)
    assert asleep.wait(60)
    with transaction.atomic():
        # Neither sees the other: the step looks back before the event can be seen.
        event = publish_event(default_workspace(), PAID, {"total": 1}, actor=ACTOR).event
        go.set()
        sleeper.result(60)
    deliver.deliver(event.pk)
    assert run_state(execution) == "PENDING"
    queue.drain()
    assert output(execution)["eventId"] == event.event_id


def test_what_one_look_back_cannot_take_is_delivered_by_the_duty(
    queue: World, rivals: Rivals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliver, "MISSED", 2)
    execution = start(publish(listening(filter="{{ event.n == 3 }}")))
    held = claimed(execution, "ask.main")
    with transaction.atomic():
        recorded(held)
        events = [rivals.begin(happen, {"n": n}).result(60) for n in (1, 2, 3)]
    assert run_state(execution) == "WAITING"
    asked = told(monkeypatch)

    assert deliver.deliver_missed(0, 50) == 1
    assert asked == [events[2].pk]
    assert deliver.deliver_missed(0, 50) == 0, "once"

    assert deliver.deliver(events[2].pk) == 1
    queue.drain()
    assert output(execution)["eventId"] == events[2].event_id


def test_a_paused_execution_hears_events_and_goes_on_with_its_resume(queue: World) -> None:
    execution = start(publish(listening()))
    queue.drain()
    lifecycle.pause(execution, actor=ACTOR)
    happen({"n": 1})
    queue.drain()
    assert run_state(execution) == "PENDING"
    lifecycle.resume(execution, actor=ACTOR)
    queue.drain()
    assert states([execution])[execution] == "SUCCESS"


def test_a_sleeper_without_a_place_hears_an_event_and_waits_for_one(queue: World) -> None:
    workspace = limited_workspace(1)
    workflow = publish(listening(), workspace)
    first = start(workflow)
    queue.drain()
    second = start(workflow)
    assert states([second])[second] == "RUNNING", "the sleeper gave its place up"
    happen({"n": 1}, workspace=workspace)
    assert WorkflowExecution.objects.get(pk=first).place == "WANTED"
    lifecycle.cancel(second, actor=ACTOR)
    queue.drain()
    assert states([first])[first] == "SUCCESS"


def test_ten_thousand_listeners_take_one_statement_a_batch(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A tenth of both shows the same: what counts is how many batches there are.
    assert listening_to.BATCH == 500
    monkeypatch.setattr(listening_to, "BATCH", 50)
    ids = start_many(publish(listening()), [{}] * 120)
    queue.drain()
    event = publish_event(default_workspace(), PAID, {}, actor=ACTOR).event
    # The number of workers is read by the clock, not by the batch.
    monkeypatch.setattr(estimates, "CAPACITY_SECONDS", 600.0)
    estimates.serving("default")
    asked: list[str] = []
    for module in (statements, execution_statements):
        fetch = module.fetch

        def noted(name: str, params: Any, fetch: Any = fetch, **options: Any) -> Any:
            asked.append(name)
            return fetch(name, params, **options)

        monkeypatch.setattr(module, "fetch", noted)
    fetch_together = execution_statements.fetch_together

    def noted_together(given: Any) -> Any:
        asked.extend(name for name, _ in given)
        return fetch_together(given)

    monkeypatch.setattr(execution_statements, "fetch_together", noted_together)
    with CaptureQueriesContext(connection) as others:
        assert deliver.deliver(event.pk) == 120
    assert asked == ["listeners", "lock_waking_executions", "request_slot", "wake"] * 3
    # The event, its mark, and a transaction's begin and end a batch.
    assert len(others) <= 2 + 2 * 3
    queue.queue.clear()
    for pk in ids:
        lifecycle.cancel(pk, actor=ACTOR)


def test_a_signal_reaches_one_execution_and_its_filters_count(queue: World) -> None:
    workflow = publish(listening(filter="{{ event.n > input.least }}"))
    one, other = start_many(workflow, [{"least": 1}, {"least": 1}])
    queue.drain()
    execution = WorkflowExecution.objects.get(pk=one)
    with pytest.raises(WrongState, match="no filter lets this payload pass"):
        signal(execution, PAID, {"n": 1}, actor=ACTOR)
    [woken] = signal(execution, PAID, {"n": 2}, actor=ACTOR)
    assert woken.step_path == "ask.main"
    queue.drain()
    assert (states([one])[one], run_state(other)) == ("SUCCESS", "WAITING")
    assert output(one) == {"event": {"n": 2}, "eventId": None, "name": PAID}
    lifecycle.cancel(other, actor=ACTOR)


def person(name: str) -> Any:
    from django.contrib.auth import get_user_model

    user, _ = get_user_model().objects.get_or_create(username=name)
    Membership.objects.get_or_create(
        user=user, workspace=default_workspace(), defaults={"role": "ADMIN"}
    )
    return user


def test_of_two_decisions_at_once_the_first_counts(queue: World, rivals: Rivals) -> None:
    ask = task("ask", "flow.approval", **{"with": {"title": "Go?"}})
    execution = start(publish({"tasks": [ask], "output": "{{ tasks.ask.output.by }}"}))
    queue.drain()
    run = run_of(execution, "ask.main")
    maria, paul = person("maria"), person("paul")
    with transaction.atomic():
        plan_execution.locked(execution)
        first = rivals.begin(approvals.decide, run.pk, "approved", "", user=maria, actor=ACTOR)
        second = rivals.begin(approvals.decide, run.pk, "rejected", "", user=paul, actor=ACTOR)
        wait_until_blocked(my_session())
    refused = [one for one in (first, second) if one.exception(10) is not None]
    assert len(refused) == 1
    assert isinstance(refused[0].exception(), WrongState)
    queue.drain()
    assert output(execution) == ("paul" if refused[0] is first else "maria")


def test_an_approval_in_a_loop_takes_the_edge_of_its_decision(queue: World) -> None:
    body = {
        "tasks": [
            task("ask", "flow.approval", **{"with": {"title": "Good, {{ loop.iteration }}?"}}),
        ]
    }
    until = "{{ tasks.ask.outcome == 'approved' }}"
    document = {
        "tasks": [task("refine", "flow.loop", **{"with": {"until": until}}, body=body)],
        "output": "{{ tasks.refine.output.iterations }}",
    }
    execution = start(publish(document))
    for index, decision in enumerate(("rejected", "rejected", "approved")):
        queue.drain()
        run = run_of(execution, f"refine[{index}].ask.main")
        assert run.progress["title"] == f"Good, {index + 1}?"
        approvals.decide(run.pk, decision, "", user=person("maria"), actor=ACTOR)
    queue.drain()
    assert output(execution) == 3


CALLED = {
    "tasks": [
        task("tell", "data.set", **{"with": {"values": {"url": "{{ tasks.ask.callbackUrl }}"}}}),
        task("ask", "flow.callback", "tell"),
    ],
    "output": "{{ tasks.ask.output.payload }}",
}


def token_of(execution: UUID, path: str = "ask.main") -> str:
    return callback_url_of(execution, path).rpartition("/")[2]


@pytest.mark.plugins
def test_a_call_that_comes_while_its_step_falls_asleep_is_not_lost(
    queue: World, rivals: Rivals
) -> None:
    execution = start(publish(CALLED))
    tells = claimed(execution, "tell.main")
    following = recorded(tells)
    waits = (tells[0], following) if following else claimed(execution, "ask.main")
    with transaction.atomic():
        recorded(waits)
        call = rivals.begin(callbacks.receive, token_of(execution), {"n": 1}, actor=ACTOR)
        wait_until_blocked(my_session())
    call.result(60)
    queue.queue = queue.queue[-1:]
    queue.drain()
    assert output(execution) == {"n": 1}


@pytest.mark.plugins
def test_of_two_calls_at_once_one_is_told_that_it_is_used(queue: World, rivals: Rivals) -> None:
    execution = start(publish(CALLED))
    with transaction.atomic():
        plan_execution.locked(execution)
        token = token_of(execution)
        calls = [rivals.begin(callbacks.receive, token, {"n": n}, actor=ACTOR) for n in (1, 2)]
        wait_until_blocked(my_session())
    failed = [one for one in calls if one.exception(10) is not None]
    assert len(failed) == 1
    assert isinstance(failed[0].exception(), callbacks.CallbackUsed)
    queue.drain()
    assert output(execution) == {"n": 2 if failed[0] is calls[0] else 1}
    assert not EarlyCallback.objects.filter(execution_id=execution).exists()


@pytest.mark.plugins
def test_each_item_of_a_map_has_an_address_of_its_own(queue: World) -> None:
    body = {"tasks": CALLED["tasks"]}
    document = {
        "tasks": [task("batch", "flow.map", **{"with": {"items": [1, 2, 3]}}, body=body)],
        "output": "{{ tasks.batch.output }}",
    }
    execution = start(publish(document))
    queue.drain()
    for index in (2, 0, 1):
        told = run_of(execution, f"batch[{index}].tell.main").outputs["url"]
        callbacks.receive(told.rpartition("/")[2], index, actor=ACTOR)
    queue.drain()
    assert [one["payload"] for one in output(execution)] == [0, 1, 2]


def test_a_delay_that_comes_due_during_a_pause_ends_with_it(queue: World) -> None:
    execution = start(publish({"tasks": [task("nap", "flow.delay", **{"with": {"seconds": 30}})]}))
    queue.drain()
    lifecycle.pause(execution, actor=ACTOR)
    Run.objects.filter(execution_id=execution).update(due_at="2026-01-01T00:00Z")
    timers.due_timers()
    queue.drain()
    assert states([execution])[execution] == "PAUSED"
    lifecycle.resume(execution, actor=ACTOR)
    timers.due_timers()
    queue.drain()
    assert states([execution])[execution] == "SUCCESS"


@pytest.mark.parametrize("end", ["cancel", "time out"])
def test_the_end_of_an_execution_ends_its_waits(queue: World, end: str) -> None:
    document = {
        "tasks": [
            task("nap", "flow.delay", **{"with": {"seconds": 30}}),
            task("ask", "flow.wait_for_event", **{"with": {"event": PAID}}),
            task("go", "flow.approval", **{"with": {"title": "Go?"}}),
            task("call", "flow.callback"),
        ]
    }
    execution = start(publish(document))
    queue.drain()
    runs = Run.objects.filter(execution_id=execution)
    assert set(runs.values_list("state", flat=True)) == {"WAITING"}
    assert Waiter.objects.filter(execution_id=execution).count() == 3
    if end == "cancel":
        lifecycle.cancel(execution, actor=ACTOR)
    else:
        WorkflowExecution.objects.filter(pk=execution).update(deadline_at="2026-01-01T00:00Z")
        lifecycle.time_out(execution)
    assert set(runs.values_list("state", flat=True)) == {"CANCELLED"}
    assert not Waiter.objects.filter(execution_id=execution).exists()
