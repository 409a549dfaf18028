"""For any graph and any end of a step, the decision is total, safe and loses no step."""

from random import Random
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from executions.definition.graph.model import Graph, Step
from executions.definition.graph.places import Place
from runners.failures.classification import Failure
from runners.failures.retry import MAX_DELAY_SECONDS
from runners.modules.base import Result, Wait
from runners.pipeline.decide import RETRIED, Ending, decide
from runners.pipeline.next_steps import SegmentLimits, choose
from runners.segment.context import SegmentContext
from runners.segment.state import SegmentState
from runners.segment.template_data import TemplateData
from runners.segment.work import Broken, Done, Unit, Work
from runners.states import ErrorType, WaitKind
from tests.support.compiled import graph_of
from tests.support.graphs import draw

SETTINGS = settings(max_examples=60, deadline=None)
seeds = st.integers(0, 2**32 - 1)
shares = st.floats(0, 1)


class _Case:
    """A random graph in which some tasks ended, and the step that ran last."""

    def __init__(self, seed: int, **more: Any) -> None:
        self.rng = Random(seed)
        self.graph: Graph = graph_of(draw(self.rng).document)
        version: Any = SimpleNamespace(graph=self.graph, workspace_id=UUID(int=2))
        header = more.pop("header", False)
        context = SegmentContext(UUID(int=1), version, 0, 5, queue="default", header=header)
        data = TemplateData(context, Place("", self.graph))
        self.state = SegmentState(context, data, "", **more)
        self.step = self._end_some()
        self.work = Work(UUID(int=2), UUID(int=1), 1, "me", self.step, self.step.path, None)

    def _end_some(self) -> Step:
        """End tasks as a worker does: a root, and then those that became ready."""
        state, tasks = self.state, self.graph.tasks
        state.frontier.ready = [tasks[self.rng.choice(list(self.graph.roots))].steps[0]]
        step = self.graph.steps[state.frontier.ready[0]]
        for _ in range(self.rng.randrange(1, 6)):
            if not state.frontier.ready:
                break
            step = self.graph.steps[state.frontier.ready.pop(0)]
            outcomes = step.outcomes or ("success",)
            state.ended(step, self.rng.choice(list(outcomes)), {})
        return step

    def done(self, variables: dict[str, Any] | None = None) -> Unit:
        result = Result({}, "success", variables)
        return Unit(Done(self.step, self.state.place, None, result, "{}", 1.0))  # type: ignore[arg-type]

    def failed(self, kind: ErrorType) -> Unit:
        return Unit(None, failure=Failure(kind, "It failed.", "Error"))

    def decide(self, unit: Unit, random: float = 0.5, *, checkpoint: bool = False) -> Any:
        return decide(self.state, self.work, unit, random=random, checkpoint=checkpoint)


@SETTINGS
@given(seeds, st.sampled_from(ErrorType), st.integers(1, 50), shares)
def test_a_failure_is_retried_handled_or_a_dead_letter(
    seed: int, kind: ErrorType, attempt: int, random: float
) -> None:
    case = _Case(seed)
    case.work.attempt = attempt
    decision = case.decide(case.failed(kind), random)

    tries_left = attempt < case.step.retry.max_attempts
    handled = case.graph.tasks[case.step.task].handles_error or case.graph.guarded
    if kind in RETRIED and tries_left:
        assert decision.ending is Ending.RETRY
        assert 0 <= decision.delay <= MAX_DELAY_SECONDS
    else:
        assert decision.ending is (Ending.HANDLE_ERROR if handled else Ending.DEAD_LETTER)
        assert decision.delay == 0


@SETTINGS
@given(seeds, st.integers(1, 20), st.integers(1, 20))
def test_attempts_before_a_requeue_do_not_count(seed: int, attempt: int, budget: int) -> None:
    assume(budget <= attempt)
    case = _Case(seed)
    case.work.attempt, case.work.budget = attempt, budget
    again = _Case(seed)
    again.work.attempt = attempt - budget + 1

    unit = case.failed(ErrorType.TRANSIENT)
    assert case.decide(unit) == again.decide(unit)


@SETTINGS
@given(seeds, st.booleans(), st.booleans(), st.booleans())
def test_a_success_takes_the_lock_where_others_may_know_more(
    seed: int, resumed: bool, checkpoint: bool, variables: bool
) -> None:
    case = _Case(seed, resumed=resumed)
    unit = case.done({"total": 1} if variables else None)
    decision = case.decide(unit, checkpoint=checkpoint)

    assert decision.ending in (Ending.RECORD, Ending.RECORD_LOCKED, Ending.RECORD_LAST)
    if resumed or checkpoint or variables or not case.state.frontier.ready:
        assert decision.ending is not Ending.RECORD
    if decision.ending is Ending.RECORD_LAST:
        assert not resumed
        assert not case.state.frontier.ready
        assert case.state.settled
    if decision.ending is Ending.RECORD:
        # Every join that waits still has a branch of ours that has not ended.
        running = {case.graph.steps[index].task for index in case.state.frontier.ready}
        for join in case.state.frontier.unsettled:
            assert any(edge.source in running for edge in case.graph.tasks[join].incoming)


@SETTINGS
@given(seeds)
def test_a_step_that_waits_sleeps(seed: int) -> None:
    case = _Case(seed, resumed=True)
    unit = Unit(None, wait=Wait(WaitKind.TIMER, seconds=1))
    assert case.decide(unit, checkpoint=True).ending is Ending.SLEEP


@SETTINGS
@given(seeds, st.integers(0, 5), st.integers(0, 5), st.booleans(), st.booleans())
def test_every_ready_step_is_run_kept_or_sent_and_none_twice(
    seed: int, carried: int, most: int, hands_over: bool, breaks: bool
) -> None:
    case = _Case(seed, hands_over=hands_over, carried=carried)
    ready = list(case.state.frontier.ready)
    broken = None
    if breaks and not hands_over:
        failure = Failure(ErrorType.PERMANENT, "It failed.", "Error")
        broken = Broken(case.step, None, failure)
    choice = choose(case.state, case.work, broken, SegmentLimits(most, 1e9))

    mine = [] if choice.step is None or broken is not None else [choice.step]
    assert sorted([*mine, *choice.pending, *choice.kept]) == sorted(ready)
    assert case.state.frontier.ready == ready, "nothing is changed"
    steps = case.graph.steps
    if hands_over:
        assert choice.pending == ready
    else:
        assert all(not steps[index].inline for index in choice.pending)
    assert all(steps[index].inline for index in choice.kept)
    if mine and choice.kept:
        assert steps[mine[0]].inline, "a step that may wait leaves none in memory beside it"
    if mine and not steps[mine[0]].inline:
        assert steps[mine[0]].queue == case.step.queue
        assert carried < most
    if broken is not None:
        assert choice.step == case.step.index


@SETTINGS
@given(seeds, st.floats(0, 100))
def test_a_worker_takes_on_no_more_seconds_than_it_may(seed: int, seconds: float) -> None:
    case = _Case(seed, seconds=50.0)
    choice = choose(case.state, case.work, None, SegmentLimits(100, seconds))
    if choice.step is not None and not case.graph.steps[choice.step].inline:
        assert 50.0 + case.graph.steps[choice.step].timeout_seconds <= seconds
