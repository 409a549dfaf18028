"""Create the role and the policies of row-level security, and report missing ones."""

from collections.abc import Iterator
from typing import Any

from django.core.checks import CheckMessage, Tags, register
from django.core.checks import Warning as Advice
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError
from django.db.models.signals import post_migrate

from executions.database import transaction
from executions.database.names import named
from executions.database.routing import aliases, connection, serving
from executions.database.row_policies import RESTRICTION, RowPolicy, policies
from executions.database.row_scope import OF_MEMBER, enabled, scoped_role

PAGE = "docs/how-to/row-level-security.md"
RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE")
# The PostgreSQL version from which SET ROLE is separate from the inheritance of privileges.
SEPARATED = 160000
ROLE = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = %s"
# Tables whose privileges the current role can grant; a project's own tables may have another owner.
TABLES = """
SELECT c.oid::regclass::text FROM pg_class c
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
   AND NOT c.relispartition -- read through its table, which has the policies
   AND pg_has_role(c.relowner, 'USAGE')
   AND NOT (has_table_privilege(%(role)s, c.oid, 'SELECT')
        AND has_table_privilege(%(role)s, c.oid, 'INSERT')
        AND has_table_privilege(%(role)s, c.oid, 'UPDATE')
        AND has_table_privilege(%(role)s, c.oid, 'DELETE'))
"""
SEQUENCES = """
SELECT c.oid::regclass::text FROM pg_class c
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'S'
   AND pg_has_role(c.relowner, 'USAGE')
   AND NOT CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(%(role)s, c.oid, 'USAGE') END
"""
IN_PLACE = """
SELECT c.relname, obj_description(p.oid, 'pg_policy')
  FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
 WHERE p.polname = %s AND c.relrowsecurity AND c.relnamespace = current_schema()::regnamespace
"""
EXISTING = """
SELECT c.relname FROM pg_class c
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
"""


def connect(app: Any) -> None:
    """Create the role and the policies after each `migrate`, if row-level security is on."""
    post_migrate.connect(_migrated, sender=app, dispatch_uid="executions.database.row_security")


def _migrated(using: str, **_: Any) -> None:
    if using in aliases() and enabled():
        with serving(using):
            install()


def install() -> list[str]:
    """Create the role, and missing or outdated policies; return the tables of these policies.

    Raises ImproperlyConfigured if the role bypasses policies, or, with the statements to run, if
    this session may not create or grant the role.
    """
    with transaction.atomic():
        _ensure_role()
        _ensure_member()
        _grant()
        _ensure_function()
        due = outdated()
        for policy in due:
            _execute(*policy.statements())
    return [policy.table for policy in due]


def remove() -> list[str]:
    """Drop Valkyr's policies and their function, and return the tables' names; keep the role."""
    tables = [str(name) for name, _ in _rows(IN_PLACE, [RESTRICTION])]
    with transaction.atomic():
        _execute(f"DROP FUNCTION IF EXISTS {OF_MEMBER}")
        for table in tables:
            quoted = connection.ops.quote_name(table)
            _execute(
                f"ALTER TABLE {quoted} DISABLE ROW LEVEL SECURITY",
                f"DROP POLICY IF EXISTS {RESTRICTION} ON {quoted}",
                f"DROP POLICY IF EXISTS valkyr_everybody ON {quoted}",
            )
    return tables


def outdated() -> list[RowPolicy]:
    """Return the policies of existing tables that are missing or outdated in PostgreSQL."""
    there = dict(_rows(IN_PLACE, [RESTRICTION]))
    existing = {name for (name,) in _rows(EXISTING, [])}
    wanted = (one for one in policies() if one.table in existing)
    return [one for one in wanted if there.get(one.table) != one.version]


def problems() -> Iterator[str]:
    """Query the database, and yield each reason why requests cannot be limited."""
    role = scoped_role()
    found = _rows(ROLE, [role])
    if not found:
        yield f"The role {role} is missing in PostgreSQL. {_by_hand()}"
        return
    if found[0][0]:
        yield f"The role {role} is not limited by policies: it is a superuser or has BYPASSRLS."
    if not _may_become(role):
        yield f"{_user()} cannot become {role}. {_by_hand()}"
    if not _rows("SELECT to_regproc(%s)", [OF_MEMBER])[0][0]:
        yield f"The function {OF_MEMBER} is missing in PostgreSQL. Run `migrate`."
    if names := [policy.table for policy in outdated()]:
        yield f"{len(names)} tables have no policy ({', '.join(names[:3])}). Run `migrate`."


