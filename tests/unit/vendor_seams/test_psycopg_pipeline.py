"""Statements that are sent together: the engine's clocks depend on the server's last message."""

import inspect
import re
from pathlib import Path

import pytest
from django.db import DataError, connection, transaction
from psycopg._connection_base import BaseConnection
from psycopg._pipeline_base import BasePipeline

from executions.database.statements import Statements, run_together
from tests.support.round_trips import round_trips

pytestmark = pytest.mark.django_db


def test_sync_is_the_last_word_so_that_a_frozen_client_is_timed(tmp_path: Path) -> None:
    (tmp_path / "one.sql").write_text("SELECT %(n)s::int, pg_sleep(0.05)")
    asked = [("one", {"n": 1}), ("one", {"n": 2})]
    heard = tmp_path / "heard"

    with transaction.atomic(), heard.open("w") as trace:
        raw = connection.connection
        raw.pgconn.trace(trace.fileno())
        found = Statements(tmp_path).fetch_together(asked)
        raw.pgconn.untrace()

    assert [rows[0][0] for rows in found] == [1, 2]
    sent = [line.split("\t") for line in heard.read_text().splitlines()]
    words = [parts[3] for parts in sent if parts[1] == "F"]
    assert words[-1] == "Sync"
    assert "Flush" not in words


@pytest.mark.django_db(transaction=True)
def test_begin_goes_with_the_first_statement(tmp_path: Path) -> None:
    (tmp_path / "one.sql").write_text("SELECT %(n)s::int")
    own = Statements(tmp_path)

    with round_trips() as trips, transaction.atomic():
        alone, together = own.fetch("one", {"n": 1}), own.fetch_together([("one", {"n": 2})])

    assert (alone, together) == ([(1,)], [[(2,)]])
    assert len(trips) == 3


@pytest.mark.django_db(transaction=True)
def test_an_error_amid_a_transactions_first_statements_undoes_them(tmp_path: Path) -> None:
    (tmp_path / "one.sql").write_text("SELECT %(n)s::int")
    (tmp_path / "broken.sql").write_text("SELECT 1 / %(n)s::int")
    own = Statements(tmp_path)

    with pytest.raises(DataError), transaction.atomic():
        own.fetch_together([("one", {"n": 1}), ("broken", {"n": 0}), ("one", {"n": 3})])

    assert own.fetch("one", {"n": 4}) == [(4,)]


@pytest.mark.django_db(transaction=True)
def test_without_a_transaction_statements_that_run_together_are_one(tmp_path: Path) -> None:
    (tmp_path / "made.sql").write_text("CREATE TEMPORARY TABLE seam (n int)")
    (tmp_path / "added.sql").write_text("INSERT INTO seam VALUES (%(n)s) RETURNING n")
    (tmp_path / "broken.sql").write_text("SELECT 1 / %(n)s::int")
    (tmp_path / "all.sql").write_text("SELECT n FROM seam")
    own = Statements(tmp_path)
    own.fetch("made", {})

    assert own.fetch_together([("added", {"n": 1}), ("all", {})]) == [[(1,)], [(1,)]]
    with pytest.raises(DataError):
        own.fetch_together([("added", {"n": 2}), ("broken", {"n": 0})])

    assert own.fetch("all", {}) == [(1,)]
    connection.close()


def test_psycopg_begins_by_the_steps_that_the_seam_repeats() -> None:
    source = inspect.getsource(BaseConnection._start_query)
    steps = re.findall(r"self\.(_\w+(?:\._\w+)?)\(", source)

    assert steps == ["_exec_command", "_get_tx_start_command", "_pipeline._sync_gen"], (
        "psycopg begins otherwise now: compare BaseConnection._start_query with "
        "executions/vendor_seams/psycopg_pipeline.py"
    )


def test_psycopg_ends_a_pipeline_by_the_steps_that_the_seam_repeats() -> None:
    source = inspect.getsource(BasePipeline._exit_gen)
    steps = re.findall(r"self\.(_\w+)\(([^)]*)\)", source)

    assert steps == [
        ("_enqueue_sync", ""),
        ("_communicate_gen", ""),
        ("_fetch_gen", "flush=True"),
    ], (
        "psycopg ends a pipeline otherwise now: compare Pipeline._exit_gen with "
        "executions/vendor_seams/psycopg_pipeline.py"
    )


@pytest.mark.django_db(transaction=True)
def test_commit_goes_with_the_last_statements_of_the_outermost_block(tmp_path: Path) -> None:
    (tmp_path / "made.sql").write_text("CREATE TABLE seam_kept (n int)")
    (tmp_path / "added.sql").write_text("INSERT INTO seam_kept VALUES (%(n)s)")
    (tmp_path / "broken.sql").write_text("SELECT 1 / %(n)s::int")
    (tmp_path / "all.sql").write_text("SELECT n FROM seam_kept ORDER BY n")
    (tmp_path / "gone.sql").write_text("DROP TABLE seam_kept")
    own = Statements(tmp_path)
    told: list[int] = []
    own.fetch("made", {})
    try:
        with round_trips() as trips, transaction.atomic():
            transaction.on_commit(lambda: told.append(1))
            run_together([own.asked("added", {"n": n}) for n in (1, 2)], last=True)
        with pytest.raises(DataError), transaction.atomic():
            run_together([own.asked("added", {"n": 3}), own.asked("broken", {"n": 0})], last=True)
        with transaction.atomic():
            with transaction.atomic():
                run_together([own.asked("added", {"n": 4})], last=True)
            transaction.set_rollback(True)  # undoes what an inner block did
        rows = own.fetch("all", {})
    finally:
        own.fetch("gone", {})

    assert len(trips) == 1
    assert rows == [(1,), (2,)]
    assert told == [1]
