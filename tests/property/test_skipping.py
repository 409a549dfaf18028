"""Random workflows whose dead steps are all skipped succeed as their graphs require."""

from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dlq.models import DeadLetterEntry
from dlq.resolve.fix_or_skip import skip
from tests.support.graphs import draw
from tests.support.single_thread import world
from tests.support.workflows import ACTOR, describe, publish, start, states
from valkyr_plugins.timetravel.verify import verify

SETTINGS = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.parametrize("kind", ["flat", "nested"])
@SETTINGS
@given(seed=st.integers(0, 2**32 - 1))
def test_an_execution_whose_dead_steps_are_skipped_ends_well(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int, kind: str
) -> None:
    rng = Random(seed)
    drawn = draw(rng) if kind == "flat" else draw(rng, most=8, depth=3, steps=50)
    with world(rng, monkeypatch, lose=0.05, double=0.1, die=0.02) as wild:
        execution = start(publish(drawn.document))
        wild.run(execution)
        for _ in range(200):
            letters = DeadLetterEntry.objects.filter(execution_id=execution, resolution="PENDING")
            dead = list(letters.order_by("step_path").values_list("pk", flat=True))
            if not dead:
                break
            skip(rng.choice(dead), actor=ACTOR)
            wild.run(execution)
        wild.drain()

    assert states([execution])[execution] == "SUCCESS", describe([execution])
    assert verify(execution).differences == []
