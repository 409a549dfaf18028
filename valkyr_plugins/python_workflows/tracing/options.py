"""The options of one task in addition to its inputs: id, order, retry, timeout and others."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from difflib import get_close_matches
from typing import Any

from valkyr_plugins.python_workflows.tracing.places import TracingError

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|w)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}

Span = float | str | timedelta
"""A duration: seconds, a timedelta, or a text such as "30s", "5m", "2h" or "1d"."""


@dataclass(frozen=True, slots=True)
class CallOptions:
    """The options of one call; omitted options are None or "".

    `id` and `title` name the task for programs and users. `after` are handles and branches that
    lead to the task, in place of the code's order; with an empty list, only used results lead to
    it. `join` is `any` or `all`. `retry` is a policy's name, a number of attempts, or your own
    values. `timeout`, `cache` and `circuit_wait` are durations; `cache` may also be a mapping.
    `undo` is a step, or a function of the task's result that calls one.
    """

    id: str = ""
    title: str = ""
    after: Any = None
    join: str = ""
    retry: str | int | Mapping[str, Any] | None = None
    timeout: Span | None = None
    cache: Span | Mapping[str, Any] | None = None
    queue: str = ""
    credential: str = ""
    circuit_wait: Span | None = None
    undo: Any = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "CallOptions":
        """Return the options that the mapping contains. Raises TracingError for an unknown name."""
        known = [one.name for one in fields(cls)]
        for name in given:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"
                raise TracingError(f"a call has no option {name!r}{hint}")
        after = given.get("after")
        listed = after is None or isinstance(after, list | tuple)
        return cls(**{**given, "after": after if listed else [after]})

    def document(self) -> dict[str, Any]:
        """Return a task's keys for these options, without `id`, `join`, `after` and `undo`.

        Raises TracingError for an invalid duration.
        """
        found: dict[str, Any] = {}
        if self.title:
            found["name"] = self.title
        if self.credential:
            found["credential"] = self.credential
        if self.retry is not None:
            found["retry"] = {"maxAttempts": self.retry} if _is_count(self.retry) else self.retry
        if self.timeout is not None:
            found["timeoutSeconds"] = seconds(self.timeout)
        if self.queue:
            found["queue"] = self.queue
        if self.cache is not None:
            kept = self.cache if isinstance(self.cache, Mapping) else None
            found["cache"] = dict(kept) if kept else {"ttlSeconds": seconds(self.cache)}
        if self.circuit_wait is not None:
            found["circuitWaitSeconds"] = seconds(self.circuit_wait)
        return found


NONE = CallOptions()


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def seconds(span: Any) -> Any:
    """Return a duration in seconds; return numbers and handles unchanged. Raises TracingError."""
    if isinstance(span, timedelta):
        return _whole(span.total_seconds())
    if not isinstance(span, str) or "{{" in span:
        return span
    parts = _SPAN.findall(span)
    if not parts or _SPAN.sub("", span).strip():
        raise TracingError(
            "a duration must be seconds, a timedelta, or a string such as 30s, 5m, 2h or "
            f"1d12h; found {span!r}"
        )
    return _whole(sum(float(number) * _SECONDS[unit] for number, unit in parts))


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value


def listed(value: Any) -> Sequence[Any]:
    """Return a list or tuple unchanged, and any other value in a list."""
    return value if isinstance(value, list | tuple) else [value]
