"""`OPTIONS` and `QUEUES` of a backend in `TASKS`: the valid values and their meaning.

This module is pure.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from executions.public.configuration import OWN_QUEUES

LONGEST_WAIT = timedelta(days=365)
# The engine's own queue, because a task there would delay the repair of all other work.
RESERVED = frozenset({"control"})
QUEUE_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")
NamedRetry = Literal["none", "standard", "patient", "llm"]


class RetryValues(BaseModel):
    """A retry policy with the keys of a workflow's `retry`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    maxAttempts: int = Field(3, ge=1, le=100)  # noqa: N815 - the format's spelling
    baseSeconds: float = Field(1, ge=0, le=86_400)  # noqa: N815
    maxSeconds: float | None = Field(None, ge=0, le=86_400)  # noqa: N815
    jitter: float = Field(0.1, ge=0, le=1)


class TaskOptions(BaseModel):
    """The validated `OPTIONS` of a backend.

    `retry_on` lists the paths of exceptions that are retried in addition to those that the engine
    classifies as transient. `timeout` is in seconds. `queues` maps the framework's queues to queues
    of the engine.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    retry: NamedRetry | RetryValues = "none"
    retry_on: tuple[str, ...] = ()
    timeout: float = Field(600, ge=0.1, le=600)
    workspace: str | None = Field(None, pattern=r"^[A-Za-z0-9_-]{1,80}$")
    queues: Mapping[str, str] = {}

    def queue(self, name: str) -> str:
        """Return the engine's queue for a queue of the framework."""
        return self.queues.get(name, name)


def read_options(options: Mapping[str, Any]) -> tuple[TaskOptions, list[str]]:
    """Return the options, and one sentence for each mistake.

    If there is a mistake, the returned options are the defaults.
    """
    try:
        return TaskOptions.model_validate(options), []
    except ValidationError as error:
        return TaskOptions(), [
            f"OPTIONS {'.'.join(map(str, one['loc']))!r}: {one['msg']}."
            for one in error.errors(include_url=False, include_input=False)
        ]


def queue_problem(name: str, options: TaskOptions) -> str:
    """Return the reason why tasks cannot use a queue; "" if they can."""
    queue = options.queue(name)
    if queue in RESERVED:
        return f"the queue {name!r} would be {queue!r}, which the engine reserves; choose another"
    if QUEUE_NAME.fullmatch(queue) is None:
        return (
            f"the queue {name!r} must have at most 100 letters, digits, _ and -; use another "
            "name, or map it in OPTIONS['queues']"
        )
    return ""


def unserved(queues: Iterable[str], options: TaskOptions) -> list[str]:
    """Return the engine's queues for these names, except those that Valkyr's own workers serve."""
    return sorted({options.queue(name) for name in queues} - OWN_QUEUES)


def engine_priority(priority: int) -> int:
    """Return the engine's priority (0 to 9) for a priority from -100 to 100.

    0 becomes 5, negative values become 0 to 4, and positive values become 6 to 9.
    """
    return 5 + priority // 20 if priority < 0 else 5 - (-priority // 25)