@register(Tags.database)
def in_place(**_: Any) -> list[CheckMessage]:
    """If row-level security is on, report each reason why requests cannot be limited."""
    found = problems() if enabled() else ()
    return [Advice(text, hint=f"See {PAGE}.", id="valkyr.W024") for text in found]


def _ensure_role() -> None:
    role = scoped_role()
    found = _rows(ROLE, [role])
    if not found:
        _privileged(f"CREATE ROLE {_quoted(role)} NOLOGIN")
    elif found[0][0]:
        raise ImproperlyConfigured(
            f"The role {role} in PostgreSQL is a superuser or has BYPASSRLS, so no policy limits "
            f"it; expected a role without both. See {PAGE}."
        )


def _ensure_member() -> None:
    role = scoped_role()
    if not _may_become(role):
        _privileged(_membership(role))


def _membership(role: str) -> str:
    options = " WITH INHERIT FALSE, SET TRUE" if _version() >= SEPARATED else ""
    return f"GRANT {_quoted(role)} TO {_quoted(_user())}{options}"


def _may_become(role: str) -> bool:
    how = "SET" if _version() >= SEPARATED else "MEMBER"
    return bool(_rows("SELECT pg_has_role(%s, %s)", [role, how])[0][0])


def _grant() -> None:
    role = scoped_role()
    quoted = _quoted(role)
    (schema,) = _rows("SELECT quote_ident(current_schema())", [])[0]
    _execute(f"GRANT USAGE ON SCHEMA {schema} TO {quoted}")
    for (table,) in _rows(TABLES, {"role": role}):
        _execute(f"GRANT {', '.join(RIGHTS)} ON {table} TO {quoted}")
    for (sequence,) in _rows(SEQUENCES, {"role": role}):
        _execute(f"GRANT USAGE ON SEQUENCE {sequence} TO {quoted}")


def _ensure_function() -> None:
    """Create the function with which the role of requests can list any member's workspaces.

    Without it, a session that is limited to one account could not be limited to another.
    """
    (schema,) = _rows("SELECT quote_ident(current_schema())", [])[0]
    table = f"{schema}.{named('executions_membership')}"
    function = f"{schema}.{OF_MEMBER}"
    person = named("{user_type}")
    body = (
        f"SELECT coalesce(array_agg(m.workspace_id), '{{}}')::text FROM {table} m"  # noqa: S608
        " WHERE m.user_id = member"
    )
    _execute(
        f"CREATE OR REPLACE FUNCTION {function}(member {person}) RETURNS text LANGUAGE plpgsql"
        " STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp"
        f" AS $$ BEGIN RETURN ({body}); END $$",
        f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC",
        f"GRANT EXECUTE ON FUNCTION {function} TO {_quoted(scoped_role())}",
    )


def _privileged(statement: str) -> None:
    """Run a statement that needs CREATEROLE. Raises ImproperlyConfigured if it fails."""
    try:
        with transaction.atomic():
            _execute(statement)
    except DatabaseError as error:
        raise ImproperlyConfigured(
            f"VALKYR_ROW_LEVEL_SECURITY needs the role {scoped_role()} in PostgreSQL, and "
            f"{_user()} may not create it: {str(error).strip()}. {_by_hand()}"
        ) from error


def _by_hand() -> str:
    """Return a sentence with the statements that a role with CREATEROLE must run."""
    role = scoped_role()
    return (
        f"Let a role with CREATEROLE run: CREATE ROLE {_quoted(role)} NOLOGIN; "
        f"{_membership(role)}; then run `migrate` again. See {PAGE}."
    )


def _user() -> str:
    return str(_rows("SELECT session_user", [])[0][0])


def _version() -> int:
    return int(connection.pg_version)  # type: ignore[attr-defined]


def _rows(sql: str, params: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params or None)
        rows: list[Any] = cursor.fetchall()
    return rows


def _execute(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
