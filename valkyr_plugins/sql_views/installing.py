"""Create the schema, its views and the reading role; drop and recreate the views around `migrate`.

The comment on the schema contains the names of the views that Valkyr created. Valkyr drops these
views, including those of a removed plugin, and no others.

The views belong to the owner of the tables and are security barriers. PostgreSQL applies the
condition on the workspace before any function or operator of the query that could reveal a value.
The condition finds the workspaces of `current_user` in `SqlGrant`. A BI tool's login role cannot
change `current_user`, because it has no memberships, and has no privilege on the tables.

`valkyr_sql` runs a statement in a function that belongs to the reading role. Within a function that
is SECURITY DEFINER, PostgreSQL lets no statement change the role.
"""

import hashlib
import logging
from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError
from django.db.models.signals import post_migrate, pre_migrate
from psycopg.errors import DependentObjectsStillExist

from executions.public.database import alias, connection, transaction
from valkyr_plugins.sql_views.catalogue import ENGINE, PLUGINS, SqlView, views
from valkyr_plugins.sql_views.conf import reader, schema
from valkyr_plugins.sql_views.models import SqlGrant

log = logging.getLogger(__name__)
PAGE = "docs/how-to/sql-views.md"
ALLOWED = "allowed_workspaces"
# The IDs of workspaces, which `valkyr_sql` sets for the role `reader()`; only for this role, the
# views read them. A statement cannot add a workspace whose ID it does not know.
CHOSEN = "valkyr.sql_workspaces"
RUNNER = "run_statement"
MARK = "Valkyr SQL views "
# Since PostgreSQL 16, SET ROLE is separate from the inheritance of a role's privileges.
SEPARATED = 160000
COMMENT = """
SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = %s
"""
RUN = """
CREATE FUNCTION {name}(statement text, most bigint) RETURNS SETOF record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp AS $$
DECLARE
    found record;
BEGIN
    FOR found IN EXECUTE statement LOOP
        RETURN NEXT found;
        most := most - 1;
        EXIT WHEN most <= 0;
    END LOOP;
END
$$
"""
EXISTING = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = %s AND c.relkind = 'v'
"""
# Checks the comment, the owner of the function that runs statements, and the rights. A restore
# without owners, or with missing roles, restores only the comment.
CURRENT = """
SELECT obj_description(n.oid, 'pg_namespace') = %(comment)s
   AND EXISTS (SELECT FROM pg_proc f
                WHERE f.pronamespace = n.oid AND f.proname = %(runner)s
                  AND pg_get_userbyid(f.proowner) = %(reader)s)
   AND NOT EXISTS (
       SELECT FROM unnest(%(roles)s::name[]) role
              CROSS JOIN unnest(%(views)s::name[]) view
              LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = view
        WHERE NOT has_schema_privilege(role, n.oid, 'USAGE')
           OR has_table_privilege(role, c.oid, 'SELECT') IS NOT TRUE)
  FROM pg_namespace n WHERE n.nspname = %(schema)s
