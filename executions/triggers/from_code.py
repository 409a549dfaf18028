"""Start executions from a project's own code, inside the caller's open transaction if there is one.

A start inside `atomic()` commits or rolls back with the caller's rows. Other starts wait for it
only if they use the same idempotency key. Messages are sent after the commit; if the process dies
before it sends them, the sweeper does.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any
from uuid import UUID

from django.db import OperationalError, connections

from executions.access.actor import Actor
from executions.database import statements
from executions.database.routing import alias
from executions.errors import Deadlocked, NotFound, ValkyrError
from executions.models import Workflow
from executions.triggers.handle import Handle
from executions.triggers.start import start_batch, start_execution

DEADLOCK_DETECTED = "40P01"
ACTOR = Actor.system("code")
MOST = 1_000
# The columns of `workflow_for_code_start`, in the order of the model's fields, as `from_db` reads
# them.
FACTS = (
    "id", "workspace_id", "name", "slug", "origin", "enabled", "latest_version_id",
    "canary_version_id", "canary_percent", "archived_at",
)  # fmt: skip


class OtherTransaction(ValkyrError):
    """A transaction of another database is open, so the start cannot commit together with it."""

    code = "other_transaction"


@contextmanager
def deadlock_told(what: str) -> Iterator[None]:
    """Raise Deadlocked for a deadlock in the block; `what` names the locked objects."""
    try:
        yield
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") != DEADLOCK_DETECTED:
            raise
        raise Deadlocked(
            f"This transaction waited for another one that holds {what}, while the other one "
            "waited for this one, so PostgreSQL ended this wait. Roll back and run the whole "
            "transaction again. Use keys in the same order in all transactions, for example "
            "sorted."
        ) from error


def start_from_code(
    workflow_id: UUID,
    payload: Any,
    *,
    key: str | None = None,
    priority: int | None = None,
    version_id: UUID | None = None,
    own_transaction: bool = False,
) -> Handle:
    """Start one execution of the latest (or the given) version.

    For a used idempotency key of this workflow, returns the handle of the earlier execution. Raises
    the errors of `start_execution`, and NotFound for an unknown workflow or version. Raises
    OtherTransaction if a transaction is open only on another database, unless `own_transaction`
    allows a separate commit. Raises Deadlocked if two open transactions start the same keys in
    opposite order.
    """
    with nullcontext() if key is None else deadlock_told(f"the idempotency key {key!r}"):
        started = start_execution(
            _workflow(workflow_id),
            payload,
            actor=ACTOR,
            priority=priority,
            version=version_id,
            idempotency_key=key,
            joined=_joins(own_transaction),
        )
    return Handle(started.execution.pk)


def start_many_from_code(
    workflow_id: UUID,
    payloads: Sequence[Any],
    *,
    priority: int | None = None,
    version_id: UUID | None = None,
    own_transaction: bool = False,
) -> list[Handle]:
    """Start one execution per payload, at most 1,000, all or none, in the payloads' order.

    Raises ValueError for more payloads, and the errors of `start_from_code`.
    """
    if len(payloads) > MOST:
        raise ValueError(
            f"{len(payloads)} payloads; at most {MOST} start in one transaction. Start them in "
            "parts."
        )
    if not payloads:
        return []
    executions = start_batch(
        _workflow(workflow_id),
        payloads,
        actor=ACTOR,
        priority=priority,
        version=version_id,
        joined=_joins(own_transaction),
    )
    return [Handle(execution.pk) for execution in executions]


def _joins(own_transaction: bool) -> bool:
    """Return whether a transaction is open on Valkyr's database. Raises OtherTransaction."""
    ours = alias()
    if connections[ours].in_atomic_block:
        return True
    others = [one.alias for one in connections.all(initialized_only=True) if one.in_atomic_block]
    if others and not own_transaction:
        raise OtherTransaction(
            f"A transaction is open on the database {others[0]!r}, but workflows are started "
            f"on {ours!r}: the two cannot commit together. Start inside "
            f"transaction.atomic(using={ours!r}), or pass own_transaction=True to start at "
            "once in a separate transaction."
        )
    return False


def _workflow(workflow_id: UUID) -> Workflow:
    """Return the workflow with the fields that a start needs; others are loaded on access.

    Raises NotFound.
    """
    row = statements.fetch_one("workflow_for_code_start", {"workflow": workflow_id})
    if row is None:
        raise NotFound(f"There is no workflow {workflow_id}.")
    return Workflow.from_db(alias(), FACTS, row)
