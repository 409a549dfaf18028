"""The executions that the watcher counts as unattended."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from tests.chaos.watch import LIMIT, Watch


def watch() -> Watch:
    return Watch(datetime.now(UTC), [])


def test_what_stands_still_for_longer_than_allowed_is_told() -> None:
    seen = watch()
    one = uuid4()
    seen.note({(one, 3, 1)}, 100.0)
    seen.note({(one, 3, 1)}, 100.0 + LIMIT)
    assert (seen.worst, seen.overlooked) == (LIMIT, {})
    seen.note({(one, 3, 1)}, 101.0 + LIMIT)
    assert seen.overlooked == {one: LIMIT + 1}


def test_what_moved_between_two_looks_begins_anew() -> None:
    seen = watch()
    one = uuid4()
    for second in range(100):
        seen.note({(one, second, 1)}, float(second))
    assert (seen.worst, seen.overlooked) == (0, {})


def test_a_time_in_which_nobody_could_work_is_excused() -> None:
    seen = watch()
    mark: tuple[UUID, int, int] = (uuid4(), 1, 0)
    seen.note({mark}, 0.0)
    with seen.excused():
        seen.note({mark}, 100.0)
    seen.note({mark}, 101.0)
    assert (seen.worst, seen.overlooked) == (0, {})
