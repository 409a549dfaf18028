"""Random workflows with undo steps fail or are cancelled: every successful step is undone once.

Workers, messages and time are simulated in one thread (tests/support/single_thread.py); the rows
are PostgreSQL's.
"""

from contextlib import suppress
from random import Random
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from executions import lifecycle
from executions.definition.graph.undo import (
    Succeeded,
    UndoMove,
    UndoPlan,
    UndoStatus,
    next_undo,
    undo_order,
)
from executions.errors import WrongState
from runners.models import Run
from tests.support.auditor import audit
from tests.support.graphs import Drawn, draw
from tests.support.interpreter import agrees, places
from tests.support.single_thread import world
from tests.support.workflows import ACTOR, publish, start

SETTINGS = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
seeds = st.integers(0, 2**32 - 1)
ended = st.tuples(st.integers(0, 5), st.integers())
paths = st.text("abc", min_size=1).map(lambda name: f"{name}.main")


@given(st.dictionaries(paths, ended))
def test_undoing_one_after_another_undoes_each_once_in_reverse(
    done: dict[str, tuple[int, int]],
) -> None:
    order = undo_order(Succeeded(at, path) for path, at in done.items())
    states = dict.fromkeys(order, UndoStatus.DUE)
    undone = []
    while (plan := next_undo(states.items())).move is not UndoMove.END:
        assert plan.move is UndoMove.START
        states[plan.path] = UndoStatus.LIVE
        assert next_undo(states.items()) == UndoPlan(UndoMove.WAIT, plan.path)
        states[plan.path] = UndoStatus.OVER
        undone.append(plan.path)

    assert undone == order
    assert sorted(undone) == sorted(f"undo:{path}" for path in done)
    newest_first = [done[path.removeprefix("undo:")] for path in undone]
    assert newest_first == sorted(newest_first, reverse=True)


@SETTINGS
@given(seed=seeds)
def test_whatever_gets_lost_each_step_that_succeeded_is_undone_once_the_newest_first(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
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


def undone_as_drawn(drawn: Drawn, execution: UUID) -> None:
    """Check that each undo step got its task's result, computed only from the drawn workflow."""
    audit([execution])
    runs = list(Run.objects.filter(execution_id=execution, state="SUCCESS"))
    story = drawn.story(places(run.step_path for run in runs).__contains__)
    for run in runs:
        if run.step_path in story.undos:  # more may have run than if everything had ended
            assert agrees(story.undos[run.step_path]["value"], run.inputs["value"])
