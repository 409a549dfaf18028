"""The workspaces whose rows this request can see, set in PostgreSQL before its statements.

Within `limited`, every statement of Valkyr's connections runs as the role `scoped_role()`, to which
the policies of `row_policies` apply, with the list of workspaces in a parameter. Both are set for
the session, so later statements cost nothing extra. The statement that authenticates the caller
sets them; otherwise, a prepared statement sets them before the first statement that needs them.
Within an open transaction, and behind a pooler, which lends a session to others after each
transaction, they are set for the transaction, in the round trip of its next statement. Each request
has a separate scope, so it never uses the list of another request.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db import connections
from django.db.backends.signals import connection_created

from executions.configuration import settings as valkyr_settings
from executions.database.connections import REPLICA
from executions.database.routing import aliases
from executions.vendor_seams.psycopg_pipeline import DUE
from executions.vendor_seams.psycopg_scoped import (
    FAILED,
    IDLE,
    execute_prepared,
    is_direct,
    is_watched,
    literal,
    state,
    watch,
)

# The parameter that policies read.
WORKSPACES = "valkyr.workspaces"
# The function that returns a member's workspaces, regardless of what the current role can see.
OF_MEMBER = "valkyr_workspaces_of"
# Statements that set the role and the list of workspaces: LIST to the given list, MEMBER to the
# workspaces of the given member.
LIST, MEMBER = (
    f"SELECT set_config('role', {{role}}, {{local}}), set_config('{WORKSPACES}', {ids}, {{local}})"
    for ids in ("{value}", f"{OF_MEMBER}({{value}})")
)


class RowScope:
    """The workspaces of an account at the scope's first statement, or a single workspace.

    Each request has its own scope, even for the same account.
    """

    def __init__(self, user_id: Any, workspace_id: UUID | None = None) -> None:
        """Create a scope, without a query; with `workspace_id`, it contains only this workspace."""
        self._user_id, self._workspace_id = user_id, workspace_id

    @cached_property
    def setting(self) -> "Setting":
        """Return the statement that sets this scope, with its values."""
        if self._workspace_id is not None:
            return Setting(LIST, scoped_role(), f"{{{self._workspace_id}}}")
        return Setting(MEMBER, scoped_role(), str(self._user_id))


@dataclass(frozen=True, slots=True)
class Setting:
    """A statement that sets a role and a list of workspaces; `value` is the list or a user's ID."""

    statement: str
    role: str
    value: str

    def of_session(self) -> tuple[str, list[str]]:
        """Return a command to prepare, which sets the session's scope, and its parameters."""
        command = self.statement.format(role="$1", value="$2", local="false")
        return command, [self.role, self.value]

    def of_transaction(self) -> bytes:
        """Return the command that sets the scope until the open transaction ends."""
        given = {"role": literal(self.role), "value": literal(self.value), "local": "true"}
        return self.statement.format(**given).encode()


EVERYBODY = Setting(LIST, "none", "")


# The scope for statements on tables without a policy, which can run in any scope.
ANY = RowScope(None)
_current: ContextVar[RowScope | None] = ContextVar("row_scope", default=None)


def enabled() -> bool:
    """Return whether requests are limited to the rows of their workspaces."""
    return valkyr_settings().row_level_security


def scoped_role() -> str:
    """Return the PostgreSQL role that runs the statements of requests."""
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
    """Return the current scope; None if statements are not limited."""
    return _current.get()


def connect() -> None:
    """If row-level security is on, make Valkyr's new connections set the scope."""
    if enabled():
        connection_created.connect(_connected, dispatch_uid="executions.database.row_scope")


def _connected(connection: Any, **_: Any) -> None:
    if connection.alias in (*aliases(), REPLICA):
        watch_connection(connection)


def watch_connection(connection: Any) -> None:
    """Make one of Valkyr's connections set the scope before each statement."""
    raw = connection.connection
    if not is_watched(raw):
        watch(raw, ScopeWatcher())


def settable(of: str) -> "ScopeWatcher | None":
    """Return the watcher of an alias's session, if a statement can set the session's scope.

    Return None if row-level security is off, within a transaction, or behind a pooler.
    """
    if not enabled():
        return None
    django = connections[of]
    with django.wrap_database_errors:
        django.ensure_connection()
        watcher: ScopeWatcher | None = getattr(django.connection, DUE, None)
        usable = watcher is not None and watcher.can_be_set(django.connection)
    return watcher if usable else None


# Means that the session's scope is unknown.
UNKNOWN = object()


class ScopeWatcher:
    """Tracks the scope that is set in one session.

    Between transactions, the scope is set for the session, unless a pooler lends the session to
    others. Within a transaction, and behind such a pooler, it is set until the transaction ends.
    """

    def __init__(self) -> None:
        """Start with a new session: all rows are visible."""
        self._session: Any = None
        self._transaction: Any = None  # the scope of the open transaction
        self._is_ours: bool | None = None  # whether no pooler shares the session; None if unknown

    def __call__(self, connection: Any) -> tuple[bytes, ...]:
        """Set the scope of the next statement, or return the commands that set it."""
        now, alone = state(connection), connection.autocommit
        if now == FAILED:
            self.forget()
            return ()
        known, wanted = self._known(now, alone), _current.get()
        if wanted is ANY:
            wanted = known
        self._transaction = wanted
        if known is wanted:
            return ()
        if now == IDLE and self._keeps(connection):
            self._set(connection, wanted)
            return ()
        return (_setting(wanted).of_transaction(),)

    def forget(self) -> None:
        """Forget the transaction's scope, because a rollback may have undone it.

        It is then set again before the next statement.
        """
        self._transaction = UNKNOWN

    def is_at_work(self) -> bool:
        """Return whether statements are currently limited."""
        return _current.get() is not None

    def can_be_set(self, connection: Any) -> bool:
        """Return whether a statement that sets the scope would set it for the session."""
        return connection.autocommit and state(connection) == IDLE and self._keeps(connection)

    def is_set_to(self, scope: Any) -> None:
        """Record the scope that a statement set for the session; before it runs, pass UNKNOWN."""
        self._session = scope

    def _known(self, now: int, alone: bool) -> Any:
        """Return the scope that is set in the session; UNKNOWN if it is uncertain."""
        if now == IDLE:
            return self._session
        # In autocommit mode (`alone`), psycopg began this transaction without this watcher.
        return UNKNOWN if alone else self._transaction

    def _keeps(self, connection: Any) -> bool:
        """Return whether this session keeps a scope until Valkyr sets another."""
        if self._is_ours is None:
            self._is_ours = is_direct(connection)
        return self._is_ours

    def _set(self, connection: Any, wanted: Any) -> None:
        """Set the session's scope; after an error, the scope is unknown."""
        self._session = UNKNOWN
        execute_prepared(connection, *_setting(wanted).of_session())
        self._session = wanted


def _setting(wanted: RowScope | None) -> Setting:
    return EVERYBODY if wanted is None else wanted.setting
