"""The only writer of a redrive's state."""

from uuid import UUID

from dlq.models import Redrive
from executions.actor import Actor


def start(redrive_id: UUID, *, actor: Actor) -> Redrive:
    """Hold its entries and let it run; who is held by another redrive is skipped."""
    raise NotImplementedError


def pause(redrive_id: UUID, *, actor: Actor, reason: str = "") -> Redrive:
    """Send nothing more for now; what was sent goes on. Raises NotFound, WrongState."""
    raise NotImplementedError


def resume(redrive_id: UUID, *, actor: Actor, reason: str = "") -> Redrive:
    """Go on where a pause or too many failures stopped it. Raises NotFound, WrongState."""
    raise NotImplementedError


def abort(redrive_id: UUID, *, actor: Actor, reason: str = "") -> Redrive:
    """Send nothing more, ever; what was sent goes on. Raises NotFound, WrongState."""
    raise NotImplementedError
