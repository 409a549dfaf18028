"""The counters of a map after a roll-back of its items."""

from executions.definition.graph.iterations import MapTurns

# Of six items, at most three at a time, two of which have rows.
TURNS = MapTurns(6, 3, next=4, open=(1, 3), spare=(0, 2))


def test_items_set_back_are_under_way_again_as_far_as_there_is_room() -> None:
    turns, again = TURNS.closed([1]).begun_again([])
    assert again == (0, 2)
    assert turns == MapTurns(6, 3, next=4, open=(3, 0, 2))


def test_those_behind_what_was_kept_begin_again_too_and_none_that_is_known_or_is_not_there() -> (
    None
):
    turns, again = TURNS.closed([1, 3]).begun_again([1, 4, 6])
    assert again == (0, 2, 4)
    assert (turns.next, turns.open, turns.spare) == (5, (0, 2, 4), ())


def test_items_between_that_had_not_begun_are_put_aside() -> None:
    turns, again = MapTurns(6, 2, next=1).begun_again([3])
    assert again == (3,)
    assert (turns.next, turns.open, turns.spare) == (4, (3,), (1, 2))


def test_without_room_nothing_begins() -> None:
    assert MapTurns(6, 1, next=2, open=(1,), spare=(0,)).begun_again([2])[1] == ()
