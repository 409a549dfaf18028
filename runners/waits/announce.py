"""Events that steps tell their workspace: once each, and in no endless chain.

An event may start a workflow that tells an event: the event's id says how long that chain is, and
whoever would make it longer than `MAX_CHAIN` fails. The module's thread holds no connection, so
one is opened for this and given back.
"""

import re
from typing import Any
from uuid import UUID

from django.db import connection

from executions.access.actor import Actor
from executions.errors import InvalidPayload
from executions.models import Event, WorkflowExecution, Workspace
from executions.states import TriggerType
from executions.triggers.event import EventReceipt, publish_event
from runners.conf import pool
from runners.modules.base import PublishedEvent, StepError
from runners.segment.state import SegmentState
from runners.segment.time_limit import StepTimeout
from runners.segment.work import Work

MAX_CHAIN = 10
# So many parents, and error workflows, are followed up to what was started first.
MAX_CLIMB = 50
OWN_ID = re.compile(r"step:(\d+):[0-9a-f]{64}:\d+")
STARTED_BY = re.compile(r"event:([0-9a-f-]{36}):.*")


def announce(
    state: SegmentState, work: Work, name: str, payload: Any, number: int
) -> PublishedEvent:
    """Tell the event as the step's `number`th (from 1); raises StepError."""
    try:
        return _told(_publish(state, work, name, payload, number))
    except InvalidPayload as error:
        said = "; ".join(f"{problem.path}: {problem.message}" for problem in error.problems)
        raise StepError(f"the event cannot be stored: {said or error.message}") from error
    except StepTimeout:
        # Interrupted wherever it was: nobody knows what the connection still expects.
        connection.close()
        raise
    finally:
        if pool() == "threads":
            connection.close()  # back to the pool


def _publish(state: SegmentState, work: Work, name: str, payload: Any, number: int) -> EventReceipt:
    assert work.prepared is not None
    chain = chain_of(state.context.execution_id) + 1
    if chain > MAX_CHAIN:
        raise StepError(
            f"{name!r} would be event {chain} of a chain, in which each event started the workflow "
            f"that told the next; the most is {MAX_CHAIN}. Give a trigger a filter that ends it."
        )
    return publish_event(
        Workspace.objects.get(pk=state.context.version.workspace_id),
        name,
        payload,
        actor=Actor.system(f"step {work.path[:140]} of {state.context.execution_id}"),
        event_id=f"step:{chain}:{work.prepared.key}:{number}",
    )


def chain_of(execution_id: UUID) -> int:
    """How many events of steps led to this execution, one after another; 0 for none."""
    found = _first(execution_id)
    started = STARTED_BY.fullmatch(found["idempotency_key"] or "")
    if found["trigger_type"] != TriggerType.EVENT or started is None:
        return 0
    event_id = Event.objects.filter(pk=started[1]).values_list("event_id", flat=True).first()
    own = OWN_ID.fullmatch(event_id or "")
    return int(own[1]) if own else 0


def _first(execution_id: UUID) -> dict[str, Any]:
    """What was started first of all: the parent of the parent, what an error workflow is for."""
    for _ in range(MAX_CLIMB):
        found: Any = WorkflowExecution.objects.values(
            "parent_id", "failure_of_id", "trigger_type", "idempotency_key"
        ).get(pk=execution_id)
        above = found["parent_id"] or found["failure_of_id"]
        if above is None:
            return dict(found)
        execution_id = above
    raise StepError(
        f"this execution has more than {MAX_CLIMB} parents or failures before it, which looks "
        "like workflows that start each other for ever; so it may tell no event"
    )


def _told(published: EventReceipt) -> PublishedEvent:
    results = published.event.started
    return PublishedEvent(
        event_id=published.event.event_id,
        created=published.created,
        executions=tuple(r["executionId"] for r in results if "executionId" in r),
        refused=tuple(r for r in results if "code" in r),
    )
