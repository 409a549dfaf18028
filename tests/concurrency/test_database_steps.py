"""A database step's writes and its record are one transaction: both exist, or neither."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from executions import credentials, lifecycle
from executions.database import transaction
from executions.models import Credential
from runners.errors import LeaseLost, StepFailed
from runners.models import Run
from runners.pipeline import database_steps, lease_renewal, receive
from tests.support.rivals import Rivals
from tests.support.row_steps import rows
from tests.support.segments import claimed, lease_runs_out, run_of
from tests.support.single_thread import World, configured
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, default_workspace, effect, publish, start, states, task

PATH = "row.main"
# What fails in the function, and what its dead letter says.
WRONG = {
    "fails": "no more stock",
    "catches": "caught outside of a savepoint",
    "rolls back": "caught outside of a savepoint",
    "ends the transaction": "ended the transaction",
    "closes": "ended the transaction",
    "refused at the commit": "foreign key constraint",
}


def row_step(*, retry: Any = "none", **inputs: Any) -> dict[str, Any]:
    return task("row", "test.row", retry=retry, **{"with": inputs})


def started(*tasks: dict[str, Any]) -> UUID:
    return start(publish({"tasks": list(tasks)}))


def run(execution: UUID) -> Run:
    """Let a worker receive the message of the step's segment; return the step's newest run."""
    version = run_of(execution, PATH).execution.version_id
    with suppress(StepFailed):
        receive.run_segment(execution, version, PATH)
    return run_of(execution, PATH)


@contextmanager
def records_refused(execution: UUID) -> Iterator[None]:
    """Let the database reject the record of this execution's success during the block."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse_record() RETURNS trigger LANGUAGE plpgsql "
            "AS $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '40001'; END $$; "
            "CREATE TRIGGER refuse_record BEFORE UPDATE ON runners_run FOR EACH ROW "
            f"WHEN (NEW.state = 'SUCCESS' AND NEW.execution_id = '{execution}') "
            "EXECUTE FUNCTION refuse_record()"
        )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(
                "DROP TRIGGER refuse_record ON runners_run; DROP FUNCTION refuse_record()"
            )


def test_writes_and_record_commit_and_the_worker_goes_on(queue: World) -> None:
    execution = started(row_step(), effect("after", "row"))

    assert run(execution).state == "SUCCESS"
    assert rows(execution) == [(PATH, 1)]
    assert states([execution]) == {execution: "SUCCESS"}


@pytest.mark.parametrize("way", sorted(WRONG))
def test_what_fails_leaves_no_row_and_says_why(queue: World, way: str) -> None:
    execution = started(row_step(way=way))

    failed = run(execution)

    assert (failed.state, rows(execution)) == ("DLQ", [])
    assert WRONG[way] in failed.error


def test_a_retry_writes_once(queue: World) -> None:
    execution = started(
        row_step(way="refused once", retry={"maxAttempts": 2, "baseSeconds": 0, "jitter": 0})
    )

    run(execution)
    queue._pass_time()

    assert (run(execution).attempt, rows(execution)) == (2, [(PATH, 2)])


def test_a_lost_lease_rolls_the_writes_back(queue: World) -> None:
    execution = started(row_step())
    stale = claimed(execution, PATH)
    lease_runs_out(stale[1].run_id)
    fresh = claimed(execution, PATH)

    with pytest.raises(LeaseLost):
        database_steps.perform_and_record(*stale)
    assert rows(execution) == []
    database_steps.perform_and_record(*fresh)

    assert rows(execution) == [(PATH, 1)]
    assert run_of(execution, PATH).lease_token == fresh[1].token


def test_a_record_that_the_database_refuses_is_a_failed_attempt(queue: World) -> None:
    execution = started(row_step(retry={"maxAttempts": 2, "baseSeconds": 0, "jitter": 0}))

    with records_refused(execution):
        again = run(execution)
    assert (again.state, again.attempt, rows(execution)) == ("PENDING", 2, [])

    queue._pass_time()
    assert (run(execution).state, rows(execution)) == ("SUCCESS", [(PATH, 2)])


