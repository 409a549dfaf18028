"""The forms in which the admin shows small values."""

from datetime import UTC, datetime, timedelta

import pytest

from executions.admin import marks, values
from executions.database.clock import first_id_at
from executions.states import ExecutionState
from runners.states import RunState

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("state", [*ExecutionState.values, *RunState])
def test_every_state_has_a_word_an_icon_and_a_colour(state: str) -> None:
    word, icon, colour = marks.MARKS[state]

    assert word
    assert icon
    assert colour in {"grey", "blue", "amber", "green", "red"}


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=5), "5 s ago"),
        (timedelta(seconds=61), "1 min ago"),
        (timedelta(minutes=59), "59 min ago"),
        (timedelta(hours=5, minutes=59), "5 h ago"),
        (timedelta(hours=47), "47 h ago"),
        (timedelta(days=9), "9 d ago"),
        (timedelta(seconds=-20), "in 20 s"),
    ],
)
def test_a_time_is_told_relative_with_the_whole_on_hover(age: timedelta, words: str) -> None:
    shown = marks.ago(NOW - age, NOW)

    assert f">{words}<" in shown
    assert f'datetime="{(NOW - age).isoformat()}"' in shown


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (None, "–"),
        (0.0527, "0.05 ms"),
        (64.1, "64 ms"),
        (1_234.5, "1.23 s"),
        (200_000, "3 min 20 s"),
        (7_500_000, "2 h 5 min"),
    ],
)
def test_a_duration_has_its_unit(milliseconds: float | None, words: str) -> None:
    assert marks.took(milliseconds).replace(marks.NO_BREAK, " ") == words


def test_what_stands_under_a_secrets_name_is_masked_at_any_depth() -> None:
    shown = values.as_json(
        {"headers": [{"Authorization": "Bearer x1"}], "db": {"db_password": "x2"}, "token": "kept"}
    )

    assert "x1" not in shown
    assert "x2" not in shown
    assert "kept" in shown


def test_a_huge_value_is_cut_and_says_so() -> None:
    shown = values.preformatted("x" * (values.SHOWN_CHARACTERS + 5))

    assert "5 more characters" in shown


def test_the_first_id_of_a_moment_sorts_before_all_made_then() -> None:
    from executions.database.ids import uuid7

    before = first_id_at(datetime.now(UTC) - timedelta(seconds=1))
    made = uuid7()
    after = first_id_at(datetime.now(UTC) + timedelta(seconds=1))

    assert before < made < after
    assert before.version == 7
