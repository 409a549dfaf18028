"""The journal of a step's agents: it returns recorded results, and records those of new calls.

Calls are numbered in their order, which is always the same, because an agent's tools run one after
another. A number is recorded once. If two processes make the same call, because one of them lost
its lease, both continue with the result recorded first.
"""

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from django.db import IntegrityError
from django.db.models import Max, QuerySet

from executions.public.database import in_a_thread, transaction
from runners.public.modules import ErrorType, StepContext, StepError, status_error_type
from valkyr_plugins.pydantic_agents.models import AgentUnit

MAX_UNITS = 1_000
MAX_BYTES = 5 * 1024 * 1024

_current: ContextVar["Journal | None"] = ContextVar("valkyr_agent_journal", default=None)


class Journal:
    """The recorded calls of one step, and the number of the next call."""

    def __init__(self, ctx: StepContext) -> None:
        self.ctx = ctx
        self.runs = 0  # number of agent runs in this step
        self._next = 0
        self._last: int | None = None  # number of the last recorded call

    async def unit(
        self,
        name: str,
        body: Callable[[], Awaitable[Any]],
        spent: Callable[[Any], None] | None = None,
    ) -> tuple[Any, bool]:
        """Return the result of the next call, and whether the call was made now.

        A new result is recorded before it is returned. `spent` reports the cost of a result, unless
        an earlier attempt reported it. Raises StepError if the step must stop, if a limit is
        exceeded, or if the agent's code has changed.
        """
        number, self._next = self._next, self._next + 1
        if self._last is None:
            self._last = await in_a_thread(self._last_recorded)
        # Read one result at a time: all results of a step can be larger than a worker's memory.
        found = None if number > self._last else await in_a_thread(partial(self._read, number))
        made = found is None
        if found is None:
            self._require_leave(number)
            unit = self._unit(number, name, await body())
            found = await in_a_thread(partial(_kept, unit))
        if found.name != name:
            raise StepError(
                f"call {number} of this step's agents was recorded as {found.name!r}, and is now "
                f"{name!r}: the agent's code has changed. Requeue the dead letter, which starts "
                "the agent again"
            )
        value = found.result["value"]
        # Report the cost only in the attempt that made the call: the costs of earlier attempts are
        # recorded already, except those that a crash lost.
        if spent is not None and found.attempt == self.ctx.attempt:
            spent(value)
        return value, made

    def next_run(self) -> str:
        """Return the ID of the step's next agent run, the same in each attempt."""
        self.runs += 1
        return f"{self.ctx.execution_id}:{self.ctx.idempotency_key[:16]}:{self.runs}"

    def _units(self) -> QuerySet[AgentUnit]:
        return AgentUnit.objects.filter(
            execution=self.ctx.execution_id, key=self.ctx.idempotency_key
        )

    def _last_recorded(self) -> int:
        last: int | None = self._units().aggregate(last=Max("number"))["last"]
        return -1 if last is None else last

    def _read(self, number: int) -> AgentUnit | None:
        # A call that raised an exception has no row.
        return self._units().select_related("execution").filter(number=number).first()

    def _require_leave(self, number: int) -> None:
        if self.ctx.cancelled():
            raise StepError(
                "the step must stop: it was cancelled or lost its lease", ErrorType.TRANSIENT
            )
        if number >= MAX_UNITS:
            raise StepError(
                f"the step's agents have made {MAX_UNITS:,} calls, the most that a step may "
                "record: set usage_limits, or divide the work among several steps"
            )

    def _unit(self, number: int, name: str, value: Any) -> AgentUnit:
        size = len(json.dumps(value))
        if size > MAX_BYTES:
            raise StepError(
                f"the result of {name} has {size:,} bytes; at most {MAX_BYTES:,} can be recorded: "
                "return less from the tool"
            )
        return AgentUnit(
            execution_id=self.ctx.execution_id,
            key=self.ctx.idempotency_key,
            number=number,
            name=name[:300],
            attempt=self.ctx.attempt,
            result={"value": value},
        )


def _kept(unit: AgentUnit) -> AgentUnit:
    """Store a call's record; return the valid record.

    Another process may have stored a record first, which is then the valid one.
    """
    try:
        with transaction.atomic():
            unit.save(force_insert=True)
    except IntegrityError:
        return AgentUnit.objects.select_related("execution").get(
            execution_id=unit.execution_id, key=unit.key, number=unit.number
        )
    return unit


def current() -> Journal | None:
    """Return the journal of the step that is running here; None outside `durable`."""
    return _current.get()


@contextmanager
def durable(ctx: StepContext) -> Iterator[None]:
    """Record the calls of agents that run in the block, for the step of this context.

    Raises StepError for a provider's HTTP error: overload is retried, and a wrong key is not.
    """
    token = _current.set(Journal(ctx))
    try:
        yield
    except Exception as error:
        status = getattr(error, "status_code", None)
        if type(error).__name__ == "ModelHTTPError" and isinstance(status, int):
            raise StepError(str(error)[:500], status_error_type(status)) from error
        raise
    finally:
        _current.reset(token)
