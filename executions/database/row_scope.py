"""The workspaces whose rows this request can see, set in PostgreSQL before its statements.

Within `limited`, every statement of our connections runs as the role `scoped_role()`, to which the
policies of `row_policies` apply, with the list of workspaces in a parameter. Each transaction sets
its own scope, in the round trip of its first statement. So no statement sees the scope of another
request, even if that request failed or shared the session.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.backends.signals import connection_created

from executions.configuration import settings as valkyr_settings
from executions.database.connections import REPLICA
from executions.database.names import named
from executions.database.routing import aliases
from executions.vendor_seams.psycopg_scoped import (
    has_failed,
    in_transaction,
    is_watched,
    literal,
    watch,
)

# The parameter that policies read.
WORKSPACES = "valkyr.workspaces"
SET = "SELECT set_config('role', {role}, true), set_config('valkyr.workspaces', {ids}, true)"
OF_MEMBER = (
    "(SELECT coalesce(array_agg(m.workspace_id), '{{}}')::text"
    " FROM executions_membership m WHERE m.user_id = {user})"
)
EVERYBODY = {"role": "'none'", "ids": "''"}


class RowScope:
    """The workspaces of an account at the time of its first statement, or one of them.

    Each request has its own scope, even for the same account.
    """

    def __init__(self, user_id: Any, workspace_id: UUID | None = None) -> None:
        """Create a scope, without a query; `workspace_id` limits it to one workspace."""
        self._user_id, self._workspace_id = user_id, workspace_id

    @cached_property
    def values(self) -> dict[str, str]:
        """Return the role and the list of workspaces, as SQL."""
        if self._workspace_id is not None:
            ids = literal(f"{{{self._workspace_id}}}")
        else:
            # Read with the session's own role: all memberships.
            ids = named(OF_MEMBER.format(user=literal(self._user_id)))
        return {"role": literal(scoped_role()), "ids": ids}


_current: ContextVar[RowScope | None] = ContextVar("row_scope", default=None)


def enabled() -> bool:
    """Return whether requests are limited to the rows of their workspaces."""
    return valkyr_settings().row_level_security


def scoped_role() -> str:
    """Return the role in PostgreSQL that statements of requests run as."""
    return valkyr_settings().row_level_security_role


@contextmanager
def limited(scope: RowScope | None) -> Iterator[None]:
    """Limit statements of the block to the rows of the scope; None does not limit them."""
    token = _current.set(scope)
    try:
        yield
    finally:
        _current.reset(token)


def limit(scope: RowScope | None) -> None:
    """Change the scope until the enclosing block of `limited` ends."""
    _current.set(scope)


def current() -> RowScope | None:
    """Return the current scope."""
    return _current.get()


def connect() -> None:
    """Make our connections set the scope; without the setting, do nothing."""
    if enabled():
        connection_created.connect(_connected, dispatch_uid="executions.database.row_scope")


def _connected(connection: Any, **_: Any) -> None:
    if connection.alias in (*aliases(), REPLICA):
        watch_connection(connection)


def watch_connection(connection: Any) -> None:
    """Make one of our connections set the scope before each statement."""
    raw = connection.connection
    if not is_watched(raw):
        watch(raw, ScopeWatcher())


# A rolled-back savepoint may have undone the scope too.
UNKNOWN = object()


class ScopeWatcher:
    """Tracks the scope of the transaction that is open on one connection.

    A scope lasts until its transaction ends, so neither a session nor a pooler carries it to
    another request. A statement outside a transaction is its own transaction.
    """

    def __init__(self) -> None:
        """Start without a transaction: all rows are visible."""
        self._known: Any = None

    def __call__(self, connection: Any) -> tuple[bytes, ...]:
        """Return the commands that set the scope of the next statement."""
        if has_failed(connection):
            self.forget()
            return ()
        known, wanted = self._known if in_transaction(connection) else None, _current.get()
        self._known = wanted
        return () if known is wanted else _commands(known, wanted)

    def forget(self) -> None:
        """Set the scope again before the next statement, because a savepoint may have undone it."""
        self._known = UNKNOWN

    def is_at_work(self) -> bool:
        """Return whether statements are currently limited."""
        return _current.get() is not None


def _commands(known: Any, wanted: RowScope | None) -> tuple[bytes, ...]:
    """Return the commands that change the scope from the known to the requested one."""
    # Under another scope's role, memberships would be hidden.
    steps = [EVERYBODY] if known is not None else []
    if wanted is not None:
        steps.append(wanted.values)
    return tuple(SET.format(**step).encode() for step in steps)
