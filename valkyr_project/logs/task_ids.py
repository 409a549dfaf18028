"""Lines of a Celery task say which one it is."""

import threading
from contextvars import Token
from typing import Any

from celery.signals import task_postrun, task_prerun

from executions.observability import log_context

# Tasks whose first argument is an execution's id.
OF_AN_EXECUTION = ("runners.run_segment", "runners.advance")
_local = threading.local()


def begin(sender: Any = None, task_id: str = "", args: Any = (), **_: Any) -> None:
    """A task starts: its lines say which one it is."""
    name = getattr(sender, "name", "")
    more = {"execution_id": args[0]} if args and name in OF_AN_EXECUTION else {}
    _tokens().append(log_context.set_all({"task": name, "task_message": task_id, **more}))


def over(**_: Any) -> None:
    """The task is done: nothing of it clings to the next one in this thread."""
    if tokens := _tokens():
        log_context.reset(tokens.pop())


def _tokens() -> list[Token[Any]]:
    found: list[Token[Any]] = _local.__dict__.setdefault("tokens", [])
    return found


def connect() -> None:
    """Listen to Celery."""
    task_prerun.connect(begin, weak=False)
    task_postrun.connect(over, weak=False)
