"""One cursor for every list: its contents, and invalid ones."""

import base64
import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from dlq.models import FailureGroup
from executions.database.keyset import InvalidCursor, KeysetOrder

BY_TIME = KeysetOrder(("last_seen", "id"))
BY_TOTAL = KeysetOrder(("total", "id"))
BY_ID = KeysetOrder(("id",))
AT = datetime(2026, 11, 23, 12, 0, 0, 123456, tzinfo=UTC)
PK = UUID("0199a000-0000-7000-8000-000000000001")
ROW = FailureGroup(pk=PK, last_seen=AT, total=7)
GROUPS = FailureGroup.objects.order_by()


def cursor_of(content: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def sql(keyset: KeysetOrder, cursor: str | None) -> str:
    return str(keyset.rows(GROUPS, cursor).query)


@pytest.mark.parametrize("keyset", [BY_TIME, BY_TOTAL, BY_ID])
def test_a_page_starts_after_the_row_of_its_cursor(keyset: KeysetOrder) -> None:
    column = keyset.columns[0]

    assert f'."{column}" < ' in sql(keyset, keyset.cursor(ROW))
    assert f'."{column}" > ' in sql(keyset.reversed, keyset.cursor(ROW))
    assert str(PK).replace("-", "") in sql(keyset, keyset.cursor(ROW)).replace("-", "")


@pytest.mark.parametrize("keyset", [BY_TIME, BY_TOTAL])
def test_a_bound_on_the_first_column_lets_its_index_start_at_the_cursor(
    keyset: KeysetOrder,
) -> None:
    column = keyset.columns[0]

    assert f'."{column}" <= ' in sql(keyset, keyset.cursor(ROW))
    assert f'."{column}" >= ' in sql(keyset.reversed, keyset.cursor(ROW))


def test_without_a_cursor_all_rows_are_in_order() -> None:
    assert "WHERE" not in sql(BY_TIME, None)
    assert BY_TIME.ordering == ["-last_seen", "-id"]
    assert BY_TIME.reversed.ordering == ["last_seen", "id"]


def test_a_cursor_of_another_order_is_invalid() -> None:
    with pytest.raises(InvalidCursor):
        BY_TIME.rows(GROUPS, BY_TOTAL.cursor(ROW))


def test_the_same_cursor_serves_both_directions() -> None:
    assert BY_TIME.cursor(ROW) == BY_TIME.reversed.cursor(ROW)


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "ÿ",
        "W10",
        "{}",
        "\x00",
        "[" * 100_000,
        *map(
            cursor_of,
            [
                [],
                {},
                5,
                None,
                ["last_seen"],
                ["last_seen", AT.isoformat()],
                ["last_seen", AT.isoformat(), str(PK), 1],
                ["last_seen", "2026-11-23T12:00:00", str(PK)],
                ["last_seen", "2026-11-23", str(PK)],
                ["last_seen", "soon", str(PK)],
                ["last_seen", 5, str(PK)],
                ["last_seen", None, str(PK)],
                ["last_seen", [], str(PK)],
                ["last_seen", AT.isoformat(), "5"],
                ["last_seen", AT.isoformat(), 5],
                ["last_seen", AT.isoformat(), []],
                ["last_seen", AT.isoformat(), None],
                ["Last_seen", AT.isoformat(), str(PK)],
            ],
        ),
    ],
)
def test_what_is_no_cursor_is_invalid(cursor: str) -> None:
    with pytest.raises(InvalidCursor, match="Invalid cursor"):
        BY_TIME.rows(GROUPS, cursor)


@pytest.mark.parametrize("total", [2**63, -(2**64), 1.5, True, AT.isoformat(), "many", {}])
def test_a_number_that_no_column_holds_is_invalid(total: Any) -> None:
    with pytest.raises(InvalidCursor):
        BY_TOTAL.rows(GROUPS, cursor_of(["total", total, str(PK)]))
