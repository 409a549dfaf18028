"""Who does something, and the audit row it leaves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions.models import Activity


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, a system or an agent; `user_id` is None for the engine's own doings."""

    user_id: int | None
    name: str

    @classmethod
    def of(cls, user: Any) -> "Actor":
        """The actor behind a signed-in Django user."""
        return cls(user.pk, user.get_username())

    @classmethod
    def system(cls, name: str) -> "Actor":
        """The engine itself, under the name of the part that acts."""
        return cls(None, name)


def record(
    actor: Actor,
    action: str,
    *,
    workspace_id: UUID,
    object_type: str,
    object_id: UUID,
    reason: str = "",
    details: Mapping[str, Any] | None = None,
) -> Activity:
    """Write one line of the audit trail, in the caller's transaction."""
    return Activity.objects.create(
        workspace_id=workspace_id,
        actor_id=actor.user_id,
        actor_name=actor.name[:200],
        action=action,
        object_type=object_type,
        object_id=object_id,
        reason=reason,
        details=dict(details or {}),
    )
