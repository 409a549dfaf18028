"""Allow rendering in workers and commands, but not while a request is handled.

A template is a tenant's code. The web process serves all tenants, so it renders nothing, except in
an `allowed` block: small values that a request needs, within `budget.WEB`.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from executions.definition.templating import budget

IN_WEB: bool = budget.process_is(budget.WEB_PROCESSES)
_refused: ContextVar[bool] = ContextVar("rendering_refused", default=IN_WEB)


class RenderedInRequest(RuntimeError):
    """A request tried to render a template. The mistake is in the calling code, not the request."""

    def __init__(self) -> None:
        super().__init__(
            "A template must not be rendered while a request is answered. Let a worker render "
            "it (see executions/jobs), or plan from the rows "
            "(runners.planning.plan_execution)."
        )


def renders_here() -> bool:
    """Return whether templates may be rendered now."""
    return not _refused.get()


def check() -> None:
    """Raise RenderedInRequest if templates may not be rendered."""
    if _refused.get():
        raise RenderedInRequest


class TimeSpent(Exception):
    """The templates of one request, or of one message, have used up their time."""


class Allowance:
    """The CPU time for rendering in one request or, with `workers`, in one message.

    `seconds` is checked before each rendering, so the first rendering always runs. Without
    `workers`, the time is limited only where rendering is otherwise forbidden.
    """

    def __init__(self, seconds: float, *, workers: bool = False) -> None:
        self.seconds = seconds
        self._workers = workers
        self._spent = 0.0

    @contextmanager
    def rendering(self) -> Iterator[None]:
        """Allow rendering in this block. Raises TimeSpent if no time is left."""
        if renders_here() and not self._workers:
            yield
            return
        if self._spent > self.seconds:
            raise TimeSpent
        began = time.thread_time()
        try:
            with allowed():
                yield
        finally:
            self._spent += time.thread_time() - began


@contextmanager
def refused() -> Iterator[None]:
    """Forbid rendering in this block, which handles a request."""
    token = _refused.set(True)
    try:
        yield
    finally:
        _refused.reset(token)


def guarded(view: Callable[..., Any]) -> Callable[..., Any]:
    """Return a view that forbids rendering while `view` runs."""

    @wraps(view)
    def answering(*args: Any, **named: Any) -> Any:
        with refused():
            return view(*args, **named)

    return answering


@contextmanager
def allowed() -> Iterator[None]:
    """Allow rendering in this block; the caller limits the amount (`budget.RenderBudget`)."""
    token = _refused.set(False)
    try:
        yield
    finally:
        _refused.reset(token)
