"""The workspaces whose rows this request can see, as PostgreSQL is told before its statements.

Within `limited` every statement of our connections runs as the role `scoped_role()`, for which the
policies of `row_policies` hold, with the list of workspaces beside it. Each transaction sets its
scope for itself alone, in the round trip of its first statement. So no statement finds what another
request has left, however that ended, and whoever shares the session.
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
        watch(raw, ScopeWatcher())


# A savepoint that was undone may have taken the scope with it.
UNKNOWN = object()


class ScopeWatcher:
    """Knows the scope of the transaction that is open on one connection.

    A scope lasts until its transaction ends, so no session carries it to another request, nor does
    a pooler hand it to another client. A statement outside of a transaction is one by itself.
    """

    def __init__(self) -> None:
        """Begin without a transaction: all rows are seen."""
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
        """A savepoint may have undone what was set; set it again before the next statement."""
        self._known = UNKNOWN

    def is_at_work(self) -> bool:
        """Whether statements are limited now."""
        return _current.get() is not None


def _commands(known: Any, wanted: RowScope | None) -> tuple[bytes, ...]:
    """From the scope that is known to the one that is wanted."""
    # As another scope's role, memberships would be hidden.
    steps = [EVERYBODY] if known is not None else []
    if wanted is not None:
        steps.append(wanted.values)
    return tuple(SET.format(**step).encode() for step in steps)
