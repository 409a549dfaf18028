"""The result of one message: an execution, a refused message, or no result yet.

`take` commits the result before it returns, so that the consumer may acknowledge the message.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.db import DataError

from executions.access.actor import Actor
from executions.errors import (
    NotFound,
    NotPublished,
    QuotaExceeded,
    ValkyrError,
    WithProblems,
    WorkflowDisabled,
)
from executions.models import RefusedMessage, Trigger
from executions.payload_store import PayloadStoreUnavailable
from executions.payloads import digest
from executions.sealing import SealingError
from executions.states import TriggerType
from executions.triggers.queues.message import QueueMessage, Unreadable
from executions.triggers.start import start_execution

KEPT_BYTES = 64 * 1024
REPLACEMENT = "\ufffd"  # for characters that PostgreSQL cannot store
MAX_REASON = 4_000
RETRY_SECONDS = 5.0
# Errors that are not caused by the message: an operator must change something first.
NOT_OF_THE_MESSAGE = (
    WorkflowDisabled,
    NotPublished,
    PayloadStoreUnavailable,
    SealingError,
    ImproperlyConfigured,
)


class IntakeVerdict(StrEnum):
    """The result of a message's intake."""

    STARTED = "started"
    KNOWN = "known"  # delivered before: its execution exists
    REFUSED = "refused"
    LATER = "later"  # valid, but must wait; returned to the queue


@dataclass(frozen=True, slots=True)
class IntakeCount:
    """A verdict. REFUSED and LATER have a `reason`; LATER also has `retry_after`, in seconds."""

    verdict: IntakeVerdict
    reason: str = ""
    retry_after: float = 0.0


def take(trigger_id: UUID, message: QueueMessage) -> IntakeCount:
    """Start an execution for a message, refuse the message, or postpone it. Raises NotFound.

    A message that is identified by its sender's message ID or by a lasting token does not start a
    second execution when it is delivered again.
    """
    trigger = queue_trigger(trigger_id)
    if not trigger.enabled:
        why = "is no longer in the published version" if trigger.retired_at else "is disabled"
        return IntakeCount(IntakeVerdict.LATER, f"the trigger {why}", RETRY_SECONDS)
    try:
        return _start_or_refuse(trigger, message)
    except QuotaExceeded as error:
        return IntakeCount(IntakeVerdict.LATER, error.message, error.retry_after)
    except NOT_OF_THE_MESSAGE as error:
        return IntakeCount(IntakeVerdict.LATER, str(error), RETRY_SECONDS)


def _start_or_refuse(trigger: Trigger, message: QueueMessage) -> IntakeCount:
    try:
        started = start_execution(
            trigger.workflow,
            message.payload(),
            actor=Actor.system("queue"),
            trigger_type=TriggerType.QUEUE,
            trigger=trigger,
            idempotency_key=_key(trigger, message),
        )
    except (QuotaExceeded, *NOT_OF_THE_MESSAGE):
        raise
    except Unreadable as error:
        return refuse(trigger.pk, message, error.code, str(error))
    except ValkyrError as error:
        return refuse(trigger.pk, message, error.code, sentence(error))
    except DataError as error:
        return refuse(trigger.pk, message, "bad_value", f"The body cannot be stored: {error}.")
    return IntakeCount(IntakeVerdict.STARTED if started.created else IntakeVerdict.KNOWN)


def refuse(trigger_id: UUID, message: QueueMessage, code: str, reason: str) -> IntakeCount:
    """Store a message that cannot start an execution, once per token, for users to review."""
    row = RefusedMessage(
        id=message.token,
        trigger_id=trigger_id,
        body=_storable(message.body[:KEPT_BYTES].decode(errors="replace")),
        headers=_headers(message.headers),
        code=code[:60],
        reason=_storable(reason[:MAX_REASON]),
    )
    RefusedMessage.objects.bulk_create([row], ignore_conflicts=True)
    return IntakeCount(IntakeVerdict.REFUSED, reason)


def queue_trigger(trigger_id: UUID) -> Trigger:
    """Return a QUEUE trigger with its workflow. Raises NotFound."""
    found = (
        Trigger.objects.filter(pk=trigger_id, type=TriggerType.QUEUE)
        .select_related("workflow")
        .defer("workflow__definition")
        .first()
    )
    if found is None:
        raise NotFound(f"There is no QUEUE trigger {trigger_id}.")
    return found


def sentence(error: ValkyrError) -> str:
    """Return the error's message, followed by each of its problems."""
    found = error.problems if isinstance(error, WithProblems) else []
    return " ".join([error.message, *(f"{p.path}: {p.message}" for p in found)])


def _key(trigger: Trigger, message: QueueMessage) -> str | None:
    if message.id is not None:
        return f"queue:{trigger.pk}:{digest(message.id)}"
    return f"queue:{trigger.pk}:{message.token}" if message.lasting else None


def _headers(headers: Mapping[str, Any]) -> dict[str, str]:
    texts = {str(name): _text(value) for name, value in list(headers.items())[:50]}
    return {_storable(name[:200]): _storable(text[:1_000]) for name, text in texts.items()}


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _storable(text: str) -> str:
    """Replace the characters that PostgreSQL cannot store: NUL and lone surrogates."""
    return text.encode(errors="replace").decode().replace("\x00", REPLACEMENT)
