"""The workspaces whose rows this request can see, as PostgreSQL is told before its statements.

Within `limited` every statement of our connections runs as the role `scoped_role()`, for which the
policies of `row_policies` hold, with the list of workspaces beside it. A connection knows which
scope its session has; where the next statement wants another, that is set in its round trip. So no
statement finds what a request before has left, however that ended. Behind a pooler a session is
nobody's: there each transaction sets its scope for itself alone.
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
from executions.database.routing import alias
from executions.vendor_seams.psycopg_pipeline import Due
from executions.vendor_seams.psycopg_scoped import (
    has_failed,
    in_transaction,
    is_watched,
    literal,
    watch,
)

# The parameter that policies read.
WORKSPACES = "valkyr.workspaces"
SET = "SELECT set_config('role', {role}, {local}), set_config('valkyr.workspaces', {ids}, {local})"
OF_MEMBER = (
    "(SELECT coalesce(array_agg(m.workspace_id), '{{}}')::text"
    " FROM executions_membership m WHERE m.user_id = {user})"
)
EVERYBODY = {"role": "'none'", "ids": "''"}


class RowScope:
    """The workspaces that an account is in when its first statement begins; or one of them.

    Two requests have two scopes, also of one account.
    """

    def __init__(self, user_id: Any, workspace_id: UUID | None = None) -> None:
        """Ask nothing yet; `workspace_id` limits it to one workspace."""
        self._user_id, self._workspace_id = user_id, workspace_id

    @cached_property
    def values(self) -> dict[str, str]:
        """The role and the workspaces, as SQL."""
        if self._workspace_id is not None:
            ids = literal(f"{{{self._workspace_id}}}")
        else:
            # Seen by the role that the session has by itself: all memberships.
            ids = named(OF_MEMBER.format(user=literal(self._user_id)))
        return {"role": literal(scoped_role()), "ids": ids}


_current: ContextVar[RowScope | None] = ContextVar("row_scope", default=None)


def enabled() -> bool:
    """Whether requests are limited to the rows of their workspaces."""
    return valkyr_settings().row_level_security


def scoped_role() -> str:
    """The role in PostgreSQL that statements of requests run as."""
    return valkyr_settings().row_level_security_role


@contextmanager
def limited(scope: RowScope | None) -> Iterator[None]:
    """Within it, statements see the rows of the scope; those of everybody where it is None."""
    token = _current.set(scope)
    try:
        yield
    finally:
        _current.reset(token)


def limit(scope: RowScope | None) -> None:
    """Go on within another scope, until the block of `limited` ends that this is in."""
    _current.set(scope)


def current() -> RowScope | None:
    """The scope of what runs now."""
    return _current.get()


def connect() -> None:
    """Let our connections ask; without the setting nothing does."""
    if enabled():
        connection_created.connect(_connected, dispatch_uid="executions.database.row_scope")


def _connected(connection: Any, **_: Any) -> None:
    if connection.alias in (alias(), REPLICA):
        watch_connection(connection)


def watch_connection(connection: Any) -> None:
    """Let one of our connections ask before each statement."""
    raw = connection.connection
    if not is_watched(raw):
        watch(raw, ScopeWatcher(pooled=bool(valkyr_settings().database_direct_url)))


# What is not a scope: nothing was set, or nobody knows what.
NOTHING, UNKNOWN = object(), object()


class ScopeWatcher:
    """Knows the scope of one session, and the one of the transaction that is open on it."""

    def __init__(self, *, pooled: bool) -> None:
        """A new session sees all rows; one that is `pooled` is never told otherwise."""
        self._pooled = pooled
        self._session: Any = None
        self._transaction: Any = NOTHING
        self._due: Any = NOTHING

    def __call__(self, connection: Any) -> Due | None:
        """What has to be set before the next statement."""
        wanted, self._due = _current.get(), NOTHING
        if in_transaction(connection):
            known = self._session if self._transaction is NOTHING else self._transaction
            if known is wanted:
                return None
            self._transaction = wanted
            return _due(known, wanted, apart=False)
        if has_failed(connection):
            self.forget()
            return None
        self._transaction = NOTHING
        if self._session is wanted:
            return None
        if self._pooled:
            self._transaction = wanted
            return _due(None, wanted, apart=False)
        known, self._session, self._due = self._session, UNKNOWN, wanted
        return _due(known, wanted, apart=True)

    def sent(self) -> None:
        """It is set for the session, where it was meant to be."""
        if self._due is not NOTHING:
            self._session, self._due = self._due, NOTHING

    def forget(self) -> None:
        """A savepoint may have undone what was set; set it anew before the next statement."""
        self._transaction = UNKNOWN

    def is_at_work(self) -> bool:
        """Whether statements are limited now."""
        return _current.get() is not None


def _due(known: Any, wanted: RowScope | None, *, apart: bool) -> Due:
    """From the scope that is known to the one that is wanted."""
    # As another scope's role, memberships would be hidden.
    steps = [EVERYBODY] if known is not None or wanted is None else []
    if wanted is not None:
        steps.append(wanted.values)
    local = "false" if apart else "true"
    return Due(tuple(SET.format(local=local, **step).encode() for step in steps), apart)
