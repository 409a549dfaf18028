"""The step that undoes a task: `undo=` of a call, a chain or a construct."""

import inspect
from collections.abc import Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from runners.public.modules import StepFunction
from valkyr_plugins.python_workflows.tracing.graph import Block, TracedScope, TracedTask
from valkyr_plugins.python_workflows.tracing.handles import ValueHandle
from valkyr_plugins.python_workflows.tracing.places import TracingError
from valkyr_plugins.python_workflows.tracing.trace import Trace, output_of


def undo_of(
    trace: Trace, task: TracedTask, undo: Any, config: Mapping[str, Any], shape: Any = Any
) -> dict[str, Any]:
    """Return the `undo` of a task's document.

    `undo` is a step or a function. The parameters of a step are filled by name from the inputs of
    the task (`config`); one other parameter receives the task's result. A function receives the
    result and calls one step. Raises TracingError.
    """
    result = output_of(task, shape=shape)
    scope = TracedScope("undo", around=trace.scope)
    with trace.inside(Block(scope, around=trace.block)), trace.calling():
        if isinstance(undo, StepFunction):
            undo(**_by_name(undo, config, result))
        elif callable(undo):
            undo(result)
        else:
            raise TracingError(
                f"undo must be a step, or a function that calls one; found {undo!r:.80}"
            )
    if len(scope.tasks) != 1:
        raise TracingError(f"undo must call exactly one step; found {len(scope.tasks)}")
    return scope.tasks[0].document


def _by_name(
    undo: StepFunction[..., Any], config: Mapping[str, Any], result: ValueHandle
) -> dict[str, Any]:
    parameters = undo.parameters().parameters.values()
    given = {one.name: config[key] for one in parameters if (key := to_camel(one.name)) in config}
    left = [
        one.name
        for one in parameters
        if one.name not in given and one.default is inspect.Parameter.empty
    ]
    if len(left) > 1:
        raise TracingError(
            f"{undo.__name__} needs {' and '.join(left)}, which the undone step does not "
            f"have; pass them: undo=lambda result: {undo.__name__}(…)"
        )
    return given | dict.fromkeys(left, result)
