"""Loops, maps and sub-workflows: the engine runs these modules; this file defines their `with`.

The validation of definitions checks what depends on the body or on the installation's limits.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from executions import payloads
from executions.definition.catalog import Catalog, ConfigProblem
from executions.definition.templates import one_expression
from executions.definition.templating.paths import kind
from runners.modules.base import (
    Bad,
    Module,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
    Wait,
)
from runners.modules.stored_content import PassedOn
from runners.modules.waits import WaitingModule
from runners.states import WaitKind

MAX_COUNT = 1_000_000
MAX_ITEMS = 100_000
MAX_CONCURRENCY = 1_000
LOOP_ENDINGS = ("count", "while", "until")


class Container(Module[Any]):
    """The base class of containers: the engine runs their bodies; no worker runs the module."""

    category: ClassVar[str] = "control"
    retry: ClassVar[str] = "none"

    def execute(self, inputs: Any, ctx: StepContext) -> Result:
        raise NotImplementedError(f"the engine runs the body of {self.type}; it is never executed")

    def collected(self, inputs: Mapping[str, Any], turns: int, last: Any) -> Any:
        return {"iterations": turns, "last": last}


class ExpandingContainer(Container):
    """The base class of containers that create the body for the engine at publication.

    Authors write a `body` of tasks, whose templates can use the names of a `body_kind` body.
    `expand` creates the task that the engine runs, with more tasks around the author's tasks. The
    author's `credential`, `retry`, `timeoutSeconds` and `queue` apply to a step of the new body.
    """

    expands: ClassVar[bool] = True

    def expand(self, task: Mapping[str, Any], catalog: Catalog) -> dict[str, Any]:
        """Return the task that the engine runs, created from an author's valid task."""
        raise NotImplementedError(f"module {self.type} has no expand()")

    def task_problems(self, task: Mapping[str, Any]) -> list[ConfigProblem]:
        """Return the problems of a task and its body, which can be malformed."""
        return []


class LoopInputs(ModuleInputs):
    """What ends the loop: exactly one of `count`, `while` and `until`."""

    count: int | None = Field(
        None,
        ge=0,
        le=MAX_COUNT,
        description=f"The number of iterations, 0 to {MAX_COUNT:,}, or a template for it.",
        examples=[3],
    )
    while_: Any = Field(
        None,
        alias="while",
        description=(
            "A template that is rendered before each iteration. The loop continues while the "
            "value is true (see the condition of `flow.if`). The template can also read `loop` "
            "and the body's tasks, whose `output` is null before the first iteration."
        ),
        examples=["{{ vars.page != none }}"],
    )
    until: Any = Field(
        None,
        description=(
            "A template that is rendered after each iteration. The loop ends when the value is "
            "true. The template can also read `loop` and the body's tasks."
        ),
        examples=["{{ tasks.review.outcome == 'true' }}"],
    )
    max_iterations: int | None = Field(
        None,
        ge=1,
        description=(
            "With `while` or `until`, the loop fails permanently if it needs more iterations than "
            "this. Default `LOOP_LIMIT_DEFAULT`, at most `LOOP_LIMIT_CONDITION` (both 1,000 by "
            "default). This input cannot be a template."
        ),
        examples=[50],
    )


