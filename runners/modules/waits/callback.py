"""`flow.callback`: sleep until somebody outside calls the step's own address."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from runners.modules.base import Bad, ModuleInputs, ModuleOutputs, Result, StepContext, Wait
from runners.modules.waits.base import MAX_DAYS, Patience, WaitingModule
from runners.states import WaitKind


class CallbackInputs(ModuleInputs):
    """For how long, and what for."""

    title: str = Field(
        "",
        max_length=200,
        description="What is waited for, in a line, for people.",
        examples=["the bank's answer to {{ input.orderId }}"],
    )
    timeout_seconds: Patience | None = Field(
        None,
        description=(
            f"After so long without a call the outcome is `timeout` and the address is void; at "
            f"most {MAX_DAYS} days. Without it the step waits for ever."
        ),
        examples=[3_600],
    )


class CallbackOutputs(ModuleOutputs):
    """What the caller sent."""

    payload: Any = Field(None, description="The body; null where nobody called in time.")
    received_at: str | None = Field(
        None, description="When it came; null where nobody called in time."
    )


class CallbackModule(WaitingModule):
    """Waits until somebody outside calls the step's own address, once.

    Any step of the same workflow, or of a body inside, tells the address by
    `tasks.<id>.callbackUrl`, `<id>` being the callback's task: known before it begins to wait, and
    in bodies another in each turn. A call that comes before the step waits is kept for it. Goes on
    along `success`, or `timeout`.
    """

    type = "flow.callback"
    title = "Callback"
    Inputs = CallbackInputs
    Outputs = CallbackOutputs
    outcomes = ("success", "timeout")
    example = {"title": "the bank's answer to {{ input.orderId }}", "timeoutSeconds": 3_600}
    bad_inputs = (
        Bad("a title of a page", {"title": "x" * 10_000}, "title"),
        Bad("a patience past all bounds", {"timeoutSeconds": 10**12}, "timeoutSeconds"),
        Bad("no patience", {"timeoutSeconds": -1}, "timeoutSeconds"),
    )

    def execute(self, inputs: CallbackInputs, ctx: StepContext) -> Wait:
        return Wait(
            WaitKind.CALLBACK, seconds=inputs.timeout_seconds, facts={"title": inputs.title}
        )

    def woken(self, inputs: CallbackInputs, wake: Mapping[str, Any], ctx: StepContext) -> Result:
        if wake["by"] == "timer":
            outcome, outputs = "timeout", CallbackOutputs()
        else:
            outcome = "success"
            outputs = CallbackOutputs(payload=wake["payload"], received_at=wake["receivedAt"])
        return Result(outputs.model_dump(mode="json", by_alias=True), outcome)
