"""The workspaces whose rows this request can see, as PostgreSQL is told with each transaction.

Within `limited` every transaction of our connections begins as the role `scoped_role()`, for which
the policies of `row_policies` hold, and with the list of workspaces. Both are set for that
transaction alone, in the round trip of its first statement: no connection keeps anything for the
next request, whatever ends this one, and a pooler may share it between transactions.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from django.db.backends.signals import connection_created

from executions.configuration import settings as valkyr_settings
from executions.database.connections import REPLICA
from executions.database.names import named
from executions.database.routing import alias
from executions.vendor_seams.psycopg_scoped import Prefix, has_failed, in_transaction, watch

# The parameter that policies read.
WORKSPACES = "valkyr.workspaces"
# The sub-select sees all memberships: whose rows a statement sees is decided before it begins.
OF_MEMBER = """
SELECT set_config('role', %s, true), set_config('valkyr.workspaces', (
    SELECT coalesce(array_agg(m.workspace_id), '{}')::text
      FROM executions_membership m
     WHERE m.user_id = %s
), true)
"""
OF_WORKSPACE = (
    "SELECT set_config('role', %s, true), set_config('valkyr.workspaces', ARRAY[%s::uuid]::text,"
    " true)"
)
OF_ALL = "SELECT set_config('role', 'none', true), set_config('valkyr.workspaces', '', true)"


@dataclass(frozen=True, slots=True, eq=False)
class RowScope:
    """The workspaces of one account, as they are when a transaction begins; or one `workspace`."""

    user_id: Any
    workspace_id: UUID | None = None

    def statement(self) -> Prefix:
        """What begins a transaction."""
        if self.workspace_id is not None:
            return OF_WORKSPACE, (scoped_role(), self.workspace_id)
        return _of_member(), (scoped_role(), self.user_id)


_current: ContextVar[RowScope | None] = ContextVar("row_scope", default=None)
# A connection's attribute: the scope of the transaction that is open.
SET = "valkyr_scope"
UNKNOWN = object()


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
        connection_created.connect(_watch, dispatch_uid="executions.database.row_scope")


def _watch(connection: Any, **_: Any) -> None:
    if connection.alias in (alias(), REPLICA):
        watch(connection.connection, ScopeWatcher())


class ScopeWatcher:
    """Knows the scope of the transaction that is open on a connection."""

    def __call__(self, connection: Any) -> list[Prefix]:
        """What has to be set before the next statement."""
        wanted = _current.get()
        found: list[Prefix] = []
        if in_transaction(connection):
            known = getattr(connection, SET, UNKNOWN)
            if known is wanted:
                return found
            # What another scope would show of the memberships is not enough to choose from.
            found = [] if known is None else [(OF_ALL, ())]
        elif has_failed(connection):
            # Nothing is taken now, and what was set may be undone with a savepoint.
            self.forget(connection)
            return found
        setattr(connection, SET, wanted)
        return found if wanted is None else [*found, wanted.statement()]

    def forget(self, connection: Any) -> None:
        """Set it anew before the next statement: a savepoint may have undone it."""
        setattr(connection, SET, UNKNOWN)

    def is_at_work(self) -> bool:
        """Whether statements are limited now."""
        return _current.get() is not None


@cache
def _of_member() -> str:
    return named(OF_MEMBER)
