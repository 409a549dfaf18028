"""The handle of a started execution, with which code reads its state and output or cancels it."""

import asyncio
import time
from collections.abc import Generator, Iterator
from typing import Any
from uuid import UUID

from executions import lifecycle
from executions.access.actor import Actor
from executions.database import transaction
from executions.database.routing import connection
from executions.database.threads import in_a_thread
from executions.errors import NotFound, ValkyrError
from executions.models import WorkflowExecution
from executions.ports import failed_step
from executions.sealing.sealer import opened, opened_text
from executions.states import FINAL, ExecutionState

ACTOR = Actor.system("code")
# Seconds between two checks, at first and at most; each pause is 1.5 times as long as the previous.
FIRST_LOOK, LONGEST_LOOK = 0.01, 1.0


class ExecutionFailed(ValkyrError):
    """An execution ended without success.

    `state` is FAILED, CANCELLED or TIMEOUT; only FAILED can have a `step` and an `error_type`.
    """

    code = "execution_failed"

    def __init__(self, execution_id: UUID, state: str, step: str, error_type: str, why: str):
        at = f" at step {step!r} ({error_type})" if step else ""
        super().__init__(f"Execution {execution_id} ended {state}{at}: {why or 'no message'}")
        self.execution_id, self.state = execution_id, state
        self.step, self.error_type, self.reason = step, error_type, why


class Handle:
    """One execution, identified by its `id`; other values are read from the database on access.

    `await handle` returns the output, as `output()` does.
    """

    __slots__ = ("id",)

    def __init__(self, execution_id: UUID) -> None:
        self.id = execution_id

    def __repr__(self) -> str:
        return f"Handle({str(self.id)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Handle) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def state(self) -> str:
        """Return the current state from the database. Raises NotFound."""
        return str(self._values("state")[0])

    def output(self, timeout: float | None = None) -> Any:
        """Wait until the execution ends and return the output.

        `timeout` is in seconds; with None, the wait has no limit. 0 checks once. Raises
        ExecutionFailed, TimeoutError, NotFound, and, before the end, TransactionManagementError
        inside a transaction, which would stay open during the wait and may delay the start.
        """
        until, pauses = None if timeout is None else time.monotonic() + timeout, _pauses()
        while not self._has_ended():
            pause = next(pauses)
            if connection.in_atomic_block:
                raise transaction.TransactionManagementError(
                    f"Execution {self.id} has not ended, and a transaction is open here. Wait "
                    "for its output after the atomic block, because workers see a start only "
                    "after its commit."
                )
            left = pause if until is None else until - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"Execution {self.id} has not ended within {timeout:g} s.")
            time.sleep(min(pause, left))
        return self._result()

    def cancel(self, reason: str = "") -> None:
        """Cancel the execution. Raises NotFound, or WrongState if it ended or is being undone."""
        lifecycle.cancel(self.id, actor=ACTOR, reason=reason)

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait for the end, then return the output; the wait holds no thread or connection."""
        return self._awaited().__await__()

    async def _awaited(self) -> Any:
        pauses = _pauses()
        while not await in_a_thread(self._has_ended):
            await asyncio.sleep(next(pauses))
        return await in_a_thread(self._result)

    def _has_ended(self) -> bool:
        return self._values("state")[0] in FINAL

    def _result(self) -> Any:
        state, output, message = self._values("state", "output", "error_message")
        if state == ExecutionState.SUCCESS:
            return opened(self.id, output, "output")
        message = opened_text(self.id, message, "error_message")
        found = failed_step(self.id) if state == ExecutionState.FAILED else None
        step = found or {"step": "", "type": ""}
        raise ExecutionFailed(self.id, state, step["step"], step["type"], message)

    def _values(self, *names: str) -> tuple[Any, ...]:
        row = WorkflowExecution.objects.filter(pk=self.id).values_list(*names).first()
        if row is None:
            raise NotFound(f"There is no execution {self.id}.")
        return tuple(row)


def _pauses() -> Iterator[float]:
    """Yield the seconds between checks, indefinitely."""
    pause = FIRST_LOOK
    while True:
        yield pause
        pause = min(pause * 1.5, LONGEST_LOOK)
