"""Circuits of failing targets open, steps wait without using an attempt, and one step probes."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import resolve

from dlq.models import DeadLetterEntry
from executions import lifecycle
from executions.database.clock import database_now, first_id_at
from executions.events import LASTING, ReportedCondition, condition_began
from executions.models import Activity, Workspace
from executions.public import addresses
from runners.gates.gates import Asked
from runners.models import Waiter
from runners.modules import registry
from runners.recovery.sweeper import waits
from runners.targets.rules import TargetLimits
from tests.support import targets
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.segments import claimed, recorded, run_of
from tests.support.single_thread import World
from tests.support.targets import behaviour, calls, circuit_of
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
from valkyr_plugins.circuits import breaker_rows, conf, gate
from valkyr_plugins.circuits.breaker import Caller, Circuit, Entry, closed, enter
from valkyr_plugins.circuits.entering import WantedCall, enter_one
from valkyr_plugins.circuits.gate import reset
from valkyr_plugins.circuits.memory import Key
from valkyr_plugins.circuits.models import CircuitBreaker, CircuitRule

DOWN = "TRANSIENT"
_numbers = count(1)


@pytest.fixture
def target(queue: World) -> Iterator[str]:
    """Yield a target without calls."""
    targets.install()
    gate.memory().forget()
    name = f"partner-{next(_numbers)}"
    yield name
    behaviour.pop(name, None)
    Waiter.objects.filter(key=circuit_of(name)).delete()  # the duty handles every test's
    gate.memory().forget()


def workflow(target: str, workspace: Workspace | None = None) -> Any:
    return publish(
        {"tasks": [task("call", "test.call", **{"with": {"target": target}})]}, workspace
    )


def key(target: str, workspace: Workspace | None = None) -> Key:
    return Key((workspace or default_workspace()).pk, circuit_of(target))


def circuit(target: str) -> Circuit:
    return breaker_rows.look(key(target))[0]


def call(queue: World, target: str, times: int = 1) -> list[UUID]:
    """Start executions that call the target, and let workers run what they can."""
    ids = start_many(workflow(target), [{}] * times)
    queue.drain()
    return ids


def open_circuit(queue: World, target: str) -> list[UUID]:
    """Let the target fail until its circuit opens; return the executions that failed."""
    behaviour[target] = DOWN
    ids = call(queue, target, 5)
    assert circuit(target).state == "OPEN"
    return ids


def rest_is_over(target: str) -> None:
    """Let the circuit's pause, and the wait for woken steps, end."""
    change(target, "next_retry_at = clock_timestamp() - interval '1 s', called_until = NULL")


def change(target: str, setting: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE runners_circuitbreaker SET {setting} WHERE target = %s",
            [circuit_of(target)],
        )
    gate.memory().forget()


def held(target: str) -> int:
    return Waiter.objects.filter(kind="circuit", key=circuit_of(target)).count()


def test_a_target_that_answers_costs_its_steps_no_query(queue: World, target: str) -> None:
    given = workflow(target)

    def queries(execution: UUID) -> int:
        held = claimed(execution, "call.main")
        with CaptureQueriesContext(connection) as found:
            asked = gate.ask(asked_of(*held))
            assert isinstance(asked, gate.Passing)
            asked.ended(None)
        recorded(held)
        return len(found)

    first, *others = (queries(start(given)) for _ in range(8))

    assert first > 0
    # One of them may be due when circuits with failures are read: two queries a second.
    assert sorted(others)[:6] == [0] * 6


def asked_of(state: Any, work: Any) -> Any:
    module = registry.get("test.call")
    return Asked(state.context, work, module, module.validated(work.prepared.value), None)


def test_after_five_failures_steps_are_held_without_using_an_attempt(
    queue: World, target: str
) -> None:
    failed = open_circuit(queue, target)
    ids = call(queue, target, 3)

    assert set(states(failed).values()) == {"FAILED"}
    assert calls[target] == 5
    assert held(target) == 3
    run = run_of(ids[0], "call.main")
    assert (run.state, run.waits_for, run.attempt) == ("WAITING", "circuit", 1)
    assert run.progress is not None
    assert run.progress["target"] == circuit_of(target)
    assert run.progress["state"] == "OPEN"
    assert run.due_at is not None
    assert run.started_at is not None
    assert 3590 < (run.due_at - run.started_at).total_seconds() < 3610


