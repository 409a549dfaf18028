"""`manage.py partitions`: the table before, with and after partitions."""

import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from executions.models import Activity
from runners.partitions import orphans, switching, upkeep
from runners.partitions.layout import layout
from runners.partitions.short_locks import TableBusy, in_short_locks
from tests.support.copies import session
from tests.support.engine_database import engine_database
from tests.support.workflows import effect, publish, start

KEYS = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated
  FROM pg_constraint
 WHERE conrelid = 'runners_run'::regclass
    OR (contype = 'f' AND confrelid = 'runners_run'::regclass)
 ORDER BY 1, 2
"""
INDEXES = """
SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'runners_run' ORDER BY 1
"""
TABLE = """
SELECT reloptions, obj_description(oid, 'pg_class'), relkind, relacl::text
  FROM pg_class WHERE oid = 'runners_run'::regclass
"""
COLUMNS = """
SELECT attname, format_type(atttypid, atttypmod), attnotnull, attstorage,
       pg_get_expr(adbin, adrelid)
  FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
 WHERE attrelid = 'runners_run'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""


COPIES = """
INSERT INTO runners_run SELECT (jsonb_populate_record(r, jsonb_build_object(
       'id', gen_random_uuid(), 'execution_id', %(execution)s::uuid,
       'step_path', to_char(n, '"copy-"FM0000'), 'idempotency_key', gen_random_uuid()))).*
  FROM runners_run r, generate_series(1, %(count)s) n WHERE execution_id = %(origin)s
"""


