"""The engine's own functions compared with a sequential interpreter: random graphs, any order of
events.

Workers, messages and time are simulated in one thread (tests/support/single_thread.py); the rows
are PostgreSQL's.
"""

from random import Random
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from tests.support import left_out
from tests.support.auditor import Audit
from tests.support.graphs import Drawn, draw
from tests.support.interpreter import agrees, places
from tests.support.single_thread import world
from tests.support.workflows import ACTOR, describe, publish, start

SETTINGS = settings(
    # Without plugins, a few show that none is needed; with them, all run.
    max_examples=10 if left_out.ASKED else 40,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # an example takes up to a second: shrinking would take minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
seeds = st.integers(0, 2**32 - 1)
KINDS = ("flat", "nested")


def _draw(rng: Random, kind: str) -> Drawn:
    """Draw a workflow of only tasks, or of nested bodies with steps that wait."""
    return draw(rng) if kind == "flat" else draw(rng, most=8, depth=3, waits=0.3, steps=50)


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(seed=seeds)
def test_every_execution_ends_as_the_interpreter_says_whatever_gets_lost(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int, kind: str
) -> None:
    rng = Random(seed)
    drawn = _draw(rng, kind)
    with world(rng, monkeypatch, lose=0.1, double=0.15, die=0.03) as wild:
        execution = start(publish(drawn.document))
        wild.run(execution)
        wild.drain()
    ended_as_drawn(drawn, execution)


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(seed=seeds)
def test_without_losses_no_sweeper_is_needed(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int, kind: str
) -> None:
    rng = Random(seed)
    drawn = _draw(rng, kind)
    with world(rng, monkeypatch, lose=0, double=0, die=0) as quiet:
        execution = start(publish(drawn.document))
        quiet.drain_with_retries(execution)
    ended_as_drawn(drawn, execution)


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(seed=seeds)
def test_pauses_change_nothing_and_what_is_requeued_mended_goes_on_from_there(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int, kind: str
) -> None:
    rng = Random(seed)
    drawn = _draw(rng, kind)
    with world(rng, monkeypatch, lose=0.05, double=0.1, die=0.02, pause=0.05) as wild:
        execution = start(publish(drawn.document))
        for _ in range(4):
            wild.run(execution)
            wild.drain()
            letters = DeadLetterEntry.objects.filter(execution_id=execution, resolution="PENDING")
            for letter in letters.order_by("step_path"):
                _requeue(letter, drawn)
                for _ in range(rng.randint(0, 3)):
                    wild.turn()
        wild.run(execution)
    ended_as_drawn(drawn, execution)


def _requeue(letter: DeadLetterEntry, drawn: Drawn) -> None:
    """Requeue a dead letter, repaired if possible; other dead letters fail again."""
    if letter.module == "test.effect":
        requeue(letter.pk, actor=ACTOR, overrides={"failTimes": 0})
        drawn.mended.add(letter.step_path)
    else:
        requeue(letter.pk, actor=ACTOR)


def ended_as_drawn(drawn: Drawn, execution: UUID) -> None:
    """Check the execution's state, and every step's output, against the drawing."""
    done = Audit([execution])
    runs = done.runs[execution]
    story = drawn.story(places(runs).__contains__)
    assert done.states[execution] == story.state, describe([execution])
    done.insist()
    found = {
        path: run.outputs for path, tries in runs.items() for run in tries if run.state == "SUCCESS"
    }
    wrong = {
        path: (found.get(path), expected)
        for path, expected in story.outputs.items()
        if not agrees(expected, found.get(path))
    }
    assert not wrong
