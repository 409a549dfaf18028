"""Steps with a body (`each` for items, `repeat` for iterations), and workflows as steps (`sub`)."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypeVar, cast

from runners.public.modules import StepFunction
from valkyr_plugins.python_workflows.tracing.document import body_result, refuse_empty
from valkyr_plugins.python_workflows.tracing.graph import Block, TracedScope, TracedTask
from valkyr_plugins.python_workflows.tracing.handles import (
    HandleFacts,
    ValueHandle,
    facts_of,
    item_shape,
)
from valkyr_plugins.python_workflows.tracing.options import NONE, CallOptions
from valkyr_plugins.python_workflows.tracing.places import TracingError
from valkyr_plugins.python_workflows.tracing.trace import Trace, output_of, tracing

T = TypeVar("T")
R = TypeVar("R")


def each(
    items: Iterable[T],
    body: Callable[[T], R] | Callable[[T, int], R],
    *,
    at_most: int | None = None,
    on_item_error: Literal["fail", "continue"] | None = None,
    **options: Any,
) -> list[R]:
    """Run a body once for each item, in parallel; return the results in the order of the items.

    `body` is a step, or a function of the item (and its number, from 0) that calls steps and
    returns a value. At most `at_most` bodies (100 by default) run at the same time.

    With `on_item_error="continue"`, all items run, and a failed item's result is `{"error": …}`. By
    default, if a branch (see `failed`) or a surrounding `each` handles the failure, this `each`
    fails when the running bodies have ended. If nothing handles the failure, the failed step in the
    body becomes a dead letter.
    """
    trace, given = tracing(), CallOptions.of(options)
    task = trace.reserve(given, "each")
    scope = _traced_body(trace, items, body)
    config: dict[str, Any] = {"items": items}
    if at_most is not None:
        config["maxConcurrency"] = at_most
    if on_item_error is not None:
        config["onItemError"] = on_item_error
    trace.add("flow.map", config, given, body=scope, task=task)
    return cast("list[R]", output_of(task))


def _traced_body(trace: Trace, items: Any, body: Callable[..., R]) -> TracedScope:
    scope = TracedScope("map", around=trace.scope)
    item = ValueHandle(HandleFacts("item", within=frozenset({scope}), shape=item_shape(items)))
    number = ValueHandle(HandleFacts("index", within=frozenset({scope}), shape=int))
    with trace.inside(Block(scope, around=None)), trace.calling():
        result = body(item, number) if _takes_number(body) else body(item)
        refuse_empty(scope, "the body of each()")
        if result is not None and not body_result(scope, result):
            trace.add("flow.noop", {"value": result}, NONE, name="result", line=True)
    return scope


def _takes_number(body: Callable[..., Any]) -> bool:
    if isinstance(body, StepFunction):
        return False
    needed = [
        one
        for one in inspect.signature(body).parameters.values()
        if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    return len(needed) > 1


class TracedTurns:
    """Inside the loop's block, the current iteration; after the block, the loop's result."""

    def __init__(self, task: TracedTask, scope: TracedScope) -> None:
        self._task = task
        self._scope = scope
        self.ending: dict[str, Any] = {}

    def __valkyr_facts__(self) -> HandleFacts:
        facts = facts_of(output_of(self._task))
        assert facts is not None
        return facts

    @property
    def index(self) -> int:
        """Return the number of the iteration, counted from 0."""
        return cast("int", self._loop("index", int))

    @property
    def iteration(self) -> int:
        """Return the number of the iteration, counted from 1."""
        return cast("int", self._loop("iteration", int))

    @property
    def previous(self) -> Any:
        """Return the outputs of the previous iteration, keyed by task; None in the first one."""
        return self._loop("previous", Any)

    @property
    def iterations(self) -> int:
        """Return the loop's number of iterations; read it after the loop."""
        return cast("int", output_of(self._task).iterations)

    @property
    def last(self) -> Any:
        """Return the outputs of the last iteration, keyed by task; read them after the loop.

        Return None if there were no iterations.
        """
        return output_of(self._task).last

    def until(self, condition: object) -> None:
        """End the loop if the condition is true after an iteration."""
        self._end("until", condition)

    def while_(self, condition: object) -> None:
        """Start each iteration only if the condition is true; otherwise, end the loop.

        Before the first iteration, the results of the block's steps are None, so the condition must
        allow for that.
        """
        self._end("while", condition)

    def _loop(self, name: str, shape: Any) -> ValueHandle:
        return ValueHandle(
            HandleFacts(f"loop.{name}", within=frozenset({self._scope}), shape=shape)
        )

    def _end(self, kind: str, condition: object) -> None:
        if self.ending:
            raise TracingError(f"the loop already has a {next(iter(self.ending))}")
        self.ending = {kind: _condition(condition)}


