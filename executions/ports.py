"""The ports of this app: typed functions that other code provides, usually a higher app.

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
    """A function that an app provides, once.

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
"""Return statements (`BoundStatement`) that insert the first runs of new executions (`Admitted`).

Run them in the transaction that admits the executions, before `execution_admitted` is sent. The
messages are sent after the commit.
"""

begin: Port[[Sequence[Any]], None] = Port("executions.ports.begin", "runners")
"""Wake admitted executions (`Admitted`) that ran before, and end new executions without tasks.

Call it in the transaction that admits the executions, before `execution_admitted` is sent. It does
nothing for new executions that have tasks.
"""

end_runs: Port[[UUID], Any] = Port("executions.ports.end_runs", "runners")
"""End the live runs of an execution that has ended; return its figures. Its row is locked."""

stop_to_undo: Port[[UUID], bool] = Port("executions.ports.stop_to_undo", "runners")
"""End the live runs of an execution that must be undone; plan the execution after the commit.

Running steps that have an undo may finish. Returns False, and changes nothing, if no step with an
undo succeeded or is running. The execution's row is locked.
"""

failed_step: Port[[UUID], dict[str, str] | None] = Port("executions.ports.failed_step", "runners")
"""Return the step whose failure ended an execution, and the error's class; None if none did."""

second_factor: Port[[Any, str, Any], None] = Port("executions.ports.second_factor", "mfa")
"""Check the second factor of an account whose password was correct, if it needs one.

The arguments are the account, the code (or "") and the request. Raises TokenRefused. Optional.
"""

trace_headers: Port[[], dict[str, str]] = Port("executions.ports.trace_headers", "telemetry")
"""Return headers that name the current span; {} if there is none. Optional."""

open_payload: Port[[Any, str, str, Any], Any] = Port("executions.ports.open_payload", "executions")
"""Return a value of a row's sealed column, opened if it is sealed. Raises SealBroken.

The arguments are the row, the column, its form (`sealed_columns`) and the value.
"""

seal_payload: Port[[Any, str, str, Any], Any] = Port("executions.ports.seal_payload", "executions")
"""Return the form in which a row's sealed column stores a value; arguments as in `open_payload`."""

archived_execution: Port[[Any, UUID, Any], tuple[Any, Any]] = Port(
    "executions.ports.archived_execution", "archive"
)
"""Return an archived execution as a row that is not in the table, and the caller's `Powers` on it.

The arguments are the user, the ID and the `Action`. The row has the attributes `version_number`,
`version_kind` and `archived_at`. Raises NotFound and Forbidden before the archive is read, and
ArchiveUnavailable. Optional.
"""

archived_page: Port[[Any, str], str] = Port("executions.ports.archived_page", "archive")
"""Return the address of an archived execution's page in the admin.

The arguments are the request and the ID. Returns "" if the user sees no such execution. Optional.
"""
