"""Users intervene at any moment in random nested workflows: they cancel, and roll back.

Workers, messages and time are simulated in one thread (tests/support/single_thread.py); the rows
are PostgreSQL's.
"""

from random import Random
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from executions import lifecycle
from executions.errors import WrongState
from executions.states import FINAL
from runners.models import Run
from tests.property.test_engine import ended_as_drawn
from tests.support.auditor import audit
from tests.support.graphs import draw
from tests.support.single_thread import World, world
from tests.support.workflows import ACTOR, publish, start, states
from valkyr_plugins.timetravel.rollback import roll_back

SETTINGS = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
seeds = st.integers(0, 2**32 - 1)


@SETTINGS
@given(seed=seeds)
def test_a_cancelled_execution_leaves_nothing_live(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = Random(seed)
    drawn = draw(rng, most=8, depth=3, waits=0.3, steps=50)
    with world(rng, monkeypatch, lose=0.05, double=0.1, die=0.02) as wild:
        execution = start(publish(drawn.document))
        _go_on(wild, execution, rng.randint(0, 80))
        if states([execution])[execution] not in FINAL:
            lifecycle.cancel(execution, actor=ACTOR)
        wild.drain()
    assert states([execution])[execution] in FINAL
    audit([execution])


@SETTINGS
@given(seed=seeds)
def test_what_is_rolled_back_comes_to_the_same_end(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = Random(seed)
    drawn = draw(rng, most=8, depth=3, waits=0.3, steps=50)
    with world(rng, monkeypatch, lose=0.05, double=0.1, die=0.02) as wild:
        execution = start(publish(drawn.document))
        for _ in range(3):
            _go_on(wild, execution, rng.randint(0, 120))
            _back_to_some_step(rng, execution)
        wild.run(execution)
        wild.drain()
    ended_as_drawn(drawn, execution)


def _go_on(wild: World, execution: UUID, turns: int) -> None:
    """Let this number of events happen, or fewer if the execution ends before."""
    wild.run(execution, turns=turns, whole=False)


def _back_to_some_step(rng: Random, execution: UUID) -> None:
    """Roll back to a completed step, except in a successful execution, where that is rejected."""
    done = Run.objects.filter(execution_id=execution, state="SUCCESS", superseded=False)
    paths = sorted(done.values_list("step_path", flat=True))
    if not paths:
        return
    if states([execution])[execution] in {"RUNNING", "FAILED"}:
        roll_back(execution, step_path=rng.choice(paths), actor=ACTOR)
    else:
        with pytest.raises(WrongState):
            roll_back(execution, step_path=rng.choice(paths), actor=ACTOR)
