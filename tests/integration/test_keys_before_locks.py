"""Payload keys are opened before an execution is locked, because opening them may call a KMS."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db import transaction as django_transaction

from dlq.intake.quarantine import quarantine
from dlq.models import DeadLetterEntry
from dlq.resolve.fix_or_skip import skip
from dlq.resolve.requeue import requeue
from executions import lifecycle
from executions.access.actor import Actor
from executions.database import transaction
from executions.models import Keyset, PayloadKey, Workflow, WorkflowExecution
from executions.sealing import payload_keys, store
from executions.triggers.start import start_execution
from runners.failures.classification import Failure
from runners.models import Run
from runners.modules.base import StepError, Wait
from runners.pipeline import end_run
from runners.states import ErrorType, RunState, WaitKind
from runners.testing.harness import Valkyr
from runners.testing.workflow_run import WorkflowRun
from runners.waits.events import signal
from runners.waits.wake_runs import wake
from valkyr_plugins.timetravel.rollback import roll_back

pytestmark = pytest.mark.django_db(transaction=True)
ACTOR = Actor.system("a test")
# A read of the sealed keyset, which the installation key or a KMS then opens.
OPENING = f'"{Keyset._meta.db_table}"."sealed"'
CALLS = """
schema: valkyr/1
name: calls
tasks:
  - id: charge
    use: http.request
    with: {url: "https://bank.example/charges", method: POST, json: "{{ input.order }}"}
  - id: hear
    use: flow.callback
    after: charge
output: "{{ tasks.hear.output.payload }}"
"""
LISTENS = """
schema: valkyr/1
name: listens
tasks:
  - id: hear
    use: flow.wait_for_event
    with: {event: paid}
"""
DENIED = StepError("no money", ErrorType.PERMANENT)
LOST = Failure(ErrorType.PERMANENT, "its worker was lost", "WorkerLost")
PAID = {"status": 200, "headers": {}, "body": {}, "bodyEncoding": "json", "url": "u",
        "durationMs": 1}  # fmt: skip


@pytest.fixture
def valkyr() -> Valkyr:
    """Create a workspace that seals, with one running execution."""
    made = Valkyr()
    payload_keys.make(made.workspace.pk)
    return made


@contextmanager
def watched() -> Iterator[list[bool]]:
    """Make this process look like one that has just started; record each time it opens the keys.

    Each entry says whether a transaction, which holds locks, was open.
    """
    payload_keys.forget()
    store.forget()
    seen: list[bool] = []

    def look(execute: Callable[..., Any], sql: str, *more: Any) -> Any:
        if OPENING in sql:
            seen.append(connection.in_atomic_block)
        return execute(sql, *more)

    with connection.execute_wrapper(look):
        yield seen


def test_a_worker_opens_the_key_when_it_loads_a_segment(valkyr: Valkyr) -> None:
    run = valkyr.start(CALLS, {"order": 1}, answers={"charge": PAID})

    with watched() as seen:
        run.call_back("hear", {"card": 7})

    run.assert_state("SUCCESS")
    assert seen == [False]


def test_a_worker_opens_it_for_an_execution_that_began_in_the_clear(valkyr: Valkyr) -> None:
    payload_keys.stop(valkyr.workspace.pk)
    valkyr.publish(CALLS)
    started = start_execution(Workflow.objects.get(), {}, actor=ACTOR).execution
    payload_keys.make(valkyr.workspace.pk)

    with watched() as seen:
        WorkflowRun(started.pk, {"charge": DENIED}).carry().assert_state("FAILED")

    assert seen == [False]


def dead(valkyr: Valkyr) -> Any:
    valkyr.start(CALLS, {"order": 1}, answers={"charge": DENIED}).assert_state("FAILED")
    return DeadLetterEntry.objects.get().pk


def waiting(valkyr: Valkyr) -> Any:
    run = valkyr.start(CALLS, {"order": 1}, answers={"charge": PAID})
    assert run.waits == {"hear.main": "callback"}
    return run.id


def live(valkyr: Valkyr) -> Run:
    """Return the run that waits for a callback."""
    return Run.objects.get(execution_id=waiting(valkyr), state=RunState.WAITING)


def put_to_sleep(run: Run) -> Callable[[], Any]:
    return partial(
        end_run.put_to_sleep,
        run.execution_id,
        run.pk,
        Wait(WaitKind.TIMER, seconds=60),
        token=run.lease_token,
    )


def fail(run: Run) -> Callable[[], Any]:
    return partial(end_run.fail, run.execution_id, run.pk, LOST)


def listening(valkyr: Valkyr) -> Any:
    run = valkyr.start(LISTENS, {"order": 1})
    assert run.waits == {"hear.main": "event"}
    return WorkflowExecution.objects.get(pk=run.id)


def start_another(valkyr: Valkyr) -> Callable[[], Any]:
    return partial(start_execution, Workflow.objects.get(), {"order": 2}, actor=ACTOR)


# What it does before, and then the action.
ACTIONS: dict[str, Callable[[Valkyr], Callable[[], Any]]] = {
    "start": start_another,
    "cancel": lambda valkyr: partial(lifecycle.cancel, waiting(valkyr), actor=ACTOR),
    "time out": lambda valkyr: partial(lifecycle.time_out, waiting(valkyr)),
    "quarantine": lambda valkyr: partial(
        quarantine, live(valkyr).pk, actor=ACTOR, reason="it hangs"
    ),
    "fail from outside": lambda valkyr: fail(live(valkyr)),
    "put to sleep": lambda valkyr: put_to_sleep(live(valkyr)),
    "signal": lambda valkyr: partial(signal, listening(valkyr), "paid", {"card": 7}, actor=ACTOR),
    "wake": lambda valkyr: partial(
        wake, live(valkyr).pk, WaitKind.CALLBACK, {"payload": {"card": 7}}
    ),
    "roll back": lambda valkyr: partial(
        roll_back, waiting(valkyr), step_path="charge.main", actor=ACTOR
    ),
    "requeue": lambda valkyr: partial(requeue, dead(valkyr), actor=ACTOR),
    "skip": lambda valkyr: partial(skip, dead(valkyr), actor=ACTOR),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_no_action_opens_a_key_in_its_transaction(valkyr: Valkyr, name: str) -> None:
    valkyr.publish(CALLS)
    act = ACTIONS[name](valkyr)

    with watched() as seen:
        act()

    assert True not in seen


def test_a_process_asks_once_whether_a_workspace_seals(
    valkyr: Valkyr, django_assert_num_queries: Any
) -> None:
    PayloadKey.objects.all().delete()
    payload_keys.forget()
    store.forget()

    with django_assert_num_queries(1):
        payload_keys.prepare()
    with django_assert_num_queries(0):
        payload_keys.prepare()


def test_a_process_asks_again_if_the_database_did_not_answer(
    valkyr: Valkyr,
) -> None:
    def fail(*given: Any) -> Any:
        raise OperationalError("the server is restarting")

    with watched() as seen:
        with connection.execute_wrapper(fail), pytest.raises(OperationalError):
            payload_keys.prepare()
        payload_keys.prepare()

    assert seen == [False]


def test_a_transaction_works_before_the_tables_exist(valkyr: Valkyr) -> None:
    """A transaction works before the tables exist: migrations and their commands use the same
    transactions.
    """
    with watched() as seen:
        with django_transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(f"ALTER TABLE {PayloadKey._meta.db_table} RENAME TO later")
            with transaction.atomic():
                assert Workflow.objects.count() == 0
            django_transaction.set_rollback(True)
        with transaction.atomic():
            pass

    assert seen == [False], "it asked again"
