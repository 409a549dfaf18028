"""Follow one execution to its end, reconnecting as often as necessary."""

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from valkyr.cli.errors import CliError, Exit

if TYPE_CHECKING:
    from valkyr.cli.client import ApiClient, StreamEvent

FINAL = frozenset({"SUCCESS", "FAILED", "CANCELLED", "TIMEOUT"})
# Seconds of silence after which the connection counts as lost; a server sends something every 15 s.
SILENCE = 30.0
# The pause between two connections, and the maximum time without a server, in seconds.
PAUSE, PATIENCE = 1.0, 60.0


def follow(
    api: "ApiClient", execution: str, deadline: float | None = None, *, known: bool = False
) -> Iterator["StreamEvent"]:
    """Yield the execution's events, up to and including `end`.

    Raises CliError (TIMED_OUT) after the monotonic `deadline`. If the execution is `known`, or
    after a first response, retries for up to 60 s while the server is unavailable.
    """
    path = f"/v1/WorkflowExecution/{execution}/subscribe"
    last, heard = "", time.monotonic() if known else None
    while True:
        try:
            for event in api.events(path, last, _silence(execution, deadline)):
                heard = time.monotonic()
                if event.name:
                    last = event.id
                    yield event
                if event.name == "end":
                    return
                if _left(deadline) < SILENCE:
                    break  # the next connection has a shorter read timeout
        except CliError as error:
            if heard is None or not _may_return(error) or time.monotonic() - heard > PATIENCE:
                raise
        time.sleep(max(0.0, min(PAUSE, _left(deadline))))


def until_end(api: "ApiClient", execution: str, seconds: float | None, progress: Any = None) -> Any:
    """Wait until the execution ends, and return the API's response about it.

    Raises CliError (TIMED_OUT) after `seconds`.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    runs: dict[str, dict[str, Any]] = {}
    for event in follow(api, execution, deadline, known=True):
        runs |= {run["id"]: run for run in event.data.get("runs", [])}
        if progress is not None:
            progress.update(_summary(runs))
    return patiently(lambda: api.get(f"/v1/WorkflowExecution/{execution}"))


def patiently(ask: Callable[[], Any]) -> Any:
    """Return the result of `ask`; retry for up to 60 s while the server is unavailable."""
    since = time.monotonic()
    while True:
        try:
            return ask()
        except CliError as error:
            if not _may_return(error) or time.monotonic() - since > PATIENCE:
                raise
        time.sleep(PAUSE)


def _summary(runs: dict[str, dict[str, Any]]) -> str:
    live = [run for run in runs.values() if not run["finishedAt"] and not run["superseded"]]
    done = sum(run["state"] == "SUCCESS" for run in runs.values())
    names = ", ".join(f"{run['stepPath']} {run['state'].lower()}" for run in live[:3])
    return f"{done} steps done" + (f"; {names}" if names else "")


def _left(deadline: float | None) -> float:
    return float("inf") if deadline is None else deadline - time.monotonic()


def _silence(execution: str, deadline: float | None) -> float:
    left = _left(deadline)
    if left <= 0:
        raise CliError(
            f"Execution {execution} has not ended in time; it continues.",
            Exit.TIMED_OUT,
            hint=(
                f"`valkyr why {execution}` shows what it waits for; `valkyr watch {execution}` "
                "follows it."
            ),
        )
    return min(SILENCE, left)


def _may_return(error: CliError) -> bool:
    """Return whether a retry may help: the server is unavailable or overloaded."""
    return error.code in {Exit.UNREACHABLE, Exit.LIMITED}