"""


def connect(app: Any) -> None:
    """Connect receivers to the signals of `migrate`."""
    uid = "valkyr_plugins.sql_views"
    pre_migrate.connect(_before_migrate, sender=app, dispatch_uid=uid)
    post_migrate.connect(_after_migrate, sender=app, dispatch_uid=uid)


def _before_migrate(using: str, plan: Any, **_: Any) -> None:
    """Drop the views, because PostgreSQL cannot change a column that a view reads."""
    if using == alias() and plan and is_installed():
        drop_views()


def _after_migrate(using: str, **_: Any) -> None:
    if using != alias() or not is_installed():
        return
    try:
        install()
    except DatabaseError as error:
        # The migration led to an earlier state, in which a table lacks a column.
        log.warning("the SQL views were not created: %s", str(error).strip())


def is_installed() -> bool:
    """Return whether the schema exists.

    Raises ImproperlyConfigured if Valkyr did not create the schema.
    """
    found = rows(COMMENT, [schema()])
    if found and not found[0][0].startswith(MARK):
        raise ImproperlyConfigured(
            f"The schema {schema()} exists in PostgreSQL and was not created for Valkyr's views. "
            "Choose another name with VALKYR_SQL_VIEWS_SCHEMA, or drop the schema."
        )
    return bool(found)


def install() -> bool:
    """Create missing objects and recreate outdated ones; return whether anything was changed.

    Objects without their owner or rights, as after a restore without owners, are outdated too.
    Raises ImproperlyConfigured if Valkyr's role may not create roles or the schema, or if objects
    that Valkyr did not create have the same name or depend on the views.
    """
    with transaction.atomic():
        there = is_installed()
        _ensure_reader()
        names = [ALLOWED, *(view.name for view in views())]
        wanted = f"{MARK}{_version()} {' '.join(names)}"
        if there and _is_current(wanted):
            return False
        if not there:
            privileged(f"CREATE SCHEMA {quoted(schema())}", _create_right())
        drop_views()
        _refuse_taken(names)
        for statement in (*_statements(), *_runner()):
            execute(statement)
        execute(f"COMMENT ON SCHEMA {quoted(schema())} IS '{wanted}'")
        for role in (reader(), *_granted_roles()):
            grant_views(role)
    return True


def drop_views() -> None:
    """Drop the views that Valkyr created, but not the schema.

    Raises ImproperlyConfigured if other objects need them.
    """
    created = _created()
    if created:
        # Drop them together, because the others read the view of allowed workspaces.
        _drop(f"VIEW {', '.join(map(_named, created))}")


def _drop(objects: str) -> None:
    try:
        with transaction.atomic():
            execute(f"DROP {objects}")
    except DatabaseError as error:
        if isinstance(error.__cause__, DependentObjectsStillExist):
            raise ImproperlyConfigured(
                f"Other objects in PostgreSQL depend on the schema {schema()} or its views: "
                f"{str(error).strip()} Drop these objects first. After a `migrate` that keeps the "
                "views, create them again."
            ) from error
        raise


def remove() -> None:
    """Drop the views, the function that runs statements, and the schema; keep the roles.

    Raises ImproperlyConfigured if other objects need the views or are in the schema.
    """
    if is_installed():
        with transaction.atomic():
            drop_views()
            execute(f"DROP FUNCTION IF EXISTS {_named(RUNNER)}")
            _drop(f"SCHEMA {quoted(schema())}")


def grant_views(role: str) -> None:
    """Let a role read the views."""
    names = ", ".join(_named(view.name) for view in views())
    execute(f"GRANT USAGE ON SCHEMA {quoted(schema())} TO {quoted(role)}")
    execute(f"GRANT SELECT ON {names} TO {quoted(role)}")


def revoke_views(role: str) -> None:
    """Revoke a role's rights on the views."""
    if readable := [_named(name) for name in _created() if name != ALLOWED]:
        execute(f"REVOKE ALL ON {', '.join(readable)} FROM {quoted(role)}")
    execute(f"REVOKE ALL ON SCHEMA {quoted(schema())} FROM {quoted(role)}")


def _is_current(comment: str) -> bool:
    """Return whether the schema has this comment, and its objects have their owner and rights."""
    asked = {
        "schema": schema(),
        "comment": comment,
        "runner": RUNNER,
        "reader": reader(),
        "roles": [reader(), *_granted_roles()],
        "views": [view.name for view in views()],
    }
    return bool(rows(CURRENT, asked)[0][0])


def _existing() -> set[str]:
    """Return the names of all views in the schema."""
    return {name for (name,) in rows(EXISTING, [schema()])}


def _created() -> list[str]:
    """Return the names of the existing views that Valkyr created, from the schema's comment."""
    comment = next((text for (text,) in rows(COMMENT, [schema()])), "")
    # Version 0.1.0 wrote a comment without the views' names.
    names = comment.removeprefix(MARK).split()[1:] or [ALLOWED, *ENGINE, *PLUGINS]
    existing = _existing()
    return [name for name in names if name in existing]


def _refuse_taken(names: list[str]) -> None:
    """Raise ImproperlyConfigured if the schema has other views with these names."""
    if taken := sorted(_existing() & set(names)):
        raise ImproperlyConfigured(
            f"The schema {schema()} has views that Valkyr did not create: {', '.join(taken)}. "
            "Rename or drop these views, then run `manage.py valkyr_views install`."
        )


def _version() -> str:
    text = "\n".join([*_statements(), *_runner()])
    return hashlib.sha256(text.encode()).hexdigest()


def _statements() -> Iterator[str]:
    yield f"REVOKE ALL ON SCHEMA {quoted(schema())} FROM PUBLIC"
    yield _allowed()
    for view in views():
        yield _view(view)
        yield f"COMMENT ON VIEW {_named(view.name)} IS {_text(view.about)}"
        for column in view.columns:
            yield (
                f"COMMENT ON COLUMN {_named(view.name)}.{quoted(column.name)} "
                f"IS {_text(column.about)}"
            )