@contextmanager
def repeat(
    *,
    count: object = None,
    until: object = None,
    while_: object = None,
    at_most: int | None = None,
    **options: Any,
) -> Iterator[TracedTurns]:
    """Run the steps in the block repeatedly; the name after `as` is the current iteration.

    The loop ends after `count` iterations or on a condition: `until` or `while_` here, or a call to
    `turn.until(…)` or `turn.while_(…)` in the block. A condition in the block can read the results
    of the block's steps. A loop with a condition fails if it needs more than `at_most` iterations
    (default: `LOOP_LIMIT_DEFAULT`, usually 1,000).
    """
    trace, given = tracing(), CallOptions.of(options)
    task = trace.reserve(given, "repeat")
    scope = TracedScope("loop", around=trace.scope)
    turns = TracedTurns(task, scope)
    config = {"count": count, "until": _condition(until), "while": _condition(while_)}
    config = {key: value for key, value in config.items() if value is not None}
    with trace.inside(Block(scope, around=None)):
        yield turns
        refuse_empty(scope, "the block of repeat()")
        ending = trace.note_reads(turns.ending).value
    if len(config) + len(ending) != 1:
        raise TracingError("a loop needs exactly one of count, until and while_")
    config |= ending
    if at_most is not None:
        config["maxIterations"] = at_most
    trace.add("flow.loop", config, given, body=scope, task=task, line=True)


def _condition(condition: Any) -> Any:
    facts = facts_of(condition)
    if condition is None or facts is not None or isinstance(condition, str):
        return condition
    raise TracingError(f"a loop's condition must be a handle; found {condition!r:.80}")


def history(result: T) -> list[T]:
    """Return a step's results in earlier iterations of a loop, newest last, at most 1,000."""
    from valkyr_plugins.python_workflows.tracing.trace import address_of, task_of

    task = task_of(result)
    source = f"{address_of(task)}.history"
    return cast("list[T]", ValueHandle(HandleFacts(source, reads=frozenset({task}))))


def sub(
    workflow: Any, *, wait: bool = True, version: int | None = None, **options: Any
) -> Callable[..., Any]:
    """Return another workflow as a step: `sub(ship_order)(order.id)`.

    For a slug, pass the input by name or as one mapping: `sub("ship-order")(order=order.id)`. The
    step's result is the child's result. With `wait=False`, the caller continues immediately,
    without a result.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        trace, given = tracing(), CallOptions.of(options)
        slug, payload = _called(workflow, args, kwargs)
        config: dict[str, Any] = {"workflow": slug, "input": payload}
        if version is not None:
            config["version"] = version
        if not wait:
            config["wait"] = False
        task = trace.add("flow.subworkflow", config, given, name=slug.replace("-", "_"))
        return output_of(task, path="output.output")

    return call


def _called(workflow: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[str, Any]:
    if isinstance(workflow, str):
        if len(args) > 1 or (args and kwargs):
            raise TracingError(
                "a workflow named by its slug takes its input by name, or as one mapping"
            )
        return workflow, args[0] if args else dict(kwargs)
    payload = getattr(workflow, "payload_of", None)
    if payload is None:
        raise TracingError(f"sub() takes a workflow or its slug; found {workflow!r:.80}")
    return workflow.slug, payload(args, kwargs)
