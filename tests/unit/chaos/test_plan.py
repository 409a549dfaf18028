"""The plan of random kills follows from the seed only."""

from random import Random

from tests.chaos.plan import SHARES, Kill, kills


def test_the_same_seed_gives_the_same_plan() -> None:
    assert kills(Random("7:random"), 180) == kills(Random("7:random"), 180)
    assert kills(Random("7:random"), 180) != kills(Random("8:random"), 180)


def test_a_plan_kills_in_order_within_its_time_and_all_kinds() -> None:
    plan = kills(Random(1), 180)
    assert len(plan) == 120
    moments = [kill.at for kill in plan]
    assert moments == sorted(moments)
    assert 0 <= moments[0] <= moments[-1] <= 180
    assert {kill.kind for kill in plan} == set(SHARES)


def test_a_kill_chooses_among_those_that_are_there() -> None:
    assert Kill(0, "child", 0.99).of([1, 2, 3]) == 3
    assert Kill(0, "child", 0.0).of([1, 2, 3]) == 1
    assert Kill(0, "child", 0.5).of([]) is None
