"""The engine's own functions against a sequential interpreter: random graphs, any order of events.

Workers, messages and time are acted in one thread (tests/support/simulation.py), the rows are
PostgreSQL's.
"""

from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dlq.models import DeadLetterEntry
from dlq.requeue import requeue
from tests.support.auditor import audit
from tests.support.graphs import Drawn, draw
from tests.support.interpreter import interpret
from tests.support.simulation import world
from tests.support.workflows import ACTOR, describe, publish, start, states

SETTINGS = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # an example takes up to a second: shrinking would take minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
seeds = st.integers(0, 2**32 - 1)


@SETTINGS
@given(seed=seeds)
def test_every_execution_ends_as_the_interpreter_says_whatever_gets_lost(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    _compare(seed, monkeypatch, lose=0.1, double=0.15, die=0.03)


@SETTINGS
@given(seed=seeds)
def test_without_losses_no_sweeper_is_needed(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = Random(seed)
    drawn = draw(rng)
    with world(rng, monkeypatch, lose=0, double=0, die=0) as quiet:
        execution = start(publish(drawn.document))
        quiet.drain_with_retries(execution)
    assert states([execution])[execution] == interpret(drawn.document, drawn.ends).state
    audit([execution])


@SETTINGS
@given(seed=seeds)
def test_pauses_change_nothing_and_what_is_requeued_mended_goes_on_from_there(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = Random(seed)
    drawn = draw(rng)
    with world(rng, monkeypatch, lose=0.05, double=0.1, die=0.02, pause=0.05) as wild:
        execution = start(publish(drawn.document))
        for _ in range(4):
            wild.run(execution)
            wild.drain()
            letters = DeadLetterEntry.objects.filter(execution_id=execution, resolution="PENDING")
            for letter in letters:
                _requeue(letter, drawn)
                for _ in range(rng.randint(0, 3)):
                    wild.turn()
        wild.run(execution)
    story = interpret(drawn.document, drawn.ends)
    assert states([execution])[execution] == story.state, describe([execution])
    audit([execution])


def _requeue(letter: DeadLetterEntry, drawn: Drawn) -> None:
    """Mended where it can be: `flow.fail` fails again."""
    if letter.module == "test.effect":
        requeue(letter.pk, actor=ACTOR, overrides={"failTimes": 0})
        drawn.ends[letter.step_path] = "success"
    else:
        requeue(letter.pk, actor=ACTOR)


def _compare(seed: int, monkeypatch: pytest.MonkeyPatch, **chances: float) -> None:
    rng = Random(seed)
    drawn = draw(rng)
    with world(rng, monkeypatch, **chances) as wild:
        execution = start(publish(drawn.document))
        try:
            wild.run(execution)
        except AssertionError as error:
            raise AssertionError(f"{error}: {describe([execution])}") from None
        wild.drain()
    story = interpret(drawn.document, drawn.ends)
    assert states([execution])[execution] == story.state, describe([execution])
    audit([execution])
