"""Create, change and drop the login roles of BI tools, with the workspaces they can read.

A role is a member of no other role and can only read the views. Its workspaces are rows of
`SqlGrant`, so a change takes effect with the next statement of each open session.
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from executions.public.access import Actor, record
from executions.public.database import connection, transaction
from executions.public.errors import NotFound, ValkyrError
from executions.public.models import Workspace
from valkyr_plugins.sql_views import installing
from valkyr_plugins.sql_views.conf import schema
from valkyr_plugins.sql_views.installing import execute, privileged, quoted, rows
from valkyr_plugins.sql_views.models import SqlGrant

NAME = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
# Relations in the tables' schema that the role can already read, for example through PUBLIC.
READABLE = """
SELECT c.relname FROM pg_class c
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
   AND (has_table_privilege(%(role)s, c.oid, 'SELECT, INSERT, UPDATE, DELETE')
     OR has_any_column_privilege(%(role)s, c.oid, 'SELECT'))
 ORDER BY c.relname LIMIT 5
"""
OF_ROLE = """
SELECT r.rolconnlimit, coalesce(shobj_description(r.oid, 'pg_authid'), '') FROM pg_roles r
 WHERE r.rolname = %s
"""
DEFAULT_SECONDS, DEFAULT_CONNECTIONS = 60.0, 5
LOGIN = (
    "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS "
    "CONNECTION LIMIT {connections} PASSWORD '{password}'"
)


@dataclass(frozen=True, slots=True)
class RoleLimits:
    """The limits of a login role: seconds per statement, and concurrent connections.

    None keeps the limit of an existing role; a new role gets 60 s and 5 connections.
    """

    seconds: float | None = None
    connections: int | None = None

    def of_new_role(self) -> "RoleLimits":
        """Return these limits with the defaults in place of None."""
        return RoleLimits(
            DEFAULT_SECONDS if self.seconds is None else self.seconds,
            DEFAULT_CONNECTIONS if self.connections is None else self.connections,
        )


@dataclass(frozen=True, slots=True)
class GrantedRole:
    """A login role, its workspaces' slugs, and its maximum number of connections.

    `connections` is None if the role is missing in PostgreSQL.
    """

    role: str
    workspaces: list[str]
    connections: int | None


def grant(
    role: str, slugs: Sequence[str], limits: RoleLimits, *, actor: Actor, reason: str = ""
) -> str:
    """Let a role also read these workspaces; create the role if it is missing, and set its limits.

    Return the password of a new role, or "" for an existing role. Raises NotFound for an unknown
    workspace, ValkyrError for a role that cannot be used, and ImproperlyConfigured if Valkyr's
    PostgreSQL role lacks rights.
    """
    if not NAME.fullmatch(role):
        raise ValkyrError(
            f"The role's name {role!r} is not valid; expected up to 63 lower-case letters, digits "
            "and underscores that do not begin with a digit or `pg_`."
        )
    places = [_workspace(slug) for slug in dict.fromkeys(slugs)]
    with transaction.atomic():
        installing.install()
        password = _ensure_role(role, limits)
        installing.grant_views(role)
        _refuse_readable(role)
        for place in places:
            _, new = SqlGrant.objects.get_or_create(
                role=role, workspace=place, defaults={"created_by_name": actor.name[:200]}
            )
            if new:
                _note("sql_role.grant", role, place.pk, actor, reason)
    return password


def revoke(role: str, slugs: Sequence[str], *, actor: Actor, reason: str = "") -> bool:
    """Revoke a role's access to these workspaces, or to all if `slugs` is empty.

    Drop the role and return True if no grant is left. Raises NotFound for an unknown workspace or
    if there is no such grant, and ImproperlyConfigured if Valkyr cannot drop the role.
    """
    places = [_workspace(slug).pk for slug in slugs]
    with transaction.atomic():
        held = SqlGrant.objects.filter(role=role)
        found = list(held.filter(workspace__in=places) if places else held)
        if not found:
            raise NotFound(
                f"The role {role} has no such grant. `manage.py valkyr_views list` shows all."
            )
        for one in found:
            _note("sql_role.revoke", role, one.workspace_id, actor, reason)
        SqlGrant.objects.filter(pk__in=[one.pk for one in found]).delete()
        if SqlGrant.objects.filter(role=role).exists():
            return False
        if rows(OF_ROLE, [role]):
            installing.revoke_views(role)
            privileged(
                f"DROP ROLE {quoted(role)}",
                "Revoke what else was granted to the role, then run the command again.",
            )
    return True


def granted() -> list[GrantedRole]:
    """Return the login roles with their workspaces."""
    found: dict[str, list[str]] = {}
    for role, slug in SqlGrant.objects.values_list("role", "workspace__slug").order_by(
        "role", "workspace__slug"
    ):
        found.setdefault(role, []).append(slug)
    there = dict(
        rows(
            "SELECT rolname, rolconnlimit FROM pg_roles WHERE rolname = ANY(%s)",
            [list(found)],
        )
    )
    return [GrantedRole(role, slugs, there.get(role)) for role, slugs in found.items()]


def _workspace(slug: str) -> Workspace:
    found = Workspace.objects.filter(slug=slug).first()
    if found is None:
        raise NotFound(f"There is no workspace {slug!r}.")
    return found


def _ensure_role(role: str, limits: RoleLimits) -> str:
    """Create the role, or update the given limits; return the password of a new role, or "".

    Raises ValkyrError if the role exists but was not created by this command for this database.
    """
    (database,) = rows("SELECT current_database()", [])[0]
    mark = f"{installing.MARK}of {database}"
    found = rows(OF_ROLE, [role])
    if found:
        if found[0][1] != mark:
            raise ValkyrError(
                f"The role {role} exists in PostgreSQL and was not created by this command for "
                f"the database {database}, so it may have other rights. Choose another name."
            )
        password = ""
    else:
        limits = limits.of_new_role()
        password = secrets.token_urlsafe(24)
        attributes = LOGIN.format(
            connections=limits.connections, password=_encrypted(role, password)
        )
        remedy = "Give Valkyr's role CREATEROLE, or run the command with an administrator's."
        privileged(f"CREATE ROLE {quoted(role)} {attributes}", remedy)
        execute(f"COMMENT ON ROLE {quoted(role)} IS '{mark}'")
    for name, value in _session(limits).items():
        execute(f"ALTER ROLE {quoted(role)} IN DATABASE {quoted(database)} SET {name} = {value}")
    if limits.connections is not None:
        execute(f"ALTER ROLE {quoted(role)} CONNECTION LIMIT {limits.connections}")
    return password


def _session(limits: RoleLimits) -> dict[str, str]:
    """Return the settings of the role's sessions; they protect the server, not the rows."""
    settings = {
        "default_transaction_read_only": "on",
        "idle_in_transaction_session_timeout": "'60s'",
        "lock_timeout": "'3s'",
        "search_path": quoted(schema()),
    }
    if limits.seconds is not None:
        settings["statement_timeout"] = f"'{round(limits.seconds * 1000)}ms'"
    return settings


def _encrypted(role: str, password: str) -> str:
    """Return the password as PostgreSQL stores it, so that no server log contains the password."""
    connection.ensure_connection()
    raw: Any = connection.connection
    made: bytes = raw.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
    return made.decode()


def _refuse_readable(role: str) -> None:
    """Raise ValkyrError if the role could read a table without the views."""
    found = rows(READABLE, {"role": role})
    if found:
        names = ", ".join(name for (name,) in found)
        raise ValkyrError(
            f"The role {role} could read these tables without the views: {names}. They are "
            "granted to PUBLIC or to this role. Revoke that, then run the command again."
        )


def _note(action: str, role: str, workspace_id: Any, actor: Actor, reason: str) -> None:
    record(
        actor,
        action,
        workspace_id=workspace_id,
        object_type=SqlGrant.AUDITED_AS,
        object_id=role,
        reason=reason,
    )
