"""The age of a replica, computed only from positions."""

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from executions.replica.watch import Positions


def noted(*pairs: tuple[float, int], kept: float = 60) -> Positions:
    found = Positions(kept)
    for at, position in pairs:
        found.note(at, position)
    return found


def test_a_replica_that_replayed_a_position_has_what_was_committed_before() -> None:
    positions = noted((1.0, 100), (2.0, 200), (3.0, 300))

    assert positions.fresh_until(300) == 3.0
    assert positions.fresh_until(299) == 2.0
    assert positions.fresh_until(99) == -inf


def test_an_idle_primary_keeps_its_replica_fresh() -> None:
    assert noted((1.0, 100), (2.0, 100), (9.0, 100)).fresh_until(100) == 9.0


def test_a_replica_that_stands_still_grows_old() -> None:
    positions = noted((1.0, 100))
    for second in range(2, 20):
        positions.note(float(second), 100 * second)
        assert positions.fresh_until(100) == 1.0


def test_what_is_forgotten_is_too_old_to_be_of_use() -> None:
    assert noted((1.0, 100), (20.0, 200), kept=10).fresh_until(150) == -inf


@given(st.lists(st.integers(0, 50), min_size=1), st.integers(0, 2000))
def test_it_never_claims_a_commit_that_was_not_replayed(steps: list[int], replayed: int) -> None:
    # At second n the primary has written the sum of the first n steps.
    positions, written = Positions(1e9), 0
    history = []
    for second, step in enumerate(steps):
        positions.note(float(second), written)
        history.append((second, written))
        written += step

    until = positions.fresh_until(replayed)

    assert all(position <= replayed for second, position in history if second <= until)
