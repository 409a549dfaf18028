"""Migrations of a partitioned table."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, migrations, models
from django.db.migrations.state import ProjectState
from django.db.models import Q

from executions.database.migrations import AddIndexWhileWritten
from runners.models import Run
from runners.partitions import upkeep
from runners.partitions.layout import layout
from tests.support.workflows import effect, publish, start

NAME = "run_of_a_module"
VALID = """
SELECT i.indisvalid FROM pg_index i WHERE i.indexrelid = to_regclass('run_of_a_module')
"""
BUILT = """
SELECT count(*) FROM pg_inherits h JOIN pg_index i ON i.indexrelid = h.inhrelid AND i.indisvalid
 WHERE h.inhparent = 'run_of_a_module'::regclass
"""


@pytest.fixture
def added(engine: None) -> Iterator[Any]:
    """Apply a migration that adds an index; revert it at the end."""
    index = models.Index(fields=["module", "id"], condition=Q(superseded=False), name=NAME)
    operation = AddIndexWhileWritten("run", index)
    before = ProjectState.from_apps(apps)
    after = before.clone()
    operation.state_forwards("runners", after)

    def apply(*, back: bool = False) -> None:
        with connection.schema_editor(atomic=False) as editor:
            if back:
                operation.database_backwards("runners", editor, after, before)
            else:
                operation.database_forwards("runners", editor, before, after)

    yield apply
    apply(back=True)
    assert asked(VALID) == []


def asked(query: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def test_an_index_is_built_in_each_partition(added: Any) -> None:
    start(publish({"tasks": [effect("one")]}))
    added()
    assert asked(VALID) == [(True,)]
    assert asked(BUILT) == [(len(layout().partitions),)]
    added()  # the migration is repeated after a crash
    assert asked(BUILT) == [(len(layout().partitions),)]


def test_an_interrupted_build_is_continued(added: Any) -> None:
    first = layout().partitions[0].name
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX {NAME} ON ONLY runners_run (module, id) WHERE NOT superseded")
        cursor.execute(f"CREATE INDEX {first}_{NAME} ON {first} (module, id) WHERE NOT superseded")
    assert asked(VALID) == [(False,)]
    added()
    assert asked(VALID) == [(True,)]
    assert asked(BUILT) == [(len(layout().partitions),)]


def test_a_new_partition_has_the_added_index(added: Any) -> None:
    added()
    last = layout().ranges[-1].ends
    assert last is not None
    name = upkeep.add(last, last + upkeep.DAY)
    assert asked(BUILT) == [(len(layout().partitions),)]
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {name}")


def test_a_column_is_added_to_all_partitions(engine: None) -> None:
    operation = migrations.AddField("run", "extra", models.IntegerField(default=7, db_default=7))
    before = ProjectState.from_apps(apps)
    after = before.clone()
    operation.state_forwards("runners", after)
    execution = start(publish({"tasks": [effect("one")]}))
    with connection.schema_editor() as editor:
        operation.database_forwards("runners", editor, before, after)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT extra FROM runners_run WHERE execution_id = %s", [execution])
            assert cursor.fetchone() == (7,)
        assert Run.objects.filter(execution_id=execution).count() == 1
    finally:
        with connection.schema_editor() as editor:
            operation.database_backwards("runners", editor, after, before)
