"""`flow.subworkflow`: run another workflow as a child execution, and go on with what it returns.

The engine starts the child, in the transaction in which the step falls asleep (or is done, where
it does not wait); here is what the `with` may hold and how the child's end ends the step.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from runners.modules.base import (
    Bad,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
    Wait,
)
from runners.modules.waits.base import WaitingModule
from runners.states import WaitKind

MAX_SLUG = 80
MAX_VERSION = 2**31 - 1


class SubworkflowInputs(ModuleInputs):
    """Which workflow to run, and what to give it."""

    workflow: str = Field(
        min_length=1,
        max_length=MAX_SLUG,
        description="The slug of a workflow of the same workspace, looked up when the step runs.",
        examples=["ship-order"],
    )
    input: Any = Field(
        {},
        description="The child's payload; it must fit that workflow's input schema.",
        examples=[{"orderId": "{{ input.orderId }}"}],
    )
    version: int | None = Field(
        None,
        ge=1,
        le=MAX_VERSION,
        description="A published version; the latest one unless given.",
        examples=[3],
    )
    wait: bool = Field(
        True,
        description="Whether to wait for the child's end, holding no worker, or to go on at once.",
    )


class SubworkflowOutputs(ModuleOutputs):
    """The child and, once it was waited for, what it returned."""

    execution_id: str = Field(description="The child execution.")
    output: Any = Field(None, description="What the child returned; only where `wait` is true.")


class Subworkflow(WaitingModule):
    """Runs another workflow of the workspace as a child execution, and waits for its end.

    A child inherits priority and kind of trigger, and runs at once, as a part of its root: it
    takes no place of the workspace and no concurrency key. The step ends with the child: a child
    that fails, is cancelled or times out is a permanent failure of the step, which its `error`
    edge can take. Cancelling the parent, or its time-out, cancels its children; a pause does not
    reach them. A child that goes on after a requeue of its dead letter no longer reaches the
    parent, whose step has failed; requeue that step too, and it starts a new child. At most 16
    executions may call each other in a row.
    """

    type = "flow.subworkflow"
    title = "Sub-workflow"
    Inputs = SubworkflowInputs
    Outputs = SubworkflowOutputs
    example = {"workflow": "ship-order", "input": {"orderId": "{{ input.orderId }}"}}
    bad_inputs = (
        Bad("no workflow", {"workflow": ""}, "workflow"),
        Bad("a slug of a page", {"workflow": "x" * 10_000}, "workflow"),
        Bad("a version that cannot be", {"workflow": "ship-order", "version": 0}, "version"),
    )

    def execute(self, inputs: SubworkflowInputs, ctx: StepContext) -> Wait:
        return Wait(WaitKind.CHILD, facts=inputs.model_dump(mode="json"))

    def woken(self, inputs: SubworkflowInputs, wake: Mapping[str, Any], ctx: StepContext) -> Result:
        child, state, error = wake["executionId"], wake["state"], wake.get("error") or ""
        if state == "SUCCESS" and not error:
            return Result({"executionId": child, "output": wake.get("output")})
        raise StepError(
            f"The child execution {child} of workflow {inputs.workflow!r} "
            f"{ENDINGS.get(state, state)}{': ' if error else '.'}{error}",
            details={"executionId": child, "state": state},
        )


ENDINGS = {
    "SUCCESS": "ended well, but its output cannot be taken over",
    "FAILED": "failed",
    "CANCELLED": "was cancelled",
    "TIMEOUT": "ran out of time",
}
