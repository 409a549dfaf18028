"""Statements wait for rows that others change and read them again, or skip locked rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.utils import timezone

from executions.database.ids import uuid7
from executions.models import Credential
from runners.models import Run, Waiter
from runners.models.run import CachedResult
from tests.support.rivals import Rivals, blocked_by, my_session
from tests.support.single_thread import World
from tests.support.statement_rows import (
    BESIDE,
    CLAIM,
    DUE,
    HELD,
    LATE,
    RESULT,
    Row,
    fetch_for,
    set_all,
)
from tests.support.waiting import wait_until
from tests.support.workflows import default_workspace, publish, start

SWEEP = {"patience": 30, "batch": 10_000}
PAUSED: Row = {"e.state": "'PAUSED'"}
OVER: Row = {"state": "'SUCCESS'", "o.state": "'SUCCESS'", "e.state": "'CANCELLED'"}
# Statement: its parameters, the rows, the concurrent change, and the first column of the
# statement's answer then.
WAITS: dict[str, tuple[Mapping[str, Any], Row, Row, Sequence[Any]]] = {
    "claim": (CLAIM, DUE, PAUSED, []),
    "record_and_begin_next": (RESULT, HELD, PAUSED, []),
    "record_only_step_and_end": (RESULT, HELD, PAUSED, []),
    "record_without_new_runs": (RESULT, HELD, {"e.state": "'FAILED'"}, [0]),
    "fence_after_restore": ({"leap": 1_000, "most": 1}, DUE, OVER, []),
    "lock": ({}, {}, PAUSED, ["PAUSED"]),
    "executions/lock_candidates": ({}, {"e.state": "'PENDING'"}, {"e.state": "'CANCELLED'"}, []),
    "executions/lock_waking_executions": ({}, {}, PAUSED, [1]),
}


@pytest.fixture
def execution(queue: World) -> Iterator[UUID]:
    made = start(publish(BESIDE))
    yield made
    set_all(made, OVER)
    Waiter.objects.filter(run__execution_id=made).delete()


@pytest.mark.parametrize("name", WAITS)
def test_a_statement_waits_for_a_change_and_sees_it(
    execution: UUID, rivals: Rivals, name: str
) -> None:
    given, row, change, answer = WAITS[name]
    rows = set_all(execution, row)
    if name == "fence_after_restore":
        given = {**given, "after": UUID(int=rows[0].pk.int - 1)}
    with transaction.atomic():
        set_all(execution, change)
        other, waited = _against(rivals, lambda: fetch_for(name, execution, *rows, given))
    assert waited
    assert [row[0] for row in other.result(60)] == answer


SKIPS: dict[str, tuple[Mapping[str, Any], Row, str]] = {
    "claim_without_waiting": (CLAIM, DUE, "executions_workflowexecution"),
    "claim_without_waiting of a run": (CLAIM, DUE, "runners_run"),
    "mark_due_runs_sent": (SWEEP, {**LATE, "published_at": "NULL"}, "runners_run"),
    "recheck_unclaimed_runs": (SWEEP, LATE, "runners_run"),
    "executions/lock_to_reopen": ({}, {"e.state": "'FAILED'"}, "executions_workflowexecution"),
}


@pytest.mark.parametrize("case", SKIPS)
def test_a_statement_passes_over_what_is_locked(execution: UUID, rivals: Rivals, case: str) -> None:
    given, row, table = SKIPS[case]
    name = case.partition(" ")[0]
    run, beside = set_all(execution, row)
    ours = execution if table.startswith("executions") else run.pk
    found = _beside_a_lock(
        rivals, table, ours, lambda: fetch_for(name, execution, run, beside, given)
    )
    assert not [row for row in found if {execution, run.pk} & set(row)]


def test_results_that_somebody_holds_are_forgotten_later(execution: UUID, rivals: Rivals) -> None:
    kept = CachedResult.objects.create(
        owner=uuid4(), key="k", run_id=uuid7(), outcome="", expires_at=timezone.now()
    )
    forget = _statement("delete_expired_results", execution, {"batch": 10_000})
    assert (kept.pk,) not in _beside_a_lock(rivals, "runners_cachedresult", kept.pk, forget)
    assert (kept.pk,) in forget()


def test_a_waiter_that_is_being_woken_is_not_delivered_to(execution: UUID, rivals: Rivals) -> None:
    run = Run.objects.get(execution_id=execution, step_path="one.main")
    since = timezone.now()
    Waiter.objects.create(
        run=run, execution_id=execution, workspace=default_workspace(), kind="event",
        unheard_since=since,
    )  # fmt: skip
    upto = since + timedelta(seconds=1)
    hear = _statement("mark_missed_events_sent", execution, {"since": [since], "upto": [upto]})
    _beside_a_lock(rivals, "runners_waiter", run.pk, hear, key="run_id")
    assert Waiter.objects.get(pk=run.pk).unheard_since == since
    hear()
    assert Waiter.objects.get(pk=run.pk).unheard_since == upto


def test_a_credential_that_is_changed_is_read_and_its_use_noted_later(
    execution: UUID, rivals: Rivals
) -> None:
    name = f"key-{uuid4()}"
    kept = Credential.objects.create(
        workspace=default_workspace(), name=name, sealed=b"sealed", key_id=1
    )
    run = Run.objects.get(execution_id=execution, step_path="one.main")
    given = {
        "workspace": kept.workspace_id, "names": [name], "ids": [uuid7()], "workflow": uuid7(),
        "path": run.step_path, "attempt": 1, "module": "test.effect", "remote": False, "host": "",
        "alone": True,
    }  # fmt: skip
    use = _statement("executions/use_credentials", execution, given)
    found = _beside_a_lock(rivals, "executions_credential", kept.pk, use)
    assert [row[2] for row in found] == [kept.pk]
    kept.refresh_from_db()
    assert kept.last_used_at is None


def _statement(
    name: str, execution: UUID, given: Mapping[str, Any]
) -> Callable[[], list[tuple[Any, ...]]]:
    rows = set_all(execution, {})
    return lambda: fetch_for(name, execution, *rows, given)


def _beside_a_lock(
    rivals: Rivals,
    table: str,
    row: Any,
    act: Callable[[], list[tuple[Any, ...]]],
    key: str = "id",
) -> list[tuple[Any, ...]]:
    """Return the answer of a rival's statement, which must not wait, while this session locks a
    row.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT 1 FROM {table} WHERE {key} = %s FOR NO KEY UPDATE", [row])
        other, waited = _against(rivals, act)
    assert not waited
    return other.result(60)


def _against(
    rivals: Rivals, act: Callable[[], list[tuple[Any, ...]]]
) -> tuple[Future[list[tuple[Any, ...]]], bool]:
    """Let a rival act, until it is done or waits for this session; return its result and whether it
    waits.
    """
    me = my_session()
    other = rivals.begin(act)
    wait_until(lambda: other.done() or blocked_by(me), what="a rival that is done or waits")
    return other, not other.done()
