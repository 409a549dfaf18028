"""When a process that ended is started again."""

from valkyr_project.up.restarts import LONGEST_PAUSE, MOST_QUICK_DEATHS, Restarts


def test_a_process_that_ends_at_once_again_and_again_is_given_up() -> None:
    restarts = Restarts()

    pauses = [restarts.after(0.1) for _ in range(MOST_QUICK_DEATHS)]

    assert pauses[-1] is None
    assert all(pause is not None for pause in pauses[:-1])
    assert pauses[:-1] == sorted(p for p in pauses[:-1] if p is not None)


def test_a_long_life_between_deaths_keeps_it_going_for_ever() -> None:
    restarts = Restarts()

    pauses = [restarts.after(3600) for _ in range(50)]

    assert all(pause is not None and pause <= LONGEST_PAUSE for pause in pauses)


def test_one_long_life_forgives_earlier_quick_deaths() -> None:
    restarts = Restarts()
    restarts.after(0.1)
    restarts.after(0.1)
    restarts.after(3600)

    assert restarts.after(0.1) is not None
