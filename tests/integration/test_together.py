"""Statements sent together: what the server hears last, on which its clocks depend."""

from pathlib import Path

import pytest
from django.db import connection, transaction

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
