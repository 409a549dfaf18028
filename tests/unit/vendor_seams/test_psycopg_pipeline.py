"""Statements sent together: what the server hears last, on which its clocks depend."""

import inspect
import re
from pathlib import Path

import pytest
from django.db import connection, transaction
from psycopg._pipeline_base import BasePipeline

from executions.database.statements import Statements

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
