"""A roll-back past a dead run makes the run history, so its dead letter is closed."""

from typing import Any
from uuid import UUID

from django.dispatch import receiver

from dlq.resolve import transitions
from executions.access.actor import Actor
from executions.events import execution_rolled_back


@receiver(execution_rolled_back)
def close(sender: Any, execution_id: UUID, actor: Actor, label: str, **_: Any) -> None:
    """Discard the open dead letters of runs that are superseded now."""
    transitions.discard_superseded(
        execution_id, actor=actor, note=f"The execution was rolled back to {label}."
    )
