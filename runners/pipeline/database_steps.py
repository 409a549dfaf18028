"""Run a step whose database writes and record are one transaction (`effect = "database"`).

The module runs inside the transaction that records its result, so an error, a lost lease or a dead
process undoes the module's writes. Secrets and gates are handled before the transaction. The engine
locks no row until the module has returned, so the heartbeat can renew the lease on its own
connection.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from django.db import Error, IntegrityError
from psycopg import Error as DriverError
from psycopg.pq import TransactionStatus

from executions.database import connection, transaction
from executions.vendor_seams.django_connections import hooks_for_commit, let_hooks_fail
from runners.conf import config
from runners.errors import LeaseLost
from runners.failures.classification import classify
from runners.modules import registry
from runners.modules.base import StepError
from runners.pipeline import end_run, execute, record_result
from runners.segment.state import SegmentState
from runners.segment.step_context import StepTimeout
from runners.segment.work import Work

log = logging.getLogger(__name__)

CANCEL_SECONDS = 1.0
TRANSACTION_TIMEOUT_SINCE = 170000  # PostgreSQL 17 has `transaction_timeout`


def applies(work: Work) -> bool:
    """Return whether the step's module, as now installed, writes in the recording transaction."""
    if work.step.inline or work.failure is not None:
        return False
    try:
        return registry.get(work.step.module).effect == "database"
    except registry.UnknownModule:
        return False


def perform_and_record(state: SegmentState, work: Work) -> Work | None:
    """Execute the claimed step and record it in one transaction; return the next work, or None.

    A failure undoes the module's writes and is recorded in a separate transaction. Raises
    LeaseLost, or IntegrityError if another worker planned the same steps; in both cases, nothing is
    written.
    """
    work.at_most = config().database_step
    try:
        with _StepTransaction(state) as around:
            work.within = around.module()
            try:
                unit = execute.perform(state, work)
            except LeaseLost:
                around.undo()
                raise
            if unit.head is not None:
                return record_result.record(state, work, unit)
            around.undo()
    except IntegrityError:
        raise
    except Error as error:
        # This process's state has already advanced, so plan the failure from the rows. If the
        # commit succeeded and only its response was lost, the run has ended, and `fail` changes
        # nothing.
        log.warning("step %s was not recorded: %s", work.path, error)
        state.failure = classify(error)
        end_run.fail(work.execution_id, work.run_id, state.failure, token=work.token)
        return None
    return record_result.record(state, work, unit)


class _StepTransaction(ExitStack):
    """The transaction of one step, from the start of the module to the end of the record.

    No transaction begins if a gate holds the step or if a stored result is used.
    """

    def __init__(self, state: SegmentState) -> None:
        super().__init__()
        self._state = state
        self._begun = False

    @contextmanager
    def module(self) -> Iterator[None]:
        """Run the block in the transaction. Raises StepTimeout, StepError or IntegrityError."""
        began, limits = time.monotonic(), config()
        # False in a test whose transaction is rolled back.
        outermost = not connection.in_atomic_block
        hooks = hooks_for_commit(connection)
        self.enter_context(transaction.atomic())
        self._begun = True
        if outermost:
            _limit(limits.database_step, limits.grace)
        yield
        if time.monotonic() - began > limits.database_step:
            raise StepTimeout
        _check_transaction()
        # Check deferred constraints now, because at the commit it is unknown which step broke them.
        connection.check_constraints()
        if let_hooks_fail(connection, after=hooks):
            _hand_over(self._state)

    def undo(self) -> None:
        """Roll back the transaction if it has begun."""
        if not self._begun:
            return
        transaction.set_rollback(True)
        if _status() == TransactionStatus.ACTIVE:  # a timeout interrupted a statement
            raw: Any = connection.connection
            with suppress(DriverError):
                raw.cancel_safe(timeout=CANCEL_SECONDS)
            connection.close()


def _limit(seconds: float, grace: float) -> None:
    """Set timeouts after which the server ends the transaction if this process cannot."""
    milliseconds = max(1, round(1000 * seconds))
    limits = {
        "statement_timeout": milliseconds,
        "idle_in_transaction_session_timeout": milliseconds,
    }
    if int(getattr(connection, "pg_version", 0)) >= TRANSACTION_TIMEOUT_SINCE:
        limits["transaction_timeout"] = milliseconds + round(1000 * grace)
    with connection.cursor() as cursor:
        cursor.execute("; ".join(f"SET LOCAL {name} = {value}" for name, value in limits.items()))


def _check_transaction() -> None:
    """Raise StepError if the module ended the transaction, or if it can only be rolled back."""
    if _status() in (TransactionStatus.IDLE, None):
        raise StepError(
            "The function ended the transaction in which its step is recorded. Only the "
            "engine may do this: remove COMMIT, ROLLBACK and connection.close()."
        )
    if connection.needs_rollback or _status() == TransactionStatus.INERROR:
        raise StepError(
            "The function returned, but its transaction can only be rolled back: a database "
            "error was caught outside of a savepoint, or set_rollback() was called. Put "
            "statements that may fail into `with transaction.atomic():`, or do not catch the "
            "error."
        )


def _hand_over(state: SegmentState) -> None:
    """Leave the next steps to other workers, because the module's own hooks run after the commit.

    While these hooks run, the lease of a claimed next step would not be renewed.
    """
    state.stays, state.hands_over = False, True
    if state.pack is not None:
        state.pack.hand_back()


def _status() -> TransactionStatus | None:
    """Return the transaction's state as the driver knows it; None if no connection is open."""
    raw: Any = connection.connection
    return None if raw is None or raw.closed else raw.info.transaction_status