def test_a_refusal_is_an_answer(queue: World, target: str) -> None:
    behaviour[target] = "PERMANENT"
    call(queue, target, 7)

    assert calls[target] == 7
    assert circuit(target).state == "CLOSED"
    assert circuit(target).proven_at is not None


def test_of_many_held_one_probes_and_the_others_follow_when_it_is_answered(
    queue: World, target: str
) -> None:
    open_circuit(queue, target)
    ids = call(queue, target, 4)
    assert gate.wake_held() == 0
    behaviour[target] = "answers"
    rest_is_over(target)

    assert gate.wake_held() == 1
    queue.drain()

    assert set(states(ids).values()) == {"SUCCESS"}
    assert calls[target] == 5 + 4
    assert {run_of(pk, "call.main").attempt for pk in ids} == {1}
    assert circuit(target).state == "CLOSED"


def test_a_probe_that_fails_lets_the_target_rest_again(queue: World, target: str) -> None:
    open_circuit(queue, target)
    ids = call(queue, target, 3)
    rest_is_over(target)

    gate.wake_held()
    queue.drain()

    assert calls[target] == 5 + 1
    assert sorted(states(ids).values()) == ["FAILED", "RUNNING", "RUNNING"]
    assert circuit(target).state == "OPEN"
    assert gate.wake_held() == 0


def test_a_step_that_comes_when_the_rest_is_over_probes_itself(queue: World, target: str) -> None:
    open_circuit(queue, target)
    behaviour[target] = "answers"
    rest_is_over(target)

    assert set(states(call(queue, target)).values()) == {"SUCCESS"}


def test_a_woken_run_is_waited_for_before_another_is_woken(queue: World, target: str) -> None:
    open_circuit(queue, target)
    call(queue, target, 3)
    rest_is_over(target)

    assert gate.wake_held() == 1
    assert gate.wake_held() == 0
    change(target, "called_until = clock_timestamp()")

    assert gate.wake_held() == 1


def test_a_probe_that_died_makes_way_for_another(queue: World, target: str) -> None:
    open_circuit(queue, target)
    ids = call(queue, target, 2)
    rest_is_over(target)
    lost, other = claimed(start(workflow(target)), "call.main"), ids
    asked = gate.ask(asked_of(*lost))
    assert isinstance(asked, gate.Passing)
    assert asked.entry is Entry.PROBE
    assert gate.wake_held() == 0

    behaviour[target] = "answers"
    change(target, "probe_until = clock_timestamp()")
    gate.wake_held()
    queue.drain()

    assert set(states(other).values()) == {"SUCCESS"}
    asked.ended(None)  # it was available after all
    assert circuit(target).state == "CLOSED"


def test_a_new_target_is_let_no_more_calls_than_it_may_fail(queue: World, target: str) -> None:
    given = workflow(target)
    holders = [claimed(start(given), "call.main") for _ in range(7)]
    asked = [gate.ask(asked_of(*holder)) for holder in holders]

    passing = [one for one in asked if isinstance(one, gate.Passing)]

    assert len(passing) == 5
    assert circuit(target).trials == 5
    passing[0].undo()
    assert circuit(target).trials == 4
    for one in passing[1:]:
        one.ended(None)
    assert circuit(target).trials == 0


def test_steps_held_for_a_new_target_go_on_when_it_is_seen_to_answer(
    queue: World, target: str
) -> None:
    inside: list[int] = []

    def slow() -> str:
        """Start seven other executions during the first call: the circuit lets five of them
        through.
        """
        if not inside:
            inside.append(1)
            others = start_many(workflow(target), [{}] * 7)
            for pk in others:
                recorded_or_held(pk)
        return "answers"

    def recorded_or_held(execution: UUID) -> None:
        behaviour[target] = "answers"
        recorded(claimed(execution, "call.main"))

    behaviour[target] = slow
    first = call(queue, target)
    queue.drain()

    assert set(states(first).values()) == {"SUCCESS"}
    assert held(target) == 0
    assert calls[target] == 8


