"""`flow.wait_for_event`: sleep until an event of a name comes that the filter lets pass."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from executions.definition.catalog import ConfigProblem
from executions.definition.templates import one_expression
from runners.modules.base import Bad, ModuleInputs, ModuleOutputs, Result, StepContext, Wait
from runners.modules.waits.base import MAX_DAYS, Patience, WaitingModule
from runners.states import WaitKind

MAX_NAME = 200


class WaitForEventInputs(ModuleInputs):
    """Which event, and for how long."""

    event: str = Field(
        min_length=1,
        max_length=MAX_NAME,
        description="The event's name, as it is published, or signalled to this execution.",
        examples=["order.paid"],
    )
    filter: str | None = Field(
        None,
        description=(
            "One expression that is evaluated for each event of that name: the step goes on when "
            "it holds (as the condition of `flow.if`). It may read `event`, which is the payload, "
            "and whatever the step may read. One that cannot be evaluated, say for a field that "
            "this payload lacks, does not hold; the run's log says so."
        ),
        examples=["{{ event.orderId == input.orderId }}"],
    )
    timeout_seconds: Patience | None = Field(
        None,
        description=(
            f"After so long without a matching event the outcome is `timeout`; at most {MAX_DAYS} "
            "days. Without it the step waits for ever."
        ),
        examples=[86_400],
    )

    @field_validator("event")
    @classmethod
    def _event_is_a_name(cls, event: str) -> str:
        if not event.isprintable() or event != event.strip():
            raise ValueError("a name has no control characters and no spaces around it")
        return event


class WaitForEventOutputs(ModuleOutputs):
    """The event that came."""

    event: Any = Field(None, description="Its payload; null where none came in time.")
    event_id: str | None = Field(
        None, description="The event's id; null for a signal, or where none came in time."
    )
    name: str = Field(description="Its name.")


class WaitForEvent(WaitingModule):
    """Waits for an event, published to the workspace or signalled to this execution.

    Goes on along `success`, or `timeout` when none came in time. Only events count that come
    after the step began to wait.
    """

    type = "flow.wait_for_event"
    title = "Wait for event"
    Inputs = WaitForEventInputs
    Outputs = WaitForEventOutputs
    outcomes = ("success", "timeout")
    deferred = ("filter",)
    example = {
        "event": "order.paid",
        "filter": "{{ event.orderId == input.orderId }}",
        "timeoutSeconds": 86_400,
    }
    bad_inputs = (
        Bad("no name", {"event": ""}, "event"),
        Bad("a name with a control character", {"event": "order\x00paid"}, "control characters"),
        Bad(
            "a patience past all bounds", {"event": "e", "timeoutSeconds": 10**12}, "timeoutSecond"
        ),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        text = config.get("filter")
        if text is None or one_expression(text):
            return []
        message = (
            "a filter is one expression, such as {{ event.total > 0 }}, with nothing around it"
        )
        return [ConfigProblem(("filter",), "not_an_expression", message)]

    def execute(self, inputs: WaitForEventInputs, ctx: StepContext) -> Wait:
        return Wait(
            WaitKind.EVENT,
            seconds=inputs.timeout_seconds,
            key=inputs.event,
            facts={"event": inputs.event},
        )

    def woken(
        self, inputs: WaitForEventInputs, wake: Mapping[str, Any], ctx: StepContext
    ) -> Result:
        if wake["by"] == "timer":
            outcome, outputs = "timeout", WaitForEventOutputs(name=inputs.event)
        else:
            outcome = "success"
            outputs = WaitForEventOutputs(
                event=wake["payload"], event_id=wake["eventId"], name=wake["event"]
            )
        return Result(outputs.model_dump(mode="json", by_alias=True), outcome)
