"""The conditions under which a process that ended is restarted."""

from valkyr_project.up.supervisor import LONGEST_PAUSE, MOST_QUICK_DEATHS, QUICK_SECONDS, Restarts


def test_a_process_that_ends_at_once_again_and_again_is_failing_and_started_ever_more_slowly() -> (
    None
):
    restarts = Restarts()
    failing = []
    pauses = []

    for _ in range(5_000):
        pauses.append(restarts.after(0.1))
        failing.append(restarts.failing)

    assert failing[: MOST_QUICK_DEATHS - 1] == [False] * (MOST_QUICK_DEATHS - 1)
    assert all(failing[MOST_QUICK_DEATHS - 1 :])
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE


def test_a_failing_process_that_lives_long_enough_is_failing_no_more() -> None:
    restarts = Restarts()
    for _ in range(MOST_QUICK_DEATHS):
        restarts.after(0.1)

    assert not restarts.settled(QUICK_SECONDS - 1)
    assert restarts.failing
    assert restarts.settled(QUICK_SECONDS)
    assert not restarts.failing
    assert not restarts.settled(3600), "there is nothing left to clear"


def test_a_long_life_between_deaths_keeps_it_going_for_ever() -> None:
    restarts = Restarts()

    pauses = [restarts.after(3600) for _ in range(50)]

    assert all(pause <= LONGEST_PAUSE for pause in pauses)
    assert not restarts.failing


def test_one_long_life_forgives_earlier_quick_deaths() -> None:
    restarts = Restarts()
    restarts.after(0.1)
    restarts.after(0.1)
    restarts.after(3600)

    restarts.after(0.1)

    assert not restarts.failing
