"""Single seeds of `test_engine`: `make mutate` runs them, the suite does not."""

from contextlib import suppress
from random import Random

import pytest

from executions import lifecycle
from executions.errors import WrongState
from tests.property.test_compensation import undone_as_drawn
from tests.property.test_engine import KINDS, _draw, ended_as_drawn
from tests.support.graphs import draw
from tests.support.single_thread import world
from tests.support.workflows import ACTOR, publish, start

SEEDS = range(1, 16)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_wild_world(engine: None, monkeypatch: pytest.MonkeyPatch, seed: int, kind: str) -> None:
    rng = Random(seed)
    drawn = _draw(rng, kind)
    with world(rng, monkeypatch, lose=0.1, double=0.15, die=0.03) as wild:
        execution = start(publish(drawn.document))
        wild.run(execution)
        wild.drain()
    ended_as_drawn(drawn, execution)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_quiet_world(engine: None, monkeypatch: pytest.MonkeyPatch, seed: int, kind: str) -> None:
    rng = Random(seed)
    drawn = _draw(rng, kind)
    with world(rng, monkeypatch, lose=0, double=0, die=0) as quiet:
        execution = start(publish(drawn.document))
        quiet.drain_with_retries(execution)
    ended_as_drawn(drawn, execution)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_world_to_be_undone(engine: None, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    rng = Random(seed)
    drawn = draw(rng, most=8, depth=2, waits=0.3, steps=40, undo=True)
    with world(rng, monkeypatch, lose=0.05, double=0.1, die=0.03) as wild:
        execution = start(publish(drawn.document))
        wild.run(execution, turns=rng.randint(1, 150), whole=False)
        if rng.random() < 0.7:
            with suppress(WrongState):
                lifecycle.cancel(execution, actor=ACTOR)
        wild.run(execution)
        wild.drain()
    undone_as_drawn(drawn, execution)