def test_workspaces_have_circuits_of_their_own(queue: World, target: str) -> None:
    open_circuit(queue, target)
    behaviour[target] = "answers"
    other = limited_workspace(10)

    execution = start(workflow(target, other))
    queue.drain()

    assert states([execution]) == {execution: "SUCCESS"}
    assert held(target) == 0


def test_a_step_held_for_too_long_is_a_dead_letter_of_its_circuit(
    queue: World, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_circuit(queue, target)
    (execution,) = call(queue, target)
    run = run_of(execution, "call.main")
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runners_run SET due_at = clock_timestamp(), "
            "started_at = started_at - interval '1 hour' WHERE id = %s",
            [run.pk],
        )
    waits.due_timers()
    queue.drain()

    run = run_of(execution, "call.main")
    letter = DeadLetterEntry.objects.get(execution_id=execution)
    assert (run.state, run.error_type, run.attempt) == ("DLQ", "CIRCUIT_OPEN", 1)
    assert letter.failure_type == "CIRCUIT_BREAKER"
    assert circuit_of(target) in run.error
    assert f"{target} is out of order" in run.error
    assert "reset its circuit" in run.error
    assert calls[target] == 5


def test_opening_is_told_once_in_the_trail_and_as_a_condition(queue: World, target: str) -> None:
    told: list[ReportedCondition] = []

    def hear(condition: ReportedCondition, **_: Any) -> None:
        told.append(condition)

    condition_began.connect(hear)
    try:
        open_circuit(queue, target)
    finally:
        condition_began.disconnect(hear)

    (fact,) = [one for one in told if one.details["target"] == circuit_of(target)]
    assert (fact.kind, fact.workspace_id) == ("CIRCUIT_OPEN", default_workspace().pk)
    assert (
        resolve(addresses.shown_page(fact.path)).url_name == "valkyr_circuits_circuitbreaker_change"
    )
    assert LASTING[fact.kind]([fact.object_id, uuid4()]) == {fact.object_id}
    row = Activity.objects.get(action="circuit.open", object_id=str(fact.object_id))
    assert row.actor_name == "circuit breaker"
    assert row.details["target"] == circuit_of(target)
    assert row.details["lastError"] == f"{target} is out of order"


def test_a_reset_is_told_and_lets_as_many_go_on_as_may_fail(queue: World, target: str) -> None:
    open_circuit(queue, target)
    ids = call(queue, target, 8)
    behaviour[target] = "answers"
    row = CircuitBreaker.objects.get(target=circuit_of(target))

    assert reset(row.pk, actor=ACTOR, reason="mended") == 5
    assert held(target) == 3
    queue.drain()

    assert set(states(ids).values()) == {"SUCCESS"}
    told = Activity.objects.get(action="circuit.reset", object_id=str(row.pk))
    assert (told.reason, told.before) == ("mended", {"state": "OPEN", "failures": 5})


