"""The rules by which a failure group wakes and regresses, without a database."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlq.groups.rules import (
    MOVES,
    GroupStanding,
    Occurrence,
    after_redrives,
    back,
    regressed_in,
    wakes,
)
from dlq.states import GroupStatus as S

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LATER, BEFORE = NOW + timedelta(minutes=1), NOW - timedelta(minutes=1)
statuses = st.sampled_from(list(S))
numbers = st.integers(1, 20)
seen = st.builds(Occurrence, st.integers(0, 100), st.dictionaries(numbers, st.just(LATER)))


def test_resolved_as_of_now_any_later_failure_is_a_regression() -> None:
    standing = GroupStanding(S.RESOLVED, NOW)

    assert regressed_in(standing, Occurrence(1, {1: LATER, 2: LATER})) == 2
    assert regressed_in(standing, Occurrence(1, {1: BEFORE})) is None
    assert regressed_in(standing, Occurrence(1, {})) is None


@given(numbers, seen)
def test_resolved_in_a_version_it_regresses_in_that_or_a_later_one(
    number: int, seen: Occurrence
) -> None:
    found = regressed_in(GroupStanding(S.RESOLVED, NOW, resolved_in=number), seen)

    assert (found is not None) == any(one >= number for one in seen.last)
    assert found is None or found == max(seen.last)


@given(statuses, statuses, seen)
def test_what_is_not_resolved_does_not_regress(status: S, before: S, seen: Occurrence) -> None:
    under = before if status is S.REDRIVING else status

    if under is not S.RESOLVED:
        assert regressed_in(GroupStanding(status, NOW, before), seen) is None


def test_one_that_is_redriven_regresses_as_what_it_was() -> None:
    standing = GroupStanding(S.REDRIVING, NOW, S.RESOLVED, resolved_in=3)

    assert regressed_in(standing, Occurrence(9, {2: LATER})) is None
    assert regressed_in(standing, Occurrence(9, {3: LATER})) == 3


@pytest.mark.parametrize(
    ("terms", "awake"),
    [
        ({"until": NOW}, True),
        ({"until": LATER}, False),
        ({"total": 10}, True),
        ({"total": 11}, False),
        ({"version": 4}, True),
        ({"version": 5}, False),
        ({"until": LATER, "total": 11, "version": 4}, True),
        ({}, False),
    ],
)
def test_a_snoozed_group_wakes_by_whichever_term_comes_true(
    terms: dict[str, object], awake: bool
) -> None:
    standing = GroupStanding(S.SNOOZED, BEFORE, S.NEW, **terms)  # type: ignore[arg-type]

    assert wakes(standing, Occurrence(10, {5: NOW}), NOW) is awake


@given(statuses.filter(lambda status: status is not S.SNOOZED), seen)
def test_nothing_wakes_what_does_not_sleep(status: S, seen: Occurrence) -> None:
    assert not wakes(GroupStanding(status, BEFORE, until=BEFORE, total=0, version=0), seen, NOW)


@given(statuses, st.booleans(), st.booleans())
def test_a_clean_redrive_that_leaves_nothing_open_resolves(
    before: S, clean: bool, anything_open: bool
) -> None:
    standing = GroupStanding(S.REDRIVING, NOW, before)
    to = after_redrives(standing, clean=clean, anything_open=anything_open)

    if clean and not anything_open and before is not S.IGNORED:
        assert to is S.RESOLVED
    else:
        assert to is before


@given(statuses, st.sampled_from([S.NEW, S.ACKNOWLEDGED, S.REGRESSED]))
def test_every_way_back_is_a_move(status: S, before: S) -> None:
    if status in {S.SNOOZED, S.REDRIVING}:
        assert back(GroupStanding(status, NOW, before)) in MOVES[status]


def test_every_status_can_be_left_and_reached() -> None:
    assert set(MOVES) == set(S)
    assert all(MOVES.values())
    assert set().union(*MOVES.values()) == set(S)