@pytest.mark.parametrize("thread", [False, True])
@pytest.mark.parametrize("slow", [{"way": "sleeps in the server"}, {"seconds": 0.6}])
def test_its_time_is_bounded(
    queue: World, rivals: Rivals, slow: dict[str, Any], thread: bool
) -> None:
    execution = started(row_step(**slow))

    with configured(database_step=0.3):
        late = rivals.begin(run, execution).result(60) if thread else run(execution)

    assert (late.state, late.error_type, rows(execution)) == ("DLQ", "TIMEOUT", [])
    assert asleep() == []


def test_a_step_that_fails_before_its_transaction_leaves_nothing_to_undo(queue: World) -> None:
    fields = {"value": "fails-as-it-says"}
    kept = credentials.create(
        default_workspace(), name="till", type="secret", fields=fields, hosts=["*"], actor=ACTOR
    )
    execution = started(row_step(way="{{ secrets.till }}"))
    Credential.objects.filter(pk=kept.pk).delete()

    failed = run(execution)

    assert (failed.state, rows(execution)) == ("DLQ", [])
    assert 'needs the credential "till"' in failed.error


def test_a_step_past_its_own_time_leaves_no_statement_behind(queue: World) -> None:
    """A step past its own time leaves no statement running.

    The server's limit is that of all such steps, so the statement would otherwise run longer.
    """
    execution = started(row_step(way="sleeps in the server") | {"timeoutSeconds": 1})

    late = run(execution)

    assert (late.state, late.error_type, rows(execution)) == ("DLQ", "TIMEOUT", [])
    wait_until(lambda: not asleep(), 5, "the end of the statement", asleep)


def test_a_step_that_is_stopped_amid_a_statement_leaves_none_behind(
    queue: World, rivals: Rivals
) -> None:
    """A step that is stopped during a statement leaves none running.

    The lease guard stops a step in this way if the lease cannot be renewed.
    """
    execution = started(row_step(way="sleeps in the server"))
    held = claimed(execution, PATH)

    def interrupt() -> None:
        wait_until(asleep, 10, "the statement")
        [beat] = [one for one in lease_renewal.heart()._active() if one.work is held[1]]
        beat.interrupted = True
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)

    interrupting = rivals.begin(interrupt)
    with pytest.raises(LeaseLost):
        database_steps.perform_and_record(*held)
    interrupting.result(60)

    wait_until(lambda: not asleep(), 5, "the end of the statement", asleep)
    assert (run_of(execution, PATH).state, rows(execution)) == ("RUNNING", [])
    lifecycle.cancel(execution, actor=ACTOR)


def asleep() -> list[Any]:
    """Return the sessions that still run the step's statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE query LIKE '%%pg_sleep(30)%%'"
            " AND state = 'active' AND pid <> pg_backend_pid()"
        )
        return cursor.fetchall()


def test_its_lease_is_renewed_while_the_transaction_is_open(queue: World) -> None:
    execution = started(row_step(seconds=1.6))

    try:
        with configured(lease=1, heartbeat=0.2):
            done = run(execution)
    finally:
        lease_renewal.heart()._drop()  # its connection, so that the database can be dropped

    assert done.state == "SUCCESS"
    assert done.lease_until is not None
    assert done.started_at is not None
    assert (done.lease_until - done.started_at).total_seconds() > 1.5


def test_a_hook_that_fails_after_the_commit_keeps_nothing_from_going_on(queue: World) -> None:
    execution = started(row_step(way="hook"), effect("after", "row"))

    assert run(execution).state == "SUCCESS"
    assert rows(execution) == [(PATH, 1)]
    # A hook may take long, so the next step belongs to no worker yet, and its message is sent.
    assert run_of(execution, "after.main").state == "PENDING"
    queue.drain()
    assert states([execution]) == {execution: "SUCCESS"}


@pytest.mark.parametrize("within", [True, False])
def test_a_hook_of_the_engine_that_fails_is_logged_and_the_next_one_runs(
    queue: World, caplog: pytest.LogCaptureFixture, within: bool
) -> None:
    """A failing hook of the engine is logged, and the next one runs.

    A hook fails, for example, if the broker is down when the messages are sent.
    """
    sent: list[str] = []

    def fail(why: str) -> None:
        raise OSError(why)

    with transaction.atomic() if within else nullcontext():
        transaction.on_commit(partial(fail, "no broker"), robust=True)
        transaction.on_commit(partial(sent.append, "the next"), robust=True)

    assert sent == ["the next"]
    assert "no broker" in caplog.text