@pytest.fixture
def plain(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with engine_database(django_db_blocker):
        try:
            yield
        finally:
            switching.turn_off()


def said(*words: str) -> str:
    out = StringIO()
    call_command("partitions", *words, stdout=out)
    return out.getvalue()


def asked(query: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchall()


def shape() -> list[Any]:
    return [asked(query) for query in (KEYS, INDEXES, TABLE, COLUMNS)]


def test_the_table_is_afterwards_as_it_was_before(plain: None) -> None:
    before = shape()
    execution = start(publish({"tasks": [effect("one")]}))
    on = said("on")
    assert re.search(r"runners_run_first +the first to ", on)
    assert upkeep.ahead(layout()) >= upkeep.AHEAD
    assert "runners_run_default" in on
    assert {name for name, _ in asked(INDEXES)} == {
        name for name, _ in before[1] if name != "runners_run_pkey"
    }
    assert said("on").startswith("runners_run is partitioned already.")
    assert said("status", "--check")
    assert "is one table again" in said("off")
    assert shape() == before
    assert "is not partitioned" in said("off")
    assert asked("SELECT execution_id FROM runners_run") == [(execution,)]
    told = Activity.objects.filter(action__startswith="partitions.").order_by("created_at")
    assert [one.action for one in told] == ["partitions.on", "partitions.off"]


def test_the_status_names_the_right_that_retention_lacks(plain: None) -> None:
    said("on")
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE slow")
        try:
            cursor.execute("SET ROLE slow")
            told = said("status")
            cursor.execute("RESET ROLE")
            cursor.execute("GRANT SET ON PARAMETER session_replication_role TO slow")
            cursor.execute("SET ROLE slow")
            granted = said("status")
        finally:
            cursor.execute("RESET ROLE; DROP OWNED BY slow; DROP ROLE slow")

    assert "GRANT SET ON PARAMETER session_replication_role TO slow" in told
    assert "GRANT" not in granted


def test_an_interrupted_conversion_is_reported_and_continued(
    plain: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shape()
    with monkeypatch.context() as patch:
        patch.setattr(switching, "_partition", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            switching.turn_on()
    with pytest.raises(CommandError, match="1 findings"):
        said("status", "--check")
    assert switching.turn_on()
    assert switching.turn_off()
    assert shape() == before


def test_without_a_conversion_the_foreign_keys_return_too(
    plain: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shape()
    monkeypatch.setattr(switching, "_partition", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        switching.turn_on()
    assert switching.turn_off()
    assert shape() == before


def test_the_rows_of_the_partition_that_is_kept_are_not_counted(plain: None) -> None:
    origin = start(publish({"tasks": [effect("one")]}))
    said("on")
    full, large = layout().ranges[1:3]
    with connection.cursor() as cursor:
        for one, count in ((full, 30), (large, 2_000)):
            cursor.execute(COPIES, {"execution": one.first, "count": count, "origin": origin})
        # Fewer rows than the other partition, but more bytes.
        cursor.execute(f"DELETE FROM {large.name} WHERE step_path < 'copy-1998'")
        cursor.execute("ANALYZE runners_run")
    rows = {one.name: one.rows for one in layout().partitions}
    assert (rows[full.name], rows[large.name]) == (30, 3)

    counted = switching.rows_to_copy()

    assert counted == sum(rows.values()) - 3
    assert switching.turn_off()


def test_views_and_rights_are_those_of_the_partitioned_table(plain: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE reads_runs")
        cursor.execute("GRANT SELECT ON runners_run TO reads_runs")
        cursor.execute(
            "CREATE VIEW all_runs WITH (security_barrier) AS SELECT id, state FROM runners_run"
        )
    try:
        start(publish({"tasks": [effect("one")]}))
        said("on")
        # A run of a day that has a partition of its own.
        with connection.cursor() as cursor:
            cursor.execute("SELECT has_table_privilege('reads_runs', 'runners_run', 'SELECT')")
            assert cursor.fetchone() == (True,)
            cursor.execute("SELECT reloptions FROM pg_class WHERE relname = 'all_runs'")
            assert cursor.fetchone() == (["security_barrier=true"],)
        far = upkeep.add_ahead()
        assert far == 0
        start(publish({"tasks": [effect("one")]}))
        assert asked("SELECT count(*) FROM all_runs") == [(2,)]
        assert "runners_run" in asked("SELECT pg_get_viewdef('all_runs')")[0][0]
        said("off")
        assert asked("SELECT count(*) FROM all_runs") == [(2,)]
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP VIEW all_runs")
            cursor.execute("REVOKE ALL ON runners_run FROM reads_runs")
        switching.turn_off()
        with connection.cursor() as cursor:
            cursor.execute("DROP OWNED BY reads_runs")
            cursor.execute("DROP ROLE reads_runs")


def test_a_table_in_use_is_not_waited_for_longer_than_workers_may_wait(plain: None) -> None:
    def lock(cursor: Any) -> None:
        cursor.execute("LOCK TABLE runners_run IN ACCESS EXCLUSIVE MODE")

    with session() as busy:
        busy.execute("LOCK TABLE runners_run IN ACCESS SHARE MODE")
        with pytest.raises(TableBusy):
            in_short_locks(lock, attempts=2)


def test_a_missing_partition_stops_no_start(plain: None) -> None:
    said("on")
    for one in layout().ranges:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {one.name}")
    execution = start(publish({"tasks": [effect("one")]}))
    assert asked("SELECT execution_id FROM ONLY runners_run_default") == [(execution,)]


def test_days_whose_executions_are_in_the_default_partition_get_no_other(plain: None) -> None:
    said("on")
    last = layout().ranges[-1]
    for one in layout().ranges[1:]:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {one.name}")
    first = layout().ranges[0]
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE runners_run DETACH PARTITION {first.name}")
        cursor.execute(
            f"ALTER TABLE runners_run ATTACH PARTITION {first.name} "
            "FOR VALUES FROM (MINVALUE) TO ('01000000-0000-7000-8000-000000000000')"
        )
    start(publish({"tasks": [effect("one")]}))
    assert upkeep.add_ahead() > 0
    again = layout().ranges
    assert again[1].begins is not None
    assert again[-1].ends is not None
    assert last.ends is not None
    assert again[-1].ends >= last.ends
    assert asked("SELECT count(*) FROM ONLY runners_run_default") == [(1,)]


def test_orphans_are_found(plain: None) -> None:
    execution = start(publish({"tasks": [effect("one")]}))
    said("on")
    assert set(orphans.count().values()) == {0}
    with session() as own:
        own.execute("DELETE FROM executions_workflowexecution WHERE id = %s", [execution])
    assert orphans.count()["runners_run.execution_id"] == 1
    with pytest.raises(CommandError, match="need attention"):
        said("status", "--check")


def test_two_live_runs_of_a_step_are_rejected_in_every_partition(plain: None) -> None:
    said("on")
    copy = """
        INSERT INTO runners_run SELECT (jsonb_populate_record(r, jsonb_build_object(
               'id', gen_random_uuid(), 'execution_id', %(execution)s::uuid))).*
          FROM runners_run r WHERE execution_id = %(origin)s
    """
    origin = start(publish({"tasks": [effect("one")]}))
    for one in layout().partitions:
        inside = one.first or (one.end and origin) or "ffffffff-0000-7000-8000-000000000000"
        with session(autocommit=True) as own:
            if inside != origin:
                own.execute(copy, {"execution": inside, "origin": origin})
            with pytest.raises(psycopg.errors.UniqueViolation):
                own.execute(copy, {"execution": inside, "origin": origin})


def test_too_few_partitions_are_reported(plain: None) -> None:
    assert upkeep.problems(layout()) == []
    said("on")
    assert upkeep.problems(layout()) == []
    for one in layout().ranges[2:]:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {one.name}")
    [problem] = upkeep.problems(layout())
    assert "days only" in problem
