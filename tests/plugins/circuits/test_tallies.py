"""The answers of each target that a process remembers: their number, and for how long."""

from valkyr_plugins.circuits.memory import Tallies


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_answers_are_taken_once() -> None:
    tallies: Tallies[str] = Tallies(Clock(), 10)
    for _ in range(3):
        tallies.count("a", 60)

    assert [tallies.take("a", 60), tallies.take("a", 60), tallies.take("b", 60)] == [3, 0, 0]


def test_answers_of_the_last_window_count_and_older_ones_do_not() -> None:
    clock = Clock()
    tallies: Tallies[str] = Tallies(clock, 10)
    for clock.now in (0, 29, 31, 59, 62):
        tallies.count("a", 60)

    assert tallies.take("a", 60) == 3  # of 31, 59 and 62


def test_answers_after_which_nothing_came_are_forgotten() -> None:
    clock = Clock()
    tallies: Tallies[str] = Tallies(clock, 10)
    tallies.count("a", 60)
    clock.now = 60
    assert tallies.take("a", 60) == 0

    tallies.count("a", 60)
    clock.now = 200
    tallies.count("a", 60)
    assert tallies.take("a", 60) == 1


def test_a_process_remembers_so_many_targets_and_no_more() -> None:
    tallies: Tallies[int] = Tallies(Clock(), 3)
    for target in range(4):
        tallies.count(target, 60)

    assert [tallies.take(target, 60) for target in range(4)] == [0, 0, 0, 1]
