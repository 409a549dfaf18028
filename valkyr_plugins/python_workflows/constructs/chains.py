"""Chains: several modules as one task, which fails and is retried as a whole."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from valkyr_plugins.python_workflows.tracing import places
from valkyr_plugins.python_workflows.tracing.graph import Block, TracedScope, TracedTask
from valkyr_plugins.python_workflows.tracing.handles import HandleFacts, ValueHandle, facts_of
from valkyr_plugins.python_workflows.tracing.options import CallOptions
from valkyr_plugins.python_workflows.tracing.places import TracingError
from valkyr_plugins.python_workflows.tracing.trace import Trace, output_of, tracing


class TracedChain:
    """The result of a chain: its last module's result."""

    def __init__(self, task: TracedTask) -> None:
        self._task = task

    def __valkyr_facts__(self) -> HandleFacts:
        facts = facts_of(output_of(self._task))
        assert facts is not None
        return facts

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(output_of(self._task), name)


@contextmanager
def chain(**options: Any) -> Iterator[Any]:
    """Run the steps in the block one after another as one task.

    Each step can read the previous step's output. The chain has no inner edges, so it fails as a
    whole.
    """
    trace, given = tracing(), CallOptions.of(options)
    task = trace.reserve(given, "chain")
    scope = TracedScope("chain", around=trace.scope)
    with trace.inside(Block(scope, around=trace.block)):
        yield TracedChain(task)
    if not scope.tasks:
        raise TracingError("the block of chain() calls no step; call at least one")
    task.document = {
        "modules": [{"id": one.id, **one.document} for one in scope.tasks],
        **given.document(),
    }
    task.leads_on = scope.tasks[-1].leads_on
    reads = [one for one in scope.outside if one.scope is trace.scope]
    trace.place(task, sorted(reads, key=lambda one: one.id), given, line=True)
    trace.add_undo(task, given, {})


def add_module(
    trace: Trace,
    use: str,
    config: Mapping[str, Any],
    options: CallOptions,
    *,
    name: str,
    shape: Any,
    facts: Mapping[str, Any],
) -> ValueHandle:
    """Record the next module of a chain or the only step of an undo; return its output's handle."""
    scope = trace.scope
    if options.after is not None or options.join or options.undo is not None:
        raise TracingError("a step of a chain cannot have edges or an undo; pass them to chain(…)")
    inputs = trace.note_reads(config)
    last = scope.tasks[-1] if scope.tasks else None
    if inputs.follows is not None and inputs.follows is not last:
        raise TracingError("a step of a chain can read only the step right before it")
    wanted = options.id or trace.name_of(name or use.rpartition(".")[2])
    task = TracedTask(scope.new_id(wanted), scope, places.here())
    task.document = {"use": use}
    if inputs.value:
        task.document["with"] = inputs.value
    task.document |= {**facts, **options.document()}
    scope.tasks.append(task)
    return ValueHandle(HandleFacts("previous", follows=task, shape=shape))
