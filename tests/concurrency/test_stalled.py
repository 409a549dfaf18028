"""Executions with nothing in flight are found, even among many healthy ones."""

import pytest

from executions.database.by_state import in_states
from executions.models import WorkflowExecution
from runners.models import Run
from runners.recovery.sweeper import executions as duty
from tests.support.single_thread import World
from tests.support.workflows import effect, publish, start, states


def test_what_stalls_behind_a_backlog_is_found_in_turns(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    workflow = publish({"tasks": [effect("one")]})
    waiting = [start(workflow) for _ in range(5)]
    stalled = waiting[3:]
    Run.objects.filter(execution_id__in=stalled).delete()
    WorkflowExecution.objects.filter(pk__in=waiting).update(started_at="2026-01-01T00:00Z")
    monkeypatch.setattr(duty, "LOOKED_AT", 2)
    monkeypatch.setattr(duty.LookedThrough, "place", duty.START)

    duty.stalled_executions()
    assert not Run.objects.filter(execution_id__in=stalled).exists(), "two looked at"
    for _ in range(WorkflowExecution.objects.filter(in_states("RUNNING")).count() // 2 + 1):
        duty.stalled_executions()

    assert Run.objects.filter(execution_id__in=stalled, state="PENDING").count() == 2
    queue.drain()
    assert set(states(waiting).values()) == {"SUCCESS"}


def test_of_many_that_stall_those_left_are_found_next(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    workflow = publish({"tasks": [effect("one")]})
    stalled = [start(workflow) for _ in range(3)]
    Run.objects.filter(execution_id__in=stalled).delete()
    WorkflowExecution.objects.filter(pk__in=stalled).update(started_at="2026-01-01T00:00Z")
    monkeypatch.setattr(duty, "STALLED_BATCH", 2)
    monkeypatch.setattr(duty.LookedThrough, "place", duty.START)

    duty.stalled_executions()
    duty.stalled_executions()

    assert Run.objects.filter(execution_id__in=stalled, state="PENDING").count() == 3