def test_without_circuit_breakers_nothing_is_held_and_what_was_goes_on(
    queue: World, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_circuit(queue, target)
    ids = call(queue, target, 2)
    monkeypatch.setenv("CIRCUIT_BREAKER_ENABLED", "0")
    conf.config.cache_clear()
    try:
        gate.wake_held()
        queue.drain()
        assert set(states(ids).values()) == {"FAILED"}
        call(queue, target, 3)
    finally:
        monkeypatch.undo()
        conf.config.cache_clear()

    assert calls[target] == 5 + 2 + 3


def test_a_rule_says_how_long_a_call_may_take(queue: World, target: str) -> None:
    CircuitRule.objects.create(pattern=circuit_of(target), timeout_seconds=7)
    behaviour[target] = "answers"

    (execution,) = call(queue, target)

    assert run_of(execution, "call.main").outputs == {"called": target, "within": 7}


def test_a_rule_of_an_administrator_holds_for_its_targets(queue: World, target: str) -> None:
    CircuitRule.objects.create(pattern=circuit_of(target), failure_threshold=2, recovery_seconds=7)
    gate.memory().forget()
    behaviour[target] = DOWN

    call(queue, target, 4)

    assert calls[target] == 2
    found = circuit(target)
    assert found.next_retry_at is not None
    assert found.opened_at is not None
    assert (found.next_retry_at - found.opened_at).total_seconds() == 7


def test_failures_are_forgotten_when_their_window_is_over(queue: World, target: str) -> None:
    behaviour[target] = DOWN
    call(queue, target, 2)
    change(target, "window_until = clock_timestamp()")

    gate.wake_held()

    assert circuit(target).failures == 0


def test_a_cancelled_execution_leaves_nobody_held(queue: World, target: str) -> None:
    open_circuit(queue, target)
    (execution,) = call(queue, target)

    lifecycle.cancel(execution, actor=ACTOR)

    assert held(target) == 0


def test_of_two_who_would_probe_at_once_one_is_let_through(
    queue: World, target: str, rivals: Rivals
) -> None:
    open_circuit(queue, target)
    rest_is_over(target)
    limits = TargetLimits(5, 60, 60)

    def probe(number: int) -> Entry:
        caller = Caller(UUID(int=number), 1, 10)
        return enter_one(WantedCall(None, key(target), caller), gate.memory())  # type: ignore[arg-type]

    with transaction.atomic():
        caller = Caller(UUID(int=1), 1, 10)
        breaker_rows.change(key(target), lambda found, now: enter(found, caller, limits, now)[0])
        others = [rivals.begin(probe, number) for number in (2, 3)]
        wait_until_blocked(my_session(), 1)

    assert [other.result(60) for other in others] == [Entry.HELD, Entry.HELD]
    assert circuit(target).probe_run_id == UUID(int=1)


def test_of_those_who_count_failures_at_once_none_is_lost(
    queue: World, target: str, rivals: Rivals
) -> None:
    behaviour[target] = DOWN
    given = workflow(target)
    holders = [claimed(start(given), "call.main") for _ in range(4)]
    done = [rivals.begin(recorded, holder) for holder in holders]
    for one in done:
        one.result(60)

    assert circuit(target).failures == 4
    assert circuit(target).trials == 0


def test_two_who_call_a_new_target_at_once_share_its_row(
    queue: World, target: str, rivals: Rivals
) -> None:
    made = [
        rivals.begin(breaker_rows.change, key(target), lambda found, _: closed(found)) for _ in "ab"
    ]

    assert len({one.result(60).id for one in made}) == 1


def test_held_steps_are_woken_in_bounded_batches(
    queue: World, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_circuit(queue, target)
    call(queue, target, 5)
    monkeypatch.setattr(gate, "WOKEN_AT_ONCE", 2)
    change(target, "state = 'CLOSED', failures = 0, proven_at = clock_timestamp()")

    assert [gate.wake_held() for _ in range(4)] == [2, 2, 1, 0]
    behaviour[target] = "answers"
    queue.drain()
    assert held(target) == 0


def test_a_task_says_for_how_long_it_may_be_held(queue: World, target: str) -> None:
    open_circuit(queue, target)
    given = {"with": {"target": target}, "circuitWaitSeconds": 0}
    execution = start(publish({"tasks": [task("call", "test.call", **given)]}))
    queue.drain()

    run = run_of(execution, "call.main")
    assert (run.state, run.error_type) == ("DLQ", "CIRCUIT_OPEN")


def test_clean_circuits_of_long_ago_are_forgotten(queue: World, target: str) -> None:
    long_ago = first_id_at(database_now(), -timedelta(days=31))
    for name, failures in (("clean", 0), ("failed", 1)):
        CircuitBreaker.objects.create(
            id=UUID(int=long_ago.int + failures),
            workspace=default_workspace(),
            target=circuit_of(f"{target}-{name}"),
            failures=failures,
        )
    call(queue, target)

    gate.forget_unused()

    kept = CircuitBreaker.objects.filter(target__startswith=circuit_of(target))
    assert set(kept.values_list("target", flat=True)) == {
        circuit_of(target),
        circuit_of(f"{target}-failed"),
    }
