"""The table of end-of-support dates, and the check that reads it."""

from datetime import date

import pytest

from tools.end_of_life import PAGE, Version, findings, in_use, table

KNOWN = {
    Version("Redis", "7.4"): date(2029, 12, 1),
    Version("Valkey", "9.1"): None,
}


def test_the_table_has_every_version_in_use() -> None:
    missing, _ = findings(in_use(), table(PAGE.read_text()), date(2026, 1, 1))

    assert missing == []
    assert {one.software for one in in_use()} == {
        *("Django", "PostgreSQL", "Python", "RabbitMQ", "Redis", "Valkey")
    }


def test_every_row_of_the_table_is_read() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]

    assert len(table(PAGE.read_text())) == len(rows) - 1, "the first is the head"


@pytest.mark.parametrize(
    ("today", "says"),
    [
        (date(2029, 1, 1), None),
        (date(2029, 7, 1), "Redis 7.4 gets no fixes after 2029-12-01"),
        (date(2029, 12, 1), "Redis 7.4 gets no fixes after 2029-12-01"),
        (date(2029, 12, 2), "Redis 7.4 has had no fixes since 2029-12-01"),
    ],
)
def test_a_version_that_ends_is_warned_of(today: date, says: str | None) -> None:
    missing, warned = findings(KNOWN, KNOWN, today)

    assert missing == []
    assert [one.partition(":")[0] for one in warned] == ([says] if says else [])


def test_a_version_that_the_table_lacks_is_named() -> None:
    missing, warned = findings([Version("Redis", "9.9")], KNOWN, date(2029, 1, 1))

    assert warned == []
    assert len(missing) == 1
    assert "Redis 9.9 is in use" in missing[0]
