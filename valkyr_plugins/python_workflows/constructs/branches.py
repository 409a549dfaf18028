"""Branches: `when`, `otherwise`, `switch`, and branches on the outcome of a step."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, TypeVar, cast

from valkyr_plugins.python_workflows.tracing.graph import Block, TracedEdge, TracedFork
from valkyr_plugins.python_workflows.tracing.handles import ValueHandle, facts_of
from valkyr_plugins.python_workflows.tracing.handles import conditional as _conditional
from valkyr_plugins.python_workflows.tracing.options import CallOptions
from valkyr_plugins.python_workflows.tracing.places import TracingError
from valkyr_plugins.python_workflows.tracing.trace import Trace, output_of, task_of, tracing

T = TypeVar("T")


def when(condition: object, **options: Any) -> AbstractContextManager[None]:
    """Run the steps in the block if the condition is true; see `otherwise`.

    The condition becomes a task, which runs after all steps above it and before all steps below
    it. A `when` on the outcome of a step (`failed(paid)`, `decision.rejected`, `outcome(size) ==
    "large"`) becomes a branch of that step. In that case, a step below the block waits for the
    branch only if the step reads a result from the branch.
    """
    facts = facts_of(condition)
    if facts is not None and facts.outcomes is not None and facts.outcomes[1]:
        if options:
            raise TracingError("a branch on a step's outcome is not a task, so it has no options")
        return _side_branch(tracing().edges_from(condition))
    if facts is None and not (isinstance(condition, str) and "{{" in condition):
        raise TracingError(
            f"the condition of when() has a fixed value: {condition!r:.80}; write a plain `if`, "
            "or compare with a step's result or the input"
        )
    return _decision(condition, CallOptions.of(options))


@contextmanager
def _side_branch(edges: list[TracedEdge]) -> Iterator[None]:
    trace = tracing()
    with trace.inside(Block(trace.scope, around=trace.block, entry=edges)) as block:
        yield
    _refuse_empty(block)


@contextmanager
def _decision(condition: object, options: CallOptions) -> Iterator[None]:
    trace = tracing()
    task = trace.add("flow.if", {"condition": condition}, options, name="when", line=True)
    task.leads_on = ("true", "false")
    fork = TracedFork(task, ["true", "false"])
    with _branch(trace, fork, "true"):
        yield


@contextmanager
def otherwise() -> Iterator[None]:
    """Run the steps in the block if the condition of the `when` directly above is false."""
    trace = tracing()
    fork = trace.block.fork
    if fork is None or "false" in fork.ends or "false" not in fork.outcomes:
        raise TracingError(
            "write otherwise() right below the block of a when() with a condition; for a "
            "step's outcome, use another when(), and for several values, switch()"
        )
    with _branch(trace, fork, "false"):
        yield


@contextmanager
def _branch(trace: Trace, fork: TracedFork, outcome: str) -> Iterator[None]:
    edges = [TracedEdge(fork.task, outcome)]
    with trace.inside(Block(trace.scope, around=trace.block, entry=edges)) as block:
        yield
    _refuse_empty(block)
    fork.ends[outcome] = block.ends()
    trace.block.draw_line(fork.exits())
    trace.block.fork = fork


def _refuse_empty(block: Block) -> None:
    if not block.segment and all(edge in block.entry for edge in block.ends()):
        touched = any(task.block is block for task in block.scope.tasks)
        if not touched:
            raise TracingError(
                "the block of this branch calls no step; call one, or remove the branch"
            )


class TracedSwitch:
    """A decision with a branch for each case."""

    def __init__(self, value: object, options: CallOptions) -> None:
        self._trace = tracing()
        self._task = self._trace.add("flow.switch", {"value": value}, options, line=True)
        self._task.leads_on = ()
        self._fork = TracedFork(self._task, ["default"])
        self._trace.block.draw_line(self._fork.exits())
        self._trace.block.fork = self._fork
        self._cases: dict[str, str] = {}
        self._write()

    @contextmanager
    def case(self, *values: str | float | bool | None, name: str = "") -> Iterator[None]:
        """Run the steps in the block for these values; `name` is the edge's outcome."""
        if not values or any(facts_of(one) is not None for one in values):
            raise TracingError("a case needs one or more known values; found a handle or no value")
        texts = [_text(one) for one in values]
        if taken := [one for one in texts if one in self._cases]:
            raise TracingError(f"the value {taken[0]!r} already has a case")
        outcome = name or texts[0]
        self._cases |= dict.fromkeys(texts, outcome)
        self._fork.outcomes.insert(-1, outcome)
        self._write()
        with self._branch(outcome):
            yield

    @contextmanager
    def default(self, name: str = "default") -> Iterator[None]:
        """Run the steps in the block if no case matches."""
        self._fork.outcomes[-1] = name
        self._write()
        with self._branch(name):
            yield

    @contextmanager
    def _branch(self, outcome: str) -> Iterator[None]:
        if self._trace.block.fork is not self._fork:
            raise TracingError("write the cases of a switch right below each other")
        with _branch(self._trace, self._fork, outcome):
            yield

    def _write(self) -> None:
        config = self._task.document["with"]
        same = all(value == outcome for value, outcome in self._cases.items())
        config["cases"] = list(self._cases) if same else dict(self._cases)
        config.pop("default", None)
        if self._fork.outcomes[-1] != "default":
            config["default"] = self._fork.outcomes[-1]
        if not self._fork.ends:
            self._trace.block.draw_line(self._fork.exits())
            self._trace.block.fork = self._fork


def switch(value: object, **options: Any) -> TracedSwitch:
    """Branch on a value; the result has a block for each case, such as `with zone.case("DE"):`."""
    return TracedSwitch(value, CallOptions.of(options))


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def outcome(result: object) -> Any:
    """Return a step's outcome: `outcome(size) == "large"`.

    In `when`, the comparison creates a branch of the step.
    """
    task = task_of(result)
    facts = facts_of(output_of(task, path="outcome"))
    assert facts is not None
    return ValueHandle(replace(facts, task=None, outcomes=(task, ())))


def failed(result: object) -> bool:
    """Return whether a step failed permanently; in `when`, the call creates the failure branch."""
    return cast("bool", outcome(result) == "error")


def succeeded(result: object) -> bool:
    """Return whether a step succeeded."""
    return cast("bool", outcome(result) == "success")


def error(result: object) -> Any:
    """Return the error of a step, with `message`, `type` and `step`: `error(paid).message`."""
    facts = facts_of(output_of(task_of(result), path="error"))
    assert facts is not None
    return ValueHandle(replace(facts, task=None))


def choose(condition: object, then: T, otherwise: T) -> T:
    """Return `then` if the condition is true, otherwise `otherwise`."""
    return cast("T", _conditional(condition, then, otherwise))


def then() -> None:
    """Add a barrier: steps below this call run only after all steps above it have succeeded."""
    block = tracing().block
    ends = block.ends()
    block.draw_line(ends, joins_all=block.needs_all(ends) and len(ends) > 1)


@contextmanager
def parallel() -> Iterator[None]:
    """Start the steps in the block together; steps below the block wait for all of them.

    Use this block for waits: outside it, a wait starts only after all steps above the wait.
    """
    trace = tracing()
    outer = trace.block
    ends = outer.ends()
    inner = Block(
        trace.scope, around=outer, entry=ends, joins_all=outer.needs_all(ends), parallel=True
    )
    with trace.inside(inner):
        yield
    _refuse_empty(inner)
    ends = inner.ends()
    outer.draw_line(ends, joins_all=inner.needs_all(ends))
