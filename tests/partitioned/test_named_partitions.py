"""Statements about one execution name its partition, and never read one that was removed."""

from collections.abc import Iterator
from datetime import UTC, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import ProgrammingError, connection, transaction

from executions.database import one_partition
from executions.database.clock import database_now
from executions.database.statements import BoundStatement, run, run_together
from runners import statements
from runners.models import Run
from runners.partitions import naming, switching, upkeep
from runners.partitions.layout import RunPartition, layout
from runners.partitions.short_locks import in_short_locks
from tests.support.copies import session
from tests.support.partitioned import id_of_day
from tests.support.workflows import effect, publish, start_many

MARKED = sorted(
    file.stem for file in statements.FOLDER.glob("*.sql") if statements.asked(file.stem, {}).key
)


@pytest.fixture(autouse=True)
def fresh(engine: None) -> Iterator[None]:
    """Forget the cached partitions before and after the test."""
    naming.forget()
    yield
    naming.forget()


@pytest.fixture
def execution() -> UUID:
    """Start an execution today with a pending run; return its id."""
    [pk] = start_many(publish({"tasks": [effect("one")]}), [{}])
    return pk


def load(execution: UUID) -> Any:
    return statements.asked("results", {"execution": execution, "reads": ["one.main"]})


def runs_of(execution: UUID) -> Any:
    return statements.asked("lock_live", {"execution": execution})


def ranges() -> list[RunPartition]:
    """Return today's partition and the later ones."""
    now = database_now()
    return [one for one in layout().ranges if one.ends is not None and one.ends > now]


def today() -> str:
    return ranges()[0].name


def test_hot_statements_are_marked() -> None:
    hot = {
        "claim", "load", "load_many", "record", "record_and_begin_next",
        "record_only_step_and_end", "record_without_new_runs",
    }  # fmt: skip
    assert hot <= set(MARKED)


@pytest.mark.parametrize("name", MARKED)
def test_a_marked_statement_names_nothing_but_the_partition(name: str, execution: UUID) -> None:
    asked = statements.asked(name, {})
    ids: Any = execution if asked.key == "execution" else [execution]
    text = one_partition.named_in(asked.text, ids)
    assert today() in text
    assert "runners_run " not in text.replace(f'"{today()}"', "")


def test_executions_of_two_partitions_are_read_from_the_table(execution: UUID) -> None:
    other = ranges()[1].first
    assert naming.partition_of([execution]) == f'"{today()}"'
    assert other is not None
    assert naming.partition_of([execution, other]) == ""
    assert naming.partition_of([]) == ""


def test_partitions_of_later_days_are_not_named(execution: UUID) -> None:
    """Statements do not name partitions of later days: a connection would keep a plan of each
    statement for each partition.
    """
    ends = database_now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    name = upkeep.add(ends + timedelta(days=40), ends + timedelta(days=41))
    try:
        naming.forget()
        assert naming.partition_of(id_of_day(-40.5)) == ""
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE {name}")


def test_a_partition_that_got_another_name_is_read_from_the_table(execution: UUID) -> None:
    (found,) = runs_of_now(execution)
    name = today()
    with session(autocommit=True) as other:
        other.execute(f"ALTER TABLE {name} RENAME TO {name}_2".encode())
        try:
            assert naming.partition_of(execution) == f'"{name}"'  # not read again yet
            assert runs_of_now(execution) == [found]
            naming.forget()
            assert naming.partition_of(execution) == f'"{name}_2"'
        finally:
            other.execute(f"ALTER TABLE {name}_2 RENAME TO {name}".encode())
    # The other name is known now; in a transaction, together with its BEGIN.
    with transaction.atomic():
        assert runs_of_now(execution) == [found]


def runs_of_now(execution: UUID) -> Any:
    return statements.fetch("lock_live", {"execution": execution})


def test_statements_that_run_together_are_repeated_together(execution: UUID) -> None:
    [found, results] = run_together([runs_of(execution), load(execution)])
    name = today()
    with session(autocommit=True) as other:
        other.execute(f"ALTER TABLE {name} RENAME TO {name}_2".encode())
        try:
            with transaction.atomic():
                assert run_together([runs_of(execution), load(execution)]) == [found, results]
                assert run_together([runs_of(execution)]) == [found]
        finally:
            other.execute(f"ALTER TABLE {name}_2 RENAME TO {name}".encode())


def test_a_statement_after_others_in_a_transaction_reads_the_table(execution: UUID) -> None:
    found = runs_of_now(execution)
    name = today()
    with session(autocommit=True) as other:
        other.execute(f"ALTER TABLE {name} RENAME TO {name}_2".encode())
        try:
            with transaction.atomic():
                Run.objects.filter(execution_id=execution).update(priority=5)
                assert runs_of_now(execution) == found
        finally:
            other.execute(f"ALTER TABLE {name}_2 RENAME TO {name}".encode())


def test_another_missing_table_is_an_error(execution: UUID) -> None:
    missing = BoundStatement(
        "SELECT 1 FROM runners_run, nothing_there", {"execution": execution}, False, "execution"
    )
    with pytest.raises(ProgrammingError, match="nothing_there"):
        run(missing)


def test_a_detached_partition_is_not_read_by_its_name(engine: None) -> None:
    midnight = database_now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = midnight + timedelta(days=50)
    upkeep.add(days, days + timedelta(days=1))
    [part] = [one for one in layout().ranges if one.begins == days]
    in_short_locks(lambda cursor: upkeep.detach(cursor, part))
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)", [part.name])
        assert cursor.fetchone() == (None,)
    assert upkeep.drop_detached() == 1


def test_no_partition_is_named_under_row_level_security(execution: UUID) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE runners_run ENABLE ROW LEVEL SECURITY")
        try:
            naming.forget()
            assert naming.partition_of(execution) == ""
        finally:
            cursor.execute("ALTER TABLE runners_run DISABLE ROW LEVEL SECURITY")


def test_a_table_without_partitions_is_named(execution: UUID) -> None:
    found = runs_of_now(execution)
    assert naming.partition_of(execution)
    known = dict(naming._known)
    switching.turn_off()
    try:
        naming._known.update(known)  # as in a process that does not know of it
        assert runs_of_now(execution) == found
        assert naming.partition_of(execution) == ""
    finally:
        switching.turn_on()
        upkeep.add_ahead()