def _runner() -> Iterator[str]:
    """Yield statements that create the function of `valkyr_sql`, which the reading role owns."""
    place, role, name = quoted(schema()), quoted(reader()), _named(RUNNER)
    yield f"DROP FUNCTION IF EXISTS {name}"
    yield RUN.format(name=name, schema=place)
    yield f"REVOKE ALL ON FUNCTION {name} FROM PUBLIC"
    # PostgreSQL requires that a function's new owner may create functions in the schema.
    yield f"GRANT CREATE ON SCHEMA {place} TO {role}"
    yield f"ALTER FUNCTION {name} OWNER TO {role}"
    yield f"REVOKE CREATE ON SCHEMA {place} FROM {role}"


def _allowed() -> str:
    """Return the statement that creates the view of the current role's workspaces.

    Only the other views read this view; login roles cannot.
    """
    grants = quoted(SqlGrant._meta.db_table)
    return (
        f"CREATE VIEW {_named(ALLOWED)} WITH (security_barrier) AS "  # noqa: S608 - quoted names
        f"SELECT g.workspace_id FROM {grants} g WHERE g.role = current_user "
        f"UNION ALL SELECT unnest(current_setting('{CHOSEN}', true)::uuid[]) "
        f"WHERE current_user = '{reader()}'"
    )


def _view(view: SqlView) -> str:
    # PostgreSQL computes an array only once, and can then use an index on the workspace.
    allowed = f"ANY (ARRAY(SELECT workspace_id FROM {_named(ALLOWED)}))"  # noqa: S608 - quoted names
    query = view.query.replace("{allowed}", allowed)
    return f"CREATE VIEW {_named(view.name)} WITH (security_barrier) AS {query}"


def _granted_roles() -> list[str]:
    """Return the existing login roles that have grants.

    After a restore on another server, some roles may be missing.
    """
    names = list(SqlGrant.objects.values_list("role", flat=True).distinct().order_by("role"))
    found = rows("SELECT rolname FROM pg_roles WHERE rolname = ANY(%s)", [names])
    return sorted(name for (name,) in found)


def _ensure_reader() -> None:
    role = reader()
    found = rows("SELECT rolsuper, rolcanlogin FROM pg_roles WHERE rolname = %s", [role])
    if found and any(found[0]):
        raise ImproperlyConfigured(
            f"The role {role} in PostgreSQL can log in or is a superuser; expected a role without "
            "both. Choose another schema with VALKYR_SQL_VIEWS_SCHEMA."
        )
    if not found:
        privileged(f"CREATE ROLE {quoted(role)} NOLOGIN", _by_hand())
    how = "SET" if _server() >= SEPARATED else "MEMBER"
    if not rows("SELECT pg_has_role(%s, %s)", [role, how])[0][0]:
        privileged(_membership(role), _by_hand())


def _membership(role: str) -> str:
    options = " WITH INHERIT FALSE, SET TRUE" if _server() >= SEPARATED else ""
    (user,) = rows("SELECT session_user", [])[0]
    return f"GRANT {quoted(role)} TO {quoted(user)}{options}"


def _by_hand() -> str:
    role = reader()
    return (
        f"Let a role with CREATEROLE run: CREATE ROLE {quoted(role)} NOLOGIN; "
        f"{_membership(role)}; then run the command again."
    )


def _create_right() -> str:
    ((database, user),) = rows("SELECT current_database(), current_user", [])
    return (
        f"Let the database's owner run: GRANT CREATE ON DATABASE {quoted(database)} TO "
        f"{quoted(user)}; then run the command again."
    )


def privileged(statement: str, remedy: str) -> None:
    """Run a statement that needs a special right. Raises ImproperlyConfigured with the remedy."""
    try:
        with transaction.atomic():
            execute(statement)
    except DatabaseError as error:
        raise ImproperlyConfigured(
            f"Valkyr's role in PostgreSQL may not do this: {str(error).strip()}. {remedy} "
            f"See {PAGE}."
        ) from error


def rows(sql: str, params: list[Any] | dict[str, Any]) -> list[Any]:
    """Run a statement and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params or None)
        found: list[Any] = cursor.fetchall()
    return found


def execute(statement: str) -> None:
    """Run a statement without parameters."""
    with connection.cursor() as cursor:
        cursor.execute(statement)


def quoted(name: str) -> str:
    """Return a name, quoted for SQL."""
    return connection.ops.quote_name(name)


def _named(view: str) -> str:
    return f"{quoted(schema())}.{quoted(view)}"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _server() -> int:
    return int(connection.pg_version)  # type: ignore[attr-defined]
