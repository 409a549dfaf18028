"""The ports of this app: typed functions that a higher app provides.

A signal notifies all listeners; a port returns an answer. The app that provides a port does so in
its `AppConfig.ready`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured

P = ParamSpec("P")
R = TypeVar("R")


class Port(Generic[P, R]):
    """A function that another app provides, once.

    A call before it is provided raises ImproperlyConfigured, which names the missing app.
    """

    def __init__(self, name: str, app: str) -> None:
        self._name, self._app = name, app
        self._function: Callable[P, R] | None = None

    def provide(self, function: Callable[P, R]) -> Callable[P, R]:
        """Provide the function; usable as a decorator.

        Raises ImproperlyConfigured if another function is provided already.
        """
        if self._function is not None and self._function is not function:
            raise ImproperlyConfigured(
                f"The port {self._name} is provided twice: by {self._function!r} and {function!r}."
            )
        self._function = function
        return function

    @property
    def provided(self) -> bool:
        """Return whether an installed app provides the function; an optional app may be absent."""
        return self._function is not None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the provided function. Raises ImproperlyConfigured if there is none."""
        if self._function is None:
            raise ImproperlyConfigured(
                f"Nothing provides {self._name}. Add {self._app!r} to INSTALLED_APPS."
            )
        return self._function(*args, **kwargs)


first_runs: Port[[Sequence[Any]], Sequence[Any]] = Port("executions.ports.first_runs", "runners")
"""Return the statements (`BoundStatement`) that insert fresh executions' first runs (`Admitted`).

Run them in the transaction that admits, before `execution_admitted` is sent. Messages go out after
the commit.
"""

begin: Port[[Sequence[Any]], None] = Port("executions.ports.begin", "runners")
"""Wake those of admitted executions (`Admitted`) that ran before, and end those without tasks.

Run it in the transaction that admits, before `execution_admitted` is sent. For fresh executions
that have tasks it does nothing.
"""

end_runs: Port[[UUID], Any] = Port("executions.ports.end_runs", "runners")
"""End the live runs of an execution that is over, whose row is locked; return its figures."""

stop_to_undo: Port[[UUID], bool] = Port("executions.ports.stop_to_undo", "runners")
"""End the live runs of an execution that is to be undone, whose row is locked.

Those that run and would have to be undone may end. False, with nothing done, where no step that
has an undo succeeded or runs. After the commit the execution is planned.
"""

failed_step: Port[[UUID], dict[str, str] | None] = Port("executions.ports.failed_step", "runners")
"""Return the step that failed an execution, and its class of error; None without one."""

second_factor: Port[[Any, str, Any], None] = Port("executions.ports.second_factor", "mfa")
"""Check what an account that gave its password needs besides, given a code ("" without one).

Arguments are the account, the code and the request. Raises TokenRefused. Optional.
"""

trace_headers: Port[[], dict[str, str]] = Port("executions.ports.trace_headers", "telemetry")
"""Return headers that name the present span; none outside of one. Optional."""

open_payload: Port[[Any, str, str, Any], Any] = Port("executions.ports.open_payload", "executions")
"""Open a value of a row's sealed column, if it is sealed. Raises SealBroken.

Arguments are the row, the column, its form (`sealed_columns`) and the value.
"""

seal_payload: Port[[Any, str, str, Any], Any] = Port("executions.ports.seal_payload", "executions")
"""Return what to store for a value of a row's sealed column; arguments as of `open_payload`."""

archived_execution: Port[[Any, UUID, Any], tuple[Any, Any]] = Port(
    "executions.ports.archived_execution", "archive"
)
"""Return an archived execution as a row that is not in the table, and the caller's `Powers` on it.

Arguments are the user, the ID and the `Action`. The row has the attributes `version_number`,
`version_kind` and `archived_at`. Raises NotFound and Forbidden before the archive is read, and
ArchiveUnavailable. Optional.
"""

archived_page: Port[[Any, str], str] = Port("executions.ports.archived_page", "archive")
"""Return the address of an archived execution's page in the admin, by the request and the ID.

"" if there is none that the user may see. Optional.
"""