class Loop(Container):
    """Runs its body repeatedly, one iteration after another.

    The output is `{"iterations": n, "last": {task: output, …}}`; `last` is null if there was no
    iteration. In the body, `loop.index` counts from 0 and `loop.iteration` from 1. `loop.previous`
    holds the outputs of the previous iteration (null in the first), and `tasks.<id>.history` holds
    a task's outputs in earlier iterations (at most the latest 1,000).
    """

    type = "flow.loop"
    title = "Loop"
    Inputs = LoopInputs
    container = "loop"
    deferred = ("while", "until")
    example = {"until": "{{ loop.iteration >= 3 }}", "maxIterations": 50}
    bad_inputs = (
        Bad("a negative count", {"count": -1}, "count"),
        Bad("a count that is too high", {"count": 10**12}, "count"),
        Bad("a limit of 0", {"while": True, "maxIterations": 0}, "maxIterations"),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        given = [key for key in LOOP_ENDINGS if config.get(key) is not None]
        if len(given) != 1:
            found = f"found {' and '.join(given)}" if given else "found none of them"
            message = f"a loop needs exactly one of count, while and until; {found}"
            return [ConfigProblem((), "loop_ending", message)]
        if given == ["count"] and config.get("maxIterations") is not None:
            message = (
                "maxIterations works only with while and until; a loop with count runs that many "
                "iterations"
            )
            return [ConfigProblem(("maxIterations",), "conflict", message)]
        return _written_out(config, "maxIterations")


class MapInputs(ModuleInputs):
    """The items for which to run the body, and how to run it."""

    items: Any = Field(
        description=f"A list of at most {MAX_ITEMS:,} items, or a template that yields a list.",
        examples=["{{ tasks.fetch.output.rows }}"],
    )
    max_concurrency: int = Field(
        100,
        ge=1,
        le=MAX_CONCURRENCY,
        description="Maximum number of bodies that run in parallel. This input cannot be a "
        "template.",
        examples=[10],
    )
    on_item_error: Literal["fail", "continue"] = Field(
        "fail",
        description=(
            "The effect of a failed body. `fail`: no further body starts. If the map has an "
            "`error` edge, or a container around the map handles the failure, the map fails when "
            "the running bodies have ended. Otherwise, the failed step becomes a dead letter. "
            '`continue`: the map continues, and `{"error": {"message", "type", "step"}}` replaces '
            "the body's output. This input cannot be a template."
        ),
        examples=["continue"],
    )


class Map(Container):
    """Runs its body once for each item of a list, in parallel.

    The output is the list of the bodies' outputs, in the order of the items. In the body, `item` is
    the item and `index` is its number, from 0.
    """

    type = "flow.map"
    title = "Map"
    Inputs = MapInputs
    container = "map"
    example = {"items": "{{ tasks.fetch.output.rows }}", "maxConcurrency": 10}
    bad_inputs = (
        Bad("a concurrency of 0", {"items": [], "maxConcurrency": 0}, "maxConcurrency"),
        Bad("an unknown reaction to errors", {"items": [], "onItemError": "skip"}, "onItem"),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        return [
            *_items_problems(config["items"]),
            *_written_out(config, "maxConcurrency", "onItemError"),
        ]


def _items_problems(items: Any) -> Iterator[ConfigProblem]:
    if isinstance(items, list):
        if len(items) > MAX_ITEMS:
            message = f"the list has {len(items):,} items; the maximum is {MAX_ITEMS:,}"
            yield ConfigProblem(("items",), "value", message)
    elif not isinstance(items, str) or not one_expression(items):
        message = (
            f"expected a list, or one {{{{ expression }}}} that yields one; found {kind(items)}"
        )
        yield ConfigProblem(("items",), "not_a_list", message)


def _written_out(config: Mapping[str, Any], *keys: str) -> list[ConfigProblem]:
    """Return a problem for each key whose value is a template but must be a literal."""
    return [
        ConfigProblem(
            (key,),
            "template_not_allowed",
            f"{key!r} is read before the workflow runs, so it must be a literal",
        )
        for key in keys
        if isinstance(config.get(key), str) and "{{" in config[key]
    ]


# `flow.subworkflow`: run another workflow as a child execution, and continue with its result.
#
# The engine starts the child in the transaction in which the step begins to wait, or ends if it
# does not wait. This file defines the inputs (`with`) and how the child's end completes the step.


MAX_SLUG = 80
MAX_VERSION = 2**31 - 1


class SubworkflowInputs(ModuleInputs):
    """The workflow to run, and its input."""

    workflow: str = Field(
        min_length=1,
        max_length=MAX_SLUG,
        description="The slug of a workflow of the same workspace, looked up when the step runs.",
        examples=["ship-order"],
    )
    input: PassedOn = Field(
        {},
        description="The child's payload, which must match the workflow's input schema.",
        examples=[{"orderId": "{{ input.orderId }}"}],
    )
    version: int | None = Field(
        None,
        ge=1,
        le=MAX_VERSION,
        description="A published version; by default the latest, or the canary version for its "
        "share of the executions.",
        examples=[3],
    )
    wait: bool = Field(
        True,
        description="Whether to wait for the child to end, without holding a worker, or to "
        "continue immediately.",
    )


class SubworkflowOutputs(ModuleOutputs):
    """The child and, if the step waited for it, its result."""

    execution_id: str = Field(description="The id of the child execution.")
    output: Any = Field(None, description="The child's output, if `wait` is true.")


class Subworkflow(WaitingModule):
    """Runs another workflow of the workspace as a child execution; by default, waits for its end.

    A child inherits its parent's priority and kind of trigger. It starts immediately, without a
    slot or a concurrency key. If the child fails, is cancelled or times out, the step that waits
    for it fails permanently and can take its `error` edge. If the parent is cancelled or times out,
    its children are cancelled; a pause of the parent does not affect them. If you requeue the
    child's dead letter, the child continues, but its parent does not. If you requeue the parent's
    step, it starts a new child. Calls can be nested 16 levels deep.
    """

    type = "flow.subworkflow"
    title = "Sub-workflow"
    Inputs = SubworkflowInputs
    Outputs = SubworkflowOutputs
    example = {"workflow": "ship-order", "input": {"orderId": "{{ input.orderId }}"}}
    bad_inputs = (
        Bad("no workflow", {"workflow": ""}, "workflow"),
        Bad("a slug that is too long", {"workflow": "x" * 10_000}, "workflow"),
        Bad("version 0", {"workflow": "ship-order", "version": 0}, "version"),
    )

    def execute(self, inputs: SubworkflowInputs, ctx: StepContext) -> Wait:
        return Wait(WaitKind.CHILD, facts=inputs.model_dump(mode="json"))

    def woken(self, inputs: SubworkflowInputs, wake: Mapping[str, Any], ctx: StepContext) -> Result:
        child, state, error = wake["executionId"], wake["state"], wake.get("error") or ""
        if state == "SUCCESS" and not error:
            output = payloads.trusted(wake.get("output"))  # from the child's row
            return Result({"executionId": child, "output": output})
        raise StepError(
            f"The child execution {child} of workflow {inputs.workflow!r} "
            f"{ENDINGS.get(state, state)}{': ' if error else '.'}{error}",
            details={"executionId": child, "state": state},
        )


ENDINGS = {
    "SUCCESS": "succeeded, but its output cannot be used",
    "FAILED": "failed",
    "CANCELLED": "was cancelled",
    "TIMEOUT": "ran out of time",
}
