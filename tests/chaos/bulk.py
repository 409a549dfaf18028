"""A backlog made quickly: copies of one waiting execution, in the tables and in the queue."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any
from uuid import UUID

import psycopg
from celery import current_app
from kombu.exceptions import ChannelError

from executions.models import Workflow, WorkflowExecution
from runners.dispatch import messages
from runners.dispatch.canvas import Chain, Parcel, SegmentLink
from runners.models import Run
from tests.chaos.brokers import Broker, RedisBroker
from tests.support import copies
from tests.support.waiting import wait_until
from tests.support.workflows import start

BATCH = 5_000


def quick_to_fill(broker: Broker) -> bool:
    """Return whether thousands of messages can be copied into the broker's queue."""
    return isinstance(broker, RedisBroker)


def fill(broker: Broker, workflow: Workflow, number: int) -> None:
    """Create this number of executions of one step, sent once and not claimed; no worker may
    listen.
    """
    first = _waiting(workflow)
    if isinstance(broker, RedisBroker):
        copies.multiply(first, number - 1)
    else:
        _publish(first, copies.copy_rows(first, number - 1))
    copies.analyze()


def _waiting(workflow: Workflow) -> UUID:
    """Start an execution whose message is in the queue, sent once; return its id.

    The broker may deliver a message to a worker that was killed a moment ago. That message is lost,
    and the message that the sweeper sends instead is not part of a backlog. So this execution is
    deleted, and another one is started.
    """
    while True:
        first = start(workflow)
        with suppress(AssertionError):
            wait_until(_somebody_waits, 3, "the message in the queue")
            return first
        clear(workflow)


def _somebody_waits() -> bool:
    with current_app.connection_for_write() as link, suppress(ChannelError):  # not there: empty
        return bool(link.default_channel.queue_declare("default", passive=True).message_count)
    return False


def clear(workflow: Workflow) -> None:
    """Delete the executions of a workflow, and empty the queue."""
    with current_app.connection_for_write() as link:
        link.default_channel.queue_purge("default")
    with copies.session() as own:
        mine = "SELECT id FROM executions_workflowexecution WHERE workflow_id = %s"
        for table, column in _referring(own):
            own.execute(f"DELETE FROM {table} WHERE {column} IN ({mine})", [workflow.pk])
        own.execute(
            "DELETE FROM executions_workflowexecution WHERE workflow_id = %s", [workflow.pk]
        )


def _referring(own: psycopg.Connection[Any]) -> list[tuple[str, str]]:
    """Return the tables with a foreign key to executions, with its column; without executions' own
    parents.
    """
    return own.execute(
        "SELECT c.conrelid::regclass::text, a.attname FROM pg_constraint c "
        "JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] "
        "WHERE c.confrelid = 'executions_workflowexecution'::regclass AND c.contype = 'f' "
        "AND c.conrelid <> c.confrelid"
    ).fetchall()


def _publish(first: UUID, executions: list[UUID]) -> None:
    run = Run.objects.get(execution_id=first)
    version = WorkflowExecution.objects.values_list("version_id", flat=True).get(pk=first)
    canvas = Chain((SegmentLink(run.segment, run.queue, run.step_path),))
    for batch in _batches(executions):
        messages.publish([Parcel(one, version, run.priority, (canvas,)) for one in batch])


def _batches(ids: list[UUID]) -> Iterator[list[UUID]]:
    rest = iter(ids)
    while batch := list(islice(rest, BATCH)):
        yield batch
