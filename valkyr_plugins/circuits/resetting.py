"""A person closes a circuit by hand: its failures are forgotten and held steps go on.

Nothing is known of the target then, so it is guarded: as many steps are let through as it may
fail, and the rest once it has answered.
"""

from uuid import UUID

from django.db import transaction

from executions.public.access import Actor, record
from executions.public.errors import NotFound
from valkyr_plugins.circuits import holding, ledger
from valkyr_plugins.circuits.breaker import closed
from valkyr_plugins.circuits.gate import memory
from valkyr_plugins.circuits.memory import Key
from valkyr_plugins.circuits.models import CircuitBreaker


def reset(pk: UUID, *, actor: Actor, reason: str = "") -> int:
    """Close a circuit and wake what is held for it, as far as it has room; returns how many.

    Raises NotFound. Resetting a clean circuit is told, and changes nothing else.
    """
    row = CircuitBreaker.objects.filter(pk=pk).only("workspace_id", "target").first()
    if row is None:
        raise NotFound(f"There is no circuit breaker {pk}.")
    key = Key(row.workspace_id, row.target)
    with transaction.atomic():
        done = ledger.change(key, lambda circuit, _: closed(circuit))
        record(
            actor,
            "circuit.reset",
            workspace_id=key.workspace_id,
            object_type="CircuitBreaker",
            object_id=done.id,
            reason=reason,
            before={"state": done.before.state, "failures": done.before.failures},
            after={"state": done.after.state, "failures": done.after.failures},
            details={"target": key.target, "lastError": done.before.last_error[:500]},
        )
    known = memory()
    known.refresh()
    known.note(key, done.after, done.now)
    return holding.wake_some(key, known.limits(key.target))
