"""The planner against a sequential interpreter, on random graphs and an unreliable queue.

Steps are facts in a dictionary, messages are lost, doubled and reordered, workers decide with
`settle` from what they know and a sweeper with `plan` from all: each run ends, in the state and
with the tasks that the interpreter says, and no step starts before its predecessors settled.
"""

from random import Random
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from executions.catalog import catalog
from executions.graph.compile import compile_graph
from executions.graph.definition import normalise
from executions.graph.model import Graph
from executions.graph.plan import Plan, StepFact, StepStatus, plan, task_outcomes
from executions.graph.readiness import SKIPPED, Readiness, readiness, settle
from executions.graph.resolve import resolve
from tests.support import modules
from tests.support.graphs import ERROR, Drawn, draw
from tests.support.interpreter import Story, interpret

WORKFLOW = UUID(int=8)
SETTINGS = settings(max_examples=300, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def compiled(drawn: Drawn) -> Graph:
    modules.register()
    return compile_graph(resolve(normalise(drawn.document), catalog()), WORKFLOW)


class Queue:
    """One execution: the facts of its steps, and messages that name steps."""

    def __init__(self, graph: Graph, drawn: Drawn, rng: Random) -> None:
        self.graph = graph
        self.ends = drawn.ends
        self.rng = rng
        self.facts: dict[int, StepFact] = {}
        self.messages: list[int] = []
        self.ran: list[int] = []

    def begin(self, steps: list[int]) -> None:
        for index in steps:
            # The partial unique index of the real table: one live or successful run a step.
            assert index not in self.facts, f"{self.graph.steps[index].path} was started twice"
            self.facts[index] = StepFact(StepStatus.LIVE)
            chance = self.rng.random()
            self.messages += [index] * (0 if chance < 0.2 else 2 if chance < 0.35 else 1)

    def skip(self, tasks: list[int]) -> None:
        for task in tasks:
            first = self.graph.tasks[task].steps[0]
            assert first not in self.facts
            self.facts[first] = StepFact(StepStatus.SKIPPED)

    def deliver(self) -> None:
        """Some message arrives; its step runs if it is live, and what follows is planned."""
        index = self.messages.pop(self.rng.randrange(len(self.messages)))
        if self.facts[index].status is not StepStatus.LIVE:
            return
        self._assert_ready(index)
        self.ran.append(index)
        step = self.graph.steps[index]
        end = self.ends[step.path]
        if end == ERROR and not self.graph.tasks[step.task].handles_error:
            self.facts[index] = StepFact(StepStatus.DEAD)
        elif end == ERROR:
            self.facts[index] = StepFact(StepStatus.FAILED_OVER)
            self._follow(step.task)
        else:
            self.facts[index] = StepFact(StepStatus.DONE, end)
            if step.following is None:
                self._follow(step.task)
            elif self.rng.random() < 0.9:  # else the worker dies, and the sweeper plans it
                self.begin([step.following])

    def _follow(self, task: int) -> None:
        """As a completing step does; now and then its worker dies between the two."""
        if self.rng.random() < 0.1:
            return
        settlement = settle(self.graph, task_outcomes(self.graph, self.facts), [task])
        self.begin([self.graph.tasks[index].steps[0] for index in settlement.ready])
        self.skip(settlement.skipped)

    def sweep(self) -> Plan:
        """Plan it whole, and send again what is live without a message."""
        planned = plan(self.graph, self.facts)
        self.begin(planned.start)
        self.skip(planned.skip)
        if not self.messages:
            self.messages = [i for i, f in self.facts.items() if f.status is StepStatus.LIVE]
        return planned

    def _assert_ready(self, index: int) -> None:
        step = self.graph.steps[index]
        if step.previous is not None:
            assert self.facts[step.previous].status is StepStatus.DONE
        else:
            outcomes = task_outcomes(self.graph, self.facts)
            assert readiness(self.graph.tasks[step.task], outcomes) is Readiness.READY


@SETTINGS
@given(seed=seeds)
def test_every_run_ends_as_the_interpreter_says(seed: int) -> None:
    rng = Random(seed)
    drawn = draw(rng, most=20)
    graph = compiled(drawn)
    queue = Queue(graph, drawn, rng)
    queue.begin([graph.tasks[task].steps[0] for task in graph.roots])
    planned = None
    for _ in range(50 * len(graph.steps) + 50):
        if queue.messages and rng.random() < 0.85:
            queue.deliver()
            continue
        planned = queue.sweep()
        if planned.finished:
            break
    assert planned is not None
    assert planned.finished, "it did not end"
    story = interpret(drawn.document, drawn.ends)
    assert ("FAILED" if planned.dead else "SUCCESS") == story.state
    assert bool(planned.dead) or not planned.blocked
    _compare(graph, queue, story)


def _compare(graph: Graph, queue: Queue, story: Story) -> None:
    outcomes = task_outcomes(graph, queue.facts)
    named = {graph.tasks[task].id: outcome for task, outcome in outcomes.items()}
    assert {name for name, outcome in named.items() if outcome == SKIPPED} == story.skipped
    assert {n: o for n, o in named.items() if o != SKIPPED} == story.outcomes
    ran = {graph.steps[index].path for index in queue.ran}
    assert ran == story.done | story.dead | story.failed_over
    assert len(ran) == len(queue.ran), "no step ran twice"


@SETTINGS
@given(seed=seeds)
def test_what_settles_step_by_step_is_what_a_whole_plan_says(seed: int) -> None:
    rng = Random(seed)
    drawn = draw(rng, most=20)
    graph = compiled(drawn)
    story = interpret(drawn.document, drawn.ends)
    ended = {
        graph.task_by_id[name]: outcome
        for name, outcome in story.outcomes.items()
        if rng.random() < 0.7
    }
    facts: dict[int, StepFact] = {}
    for task, outcome in ended.items():
        for index in graph.tasks[task].steps:
            failed = _end(drawn, graph, index) == ERROR
            status = StepStatus.FAILED_OVER if failed else StepStatus.DONE
            facts[index] = StepFact(status, outcome)
            if failed:
                break
    whole = plan(graph, facts)
    outcomes = task_outcomes(graph, facts)
    # A plan also starts roots, which nothing settles.
    roots = {task for task in graph.roots if task not in outcomes}
    settlement = settle(graph, outcomes, list(ended))
    started = {graph.steps[index].task for index in whole.start} - roots
    assert set(settlement.ready) == started
    assert set(settlement.skipped) == set(whole.skip)
    assert set(settlement.unsettled) <= set(whole.blocked)


def _end(drawn: Drawn, graph: Graph, index: int) -> str:
    return drawn.ends[graph.steps[index].path]
