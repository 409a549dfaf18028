"""Executions with given rows, and the plans that the engine makes from them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from executions.database.ids import uuid7
from executions.definition.graph.places import find
from executions.definition.versions import compiled
from executions.models import WorkflowExecution
from runners.models import Run
from runners.planning import plan_execution
from runners.segment.state import SegmentState
from tests.support.single_thread import World
from tests.support.workflows import effect, publish, start

Row = str | tuple[str, Mapping[str, Any]]
Begin = Callable[..., UUID]
HELD = {
    "leased_by": "'me'", "lease_token": "1", "lease_until": "clock_timestamp() + interval '1 h'",
}  # fmt: skip


CHAINED = {"id": "rescue", "after": "a:error", "modules": [
    {"id": name, "use": "test.effect", "with": {}} for name in ("one", "two")
]}  # fmt: skip
FLOW = {"tasks": [effect("a"), effect("b", "a"), CHAINED]}
TWO = {"tasks": [effect("a"), effect("b"), effect("c", ["a", "b"], join="all")]}
STUCK = "No step runs or is due, but these tasks are waiting: "


@pytest.fixture
def begin(queue: World) -> Iterator[Begin]:
    """Yield a function that starts an execution with the given rows, by path; end the executions
    afterwards.
    """
    made: list[UUID] = []

    def with_rows(document: Mapping[str, Any], rows: Mapping[str, Row], **columns: Any) -> UUID:
        execution = start(publish(dict(document)), {"city": "Bonn"})
        made.append(execution)
        Run.objects.filter(execution_id=execution).delete()
        graph = compiled(WorkflowExecution.objects.get(pk=execution).version_id).graph
        for path, row in rows.items():
            _put(execution, graph, path, *((row, {}) if isinstance(row, str) else row))
        WorkflowExecution.objects.filter(pk=execution).update(**columns)
        queue.queue.clear()
        return execution

    yield with_rows
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runners_run SET state = 'CANCELLED', finished_at = clock_timestamp()"
            " WHERE execution_id = ANY(%s) AND finished_at IS NULL", [made])  # fmt: skip
        cursor.execute(
            "UPDATE executions_workflowexecution SET state = 'CANCELLED',"
            " finished_at = clock_timestamp() WHERE id = ANY(%s) AND finished_at IS NULL",
            [made],
        )


def _put(execution: UUID, graph: Any, path: str, state: str, columns: Mapping[str, Any]) -> None:
    _, step = find(graph, path)
    run = Run(
        pk=uuid7(), execution_id=execution, segment=path, step_path=path, task_id=step.task_uuid,
        module_id=step.module_uuid, module=step.module, queue=step.queue,
        **{"outcome": "success" if state == "SUCCESS" else "", **columns},
    )  # fmt: skip
    run.save(force_insert=True)
    changes = {"state": f"'{state}'", "due_at": "clock_timestamp() + interval '1 h'"}
    if state in ("RUNNING", "LEASED"):
        changes |= HELD
    if state in ("SUCCESS", "SKIPPED", "FAILED", "DLQ", "CANCELLED"):
        changes |= {"finished_at": "clock_timestamp()", "due_at": "NULL"}
    with connection.cursor() as cursor:
        names = ", ".join(f"{name} = {value}" for name, value in changes.items())
        cursor.execute(f"UPDATE runners_run SET {names} WHERE id = %s", [run.pk])


def rows_of(execution: UUID) -> dict[str, str]:
    """Return the states of all runs of an execution, by path."""
    return dict(Run.objects.filter(execution_id=execution).values_list("step_path", "state"))


def sent(queue: World, execution: UUID) -> set[str]:
    """Return the segments that were sent for an execution; "" means that a worker plans it."""
    messages = [one for one in queue.queue if one.execution == execution]
    return {name for one in messages for name in (one.segment, *one.others)}


def state_at(execution: UUID, path: str, **known: Any) -> SegmentState:
    """Return the state of a worker at this step, with these known values."""
    state = plan_execution.locked(execution)
    assert state is not None
    place, _ = find(state.context.version.graph, path)
    state.data.place = place
    state.resumed = False
    for name, value in known.items():
        setattr(state, name, value)
    return state
