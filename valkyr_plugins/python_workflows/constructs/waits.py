"""Waits: for a time, a person, an event, or a call from another system.

Outside `parallel()`, a wait is a barrier: it runs after all code above and before all code below.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from valkyr_plugins.python_workflows.constructs.branches import outcome
from valkyr_plugins.python_workflows.tracing.graph import TracedTask
from valkyr_plugins.python_workflows.tracing.handles import HandleFacts, ValueHandle, facts_of
from valkyr_plugins.python_workflows.tracing.options import CallOptions, Span, listed, seconds
from valkyr_plugins.python_workflows.tracing.trace import address_of, output_of, tracing


class Waited:
    """The result of a wait; its attributes are the fields of the wait's output."""

    def __init__(self, task: TracedTask) -> None:
        self._task = task

    def __valkyr_facts__(self) -> HandleFacts:
        facts = facts_of(output_of(self._task))
        assert facts is not None
        return facts

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(output_of(self._task), name)

    def _ended(self, how: str) -> bool:
        return cast("bool", outcome(self) == how)

    @property
    def timed_out(self) -> bool:
        """Return the branch that runs if nothing arrives in time."""
        return self._ended("timeout")


class TracedApproval(Waited):
    """A decision: `comment`, `by`, `at`, and the branches `approved`, `rejected` and `expired`."""

    @property
    def approved(self) -> bool:
        """Return the branch for an approval; later tasks follow it by default."""
        return self._ended("approved")

    @property
    def rejected(self) -> bool:
        """Return the branch for a rejection."""
        return self._ended("rejected")

    @property
    def expired(self) -> bool:
        """Return the branch for an approval that expired."""
        return self._ended("expired")


def sleep(span: Span | None = None, *, until: str | datetime | None = None, **options: Any) -> Any:
    """Wait for a duration ("5m", seconds, a timedelta or a handle), or until a time."""
    given = {"seconds": seconds(span), "until": until}
    task = _wait("flow.delay", given, options, "sleep")
    return Waited(task)


def approve(
    title: str,
    *,
    within: Span | None = None,
    approvers: str | Sequence[str] = (),
    description: str = "",
    **options: Any,
) -> TracedApproval:
    """Wait for a person's approval.

    By default, the steps after this call run only if the approval is given. For the other
    outcomes, use `rejected` and `expired` of the result.
    """
    given = {
        "title": title,
        "description": description or None,
        "approvers": listed(approvers) or None,
        "expiresSeconds": seconds(within),
    }
    return TracedApproval(_wait("flow.approval", given, options, "approve", ("approved",)))


def wait_event(
    name: str, *, where: str | bool | None = None, within: Span | None = None, **options: Any
) -> Any:
    """Wait for an event in the workspace, or for a signal; `where` is a condition on `event`."""
    given = {"event": name, "filter": where, "timeoutSeconds": seconds(within)}
    return Waited(_wait("flow.wait_for_event", given, options, "wait_event"))


event: Any = ValueHandle(HandleFacts("event"))
"""The payload of an event, in `where=` of `wait_event` and in triggers."""


class TracedCallback(Waited):
    """An address that can be called once: send its `url`, then `wait()` for the call."""

    def __init__(self, task: TracedTask, given: Mapping[str, Any], options: CallOptions) -> None:
        super().__init__(task)
        self._given = given
        self._options = options

    @property
    def url(self) -> str:
        """Return the address, which is known before the wait begins."""
        return cast("str", ValueHandle(HandleFacts(f"{address_of(self._task)}.callbackUrl")))

    def wait(self) -> "TracedCallback":
        """Wait for the call; its body is `payload`."""
        tracing().add("flow.callback", self._given, self._options, task=self._task, line=True)
        return self


def callback(title: str = "", *, within: Span | None = None, **options: Any) -> TracedCallback:
    """Return an address that another system can call once."""
    given = {"title": title or None, "timeoutSeconds": seconds(within)}
    kept = {key: value for key, value in given.items() if value is not None}
    chosen = CallOptions.of(options)
    return TracedCallback(tracing().reserve(chosen, "callback"), kept, chosen)


def _wait(
    use: str,
    given: Mapping[str, Any],
    options: Mapping[str, Any],
    name: str,
    leads_on: tuple[str, ...] = ("success",),
) -> TracedTask:
    config = {key: value for key, value in given.items() if value is not None}
    return tracing().add(
        use, config, CallOptions.of(options), name=name, line=True, leads_on=leads_on
    )


__all__ = [
    "TracedApproval",
    "TracedCallback",
    "Waited",
    "approve",
    "callback",
    "event",
    "sleep",
    "wait_event",
]
