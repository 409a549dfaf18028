"""Random definitions reach their usual end after they were rolled back, forked and verified at
random.
"""

from contextlib import suppress
from random import Random
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from executions.errors import WrongState
from runners.models import Run
from tests.property.test_engine import ended_as_drawn
from tests.support.graphs import Drawn, draw
from tests.support.single_thread import world
from tests.support.workflows import ACTOR, publish, start
from valkyr_plugins.timetravel.fork import fork
from valkyr_plugins.timetravel.restore_points import DONE
from valkyr_plugins.timetravel.rollback import roll_back
from valkyr_plugins.timetravel.verify import verify

SETTINGS = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
KINDS = ("flat", "nested")
seeds = st.integers(0, 2**32 - 1)


def _draw(rng: Random, kind: str) -> Drawn:
    return draw(rng) if kind == "flat" else draw(rng, most=8, depth=3, waits=0.3, steps=50)


def _some_step(rng: Random, execution: UUID) -> str | None:
    """Return a random successful step; None if there is none."""
    rows = Run.objects.filter(DONE, execution_id=execution, superseded=False)
    paths = sorted(rows.values_list("step_path", flat=True))
    return rng.choice(paths) if paths else None


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(seed=seeds)
def test_what_is_rolled_back_again_and_again_ends_as_if_it_never_was(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int, kind: str
) -> None:
    rng = Random(seed)
    drawn = _draw(rng, kind)
    with world(rng, monkeypatch, lose=0.05, double=0.1, die=0.02, pause=0.02) as wild:
        execution = start(publish(drawn.document))
        for _ in range(3):
            for _ in range(rng.randint(1, 60)):
                wild.turn()
            step = _some_step(rng, execution)
            if step is not None:
                with suppress(WrongState):  # it has ended, successfully
                    roll_back(execution, step_path=step, actor=ACTOR)
        wild.run(execution)
        wild.drain()
    ended_as_drawn(drawn, execution)
    assert verify(execution).differences == []


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(seed=seeds)
def test_a_fork_from_anywhere_ends_as_its_origin(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int, kind: str
) -> None:
    rng = Random(seed)
    drawn = _draw(rng, kind)
    with world(rng, monkeypatch, lose=0, double=0, die=0) as quiet:
        execution = start(publish(drawn.document))
        quiet.drain_with_retries(execution)
        for _ in range(2):
            step = _some_step(rng, execution)
            if step is None:
                return
            execution = fork(execution, step_path=step, actor=ACTOR).pk
            quiet.drain_with_retries(execution)
            ended_as_drawn(drawn, execution)
            assert verify(execution).differences == []
