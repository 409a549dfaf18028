"""Start the workflow for a refused message after all, or discard the message."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from executions.access.actor import Actor, record
from executions.database import transaction
from executions.database.clock import database_now
from executions.definition.graph.problem import DefinitionProblem
from executions.errors import InvalidPayload, NotFound, WrongState
from executions.models import RefusedMessage, WorkflowExecution
from executions.states import TriggerType
from executions.triggers.queues.intake import KEPT_BYTES, REPLACEMENT
from executions.triggers.queues.message import Unreadable, payload_of
from executions.triggers.start import start_execution

STARTED = "STARTED"
DISCARDED = "DISCARDED"

# Means that the message's own body is the payload.
AS_IT_CAME: Any = object()


def start_again(
    message_id: UUID, *, actor: Actor, payload: Any = AS_IT_CAME, reason: str = ""
) -> WorkflowExecution:
    """Start the trigger's workflow with the message's body, or with another payload.

    Raises NotFound, WrongState if the message is already resolved, InvalidPayload for a body that
    is truncated, contains U+FFFD, or is not JSON, and the errors of `start_execution`.
    """

    def start(message: RefusedMessage) -> WorkflowExecution:
        given = _body(message) if payload is AS_IT_CAME else payload
        started = start_execution(
            message.trigger.workflow,
            given,
            actor=actor,
            trigger_type=TriggerType.QUEUE,
            trigger=message.trigger,
            reason=reason or f"refused message {message.pk}",
        )
        message.execution = started.execution
        return started.execution

    result: WorkflowExecution = _resolve(message_id, STARTED, start, actor, reason)
    return result


def discard(message_id: UUID, *, actor: Actor, reason: str = "") -> None:
    """Discard a refused message, so that it starts nothing. Raises NotFound or WrongState."""
    _resolve(message_id, DISCARDED, lambda message: None, actor, reason)


def _resolve(
    message_id: UUID,
    resolution: str,
    act: Callable[[RefusedMessage], Any],
    actor: Actor,
    reason: str,
) -> Any:
    with transaction.atomic():
        message = _open(message_id)
        result = act(message)
        message.resolution = resolution
        message.resolved_at = database_now()
        message.save(update_fields=["resolution", "resolved_at", "execution"])
        record(
            actor,
            f"message.{'start' if resolution == STARTED else 'discard'}",
            workspace_id=message.trigger.workflow.workspace_id,
            object_type="RefusedMessage",
            object_id=message.pk,
            reason=reason,
            details={"triggerId": str(message.trigger_id), "code": message.code},
        )
    return result


def _open(message_id: UUID) -> RefusedMessage:
    message = (
        RefusedMessage.objects.select_for_update(no_key=True, of=("self",))
        .select_related("trigger__workflow")
        .defer("trigger__workflow__definition")
        .filter(pk=message_id)
        .first()
    )
    if message is None:
        raise NotFound(f"There is no refused message {message_id}.")
    if message.resolved_at is not None:
        raise WrongState(f"Message {message_id} is already {message.resolution}.", "RESOLVED")
    return message


def _body(message: RefusedMessage) -> Any:
    text = message.body.encode()
    try:
        if len(text) >= KEPT_BYTES:
            problem = DefinitionProblem(
                "body", "cut", f"Only its first {KEPT_BYTES // 1024} KiB were kept."
            )
        elif REPLACEMENT in message.body:
            problem = DefinitionProblem(
                "body", "altered", "It contains U+FFFD, which may replace bytes that are not text."
            )
        else:
            return payload_of(text)
    except Unreadable as error:
        problem = DefinitionProblem("body", error.code, str(error))
    raise InvalidPayload(
        f"Message {message.pk} cannot be used as a payload. Send another payload.", [problem]
    )
