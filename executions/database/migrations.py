"""The base class of the migrations of the engine, and of plugins that refer to its tables.

These migrations name the engine's apps by the usual labels, as `makemigrations` writes them. A
project may give these apps other labels (`executions.configuration.labels`), so references are
translated when a migration is loaded. References to models that the project swaps, such as its
account model, stay as they are.
"""

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations
from django.db.migrations.operations.base import Operation
from django.db.models import Field, Model

from executions.configuration.labels import label, translated
from executions.database.time_limits import keeps_settings

# Autovacuum settings of a frequently changed table: often, without pauses, but not below 2,000
# rows.
#
# PostgreSQL reads a table of a few pages sequentially, which is right. But with statistics taken at
# that size, prepared statements would continue to do so while the table grows, until the next
# ANALYZE. For a table that was never analysed, PostgreSQL assumes at least ten pages. So the first
# ANALYZE must wait until the table is read through its indexes and keeps its size
# (docs/reference/indexes.md).
HOT = """
ALTER TABLE {table} SET (
    autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_insert_threshold = 2000,
    autovacuum_analyze_threshold = 2000,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = off
)
"""


class Migration(migrations.Migration):
    """Translates app labels in a migration's dependencies, and in its models' bases and fields."""

    def __init__(self, name: str, app_label: str) -> None:
        super().__init__(name, app_label)
        self.dependencies = [_dependency(one) for one in self.dependencies]  # type: ignore[misc]
        self.operations = [_operation(one) for one in self.operations]  # type: ignore[misc]


class AddIndexWhileWritten(AddIndexConcurrently):
    """Builds an index while other sessions write to the table; the migration must not be atomic.

    An interrupted build is repeated, and an existing valid index is kept. The build waits for all
    older transactions; unlike other waits for a lock, this wait blocks no writer. For a partitioned
    table, the index of each partition is built and then attached.
    """

    def database_forwards(self, app_label: str, editor: Any, before: Any, after: Any) -> None:
        """Build the index, unless a valid index exists."""
        name = self.index.name
        with editor.connection.cursor() as cursor:
            cursor.execute(
                "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [name]
            )
            found = cursor.fetchone()
            if found is not None and found[0]:
                return
            cursor.execute("SELECT current_setting('lock_timeout')")
            limit = cursor.fetchone()[0]
            if keeps_settings(editor.connection.alias):
                cursor.execute("SET lock_timeout = 0")
            try:
                model = after.apps.get_model(app_label, self.model_name)
                if _partitions(cursor, model) is not None:
                    self._build_in_partitions(cursor, editor, model)
                    return
                if found is not None:
                    cursor.execute(f"DROP INDEX CONCURRENTLY {editor.quote_name(name)}")
                super().database_forwards(app_label, editor, before, after)
            finally:
                if keeps_settings(editor.connection.alias):
                    cursor.execute("SELECT set_config('lock_timeout', %s, false)", [limit])

    def database_backwards(self, app_label: str, editor: Any, before: Any, after: Any) -> None:
        """Drop the index; writers to a partitioned table must wait until the index is dropped."""
        with editor.connection.cursor() as cursor:
            model = before.apps.get_model(app_label, self.model_name)
            if _partitions(cursor, model) is None:
                super().database_backwards(app_label, editor, before, after)
            else:
                cursor.execute(f"DROP INDEX IF EXISTS {editor.quote_name(self.index.name)}")

    def _build_in_partitions(self, cursor: Any, editor: Any, model: Any) -> None:
        """Build the index of each partition; the table's index is valid once all are attached."""
        table, name = model._meta.db_table, self.index.name
        quoted = editor.quote_name
        usual = f"{quoted(name)} ON {quoted(table)}"
        for_all = str(self.index.create_sql(model, editor))
        beside = str(self.index.create_sql(model, editor, concurrently=True))
        cursor.execute("SELECT to_regclass(%s) IS NULL", [quoted(name)])
        if cursor.fetchone()[0]:
            cursor.execute(for_all.replace(usual, f"{quoted(name)} ON ONLY {quoted(table)}", 1))
        for partition in _partitions(cursor, model) or ():
            cursor.execute(OF_PARTITION, [quoted(partition), quoted(name)])
            if cursor.fetchone():
                continue
            own = f"{partition}_{name}"
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {quoted(own)}")
            cursor.execute(beside.replace(usual, f"{quoted(own)} ON {quoted(partition)}", 1))
            cursor.execute(f"ALTER INDEX {quoted(name)} ATTACH PARTITION {quoted(own)}")


# The query for a partition's index that is attached to a given index of the whole table.
OF_PARTITION = """
SELECT 1 FROM pg_index i JOIN pg_inherits h ON h.inhrelid = i.indexrelid
 WHERE i.indrelid = to_regclass(%s) AND h.inhparent = to_regclass(%s)
"""


def _partitions(cursor: Any, model: Any) -> list[str] | None:
    """Return the names of a table's partitions; None if the table is not partitioned."""
    cursor.execute(
        "SELECT c.relkind = 'p', (SELECT array_agg(p.relname::text ORDER BY p.relname)"
        " FROM pg_inherits h JOIN pg_class p ON p.oid = h.inhrelid WHERE h.inhparent = c.oid)"
        " FROM pg_class c WHERE c.oid = to_regclass(%s)",
        [f'"{model._meta.db_table}"'],
    )
    found = cursor.fetchone()
    return list(found[1] or ()) if found and found[0] else None


def model(apps: Any, name: str) -> Any:
    """Return a model of the engine, such as `runners.Run`, from a migration's state."""
    return apps.get_model(translated(name))


def _dependency(given: Any) -> Any:
    swapped = hasattr(given, "setting")
    return given if swapped else (label(given[0]), *given[1:])


def _operation(given: Operation) -> Operation:
    _, arguments, named = given.deconstruct()
    if "fields" in named:
        named["fields"] = [(name, _field(field)) for name, field in named["fields"]]
        named["bases"] = tuple(map(_base, named.get("bases", (Model,))))
        return type(given)(*arguments, **named)
    if "field" in named:
        return type(given)(*arguments, **named | {"field": _field(named["field"])})
    return given


def _base(given: Any) -> Any:
    return translated(given) if isinstance(given, str) else given


def _field(given: Any) -> "Field[Any, Any]":
    _, _, arguments, named = given.deconstruct()
    to = named.get("to")
    if not to or hasattr(to, "setting_name") or translated(to) == to:
        return given  # type: ignore[no-any-return]
    return type(given)(*arguments, **named | {"to": translated(to)})  # type: ignore[no-any-return]
