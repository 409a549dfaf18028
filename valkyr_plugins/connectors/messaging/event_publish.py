"""`event.publish`: publish an event in the workspace."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field, JsonValue, field_validator

from runners.public.modules import Bad, Module, ModuleInputs, ModuleOutputs, Result, StepContext

MAX_NAME = 200
# Up to 500 triggers may fail, with long messages. The event itself stores all of them.
MAX_REFUSED = 20


class EventPublishInputs(ModuleInputs):
    """The name and payload of the event."""

    event: str = Field(
        min_length=1,
        max_length=MAX_NAME,
        description="The event's name.",
        examples=["order.paid"],
    )
    payload: JsonValue = Field(
        None,
        description="The payload of the event, at most 1 MiB.",
        examples=[{"orderId": "{{ input.orderId }}"}],
    )

    @field_validator("event")
    @classmethod
    def _event_is_a_name(cls, event: str) -> str:
        if not event.isprintable() or event != event.strip():
            raise ValueError("a name has no control characters and no spaces around it")
        return event


class EventPublishOutputs(ModuleOutputs):
    """The published event, and the executions that it started."""

    event_id: str = Field(description="The event's id, the same in every retry of this step.")
    executions: list[str] = Field(description="IDs of the executions that the event started.")
    refused: list[dict[str, Any]] = Field(
        description=(
            f"The first {MAX_REFUSED} of the event's triggers that could not start a workflow, "
            "each with `triggerId`, `workflowId`, `code` and `message`."
        )
    )
    created: bool = Field(
        description="False if an earlier attempt of this step published the event."
    )


class EventPublish(Module[EventPublishInputs]):
    """Publishes an event in the workflow's own workspace, as `POST /v1/Event` does.

    The event starts every workflow that has a matching event trigger, and wakes every step that
    waits for the event. If more than 500 enabled triggers have the event's name, only the 500
    oldest are checked. The event is published once, however often the step is retried. The step
    does not wait for the started workflows; to wait, use `flow.subworkflow`. If a trigger cannot
    start a workflow, for example because of a quota or an invalid payload, the step does not fail:
    `refused` lists the trigger.

    An event can start a workflow that publishes the next event. So that a workflow cannot trigger
    itself endlessly, the step fails if its event would be the eleventh in such a chain.
    """

    type = "event.publish"
    title = "Publish event"
    category = "messages"
    queue = "io"
    effect = "idempotent"
    takes_secrets = False
    Inputs = EventPublishInputs
    Outputs: ClassVar[Any] = EventPublishOutputs
    example: ClassVar[Mapping[str, Any]] = {
        "event": "order.paid",
        "payload": {"orderId": "{{ input.orderId }}"},
    }
    bad_inputs = (
        Bad("no name", {"event": ""}, "event: String should have at least 1 character"),
        Bad(
            "a name that is too long",
            lambda: {"event": "x" * 1_000_000},
            "event: String should have at most",
        ),
        Bad(
            "a name with a line break", {"event": "a\nb"}, "event: a name has no control characters"
        ),
        Bad(
            "a payload that is not JSON",
            {"event": "a", "payload": {"n": b"\xff"}},
            "payload",
        ),
    )

    def execute(self, inputs: EventPublishInputs, ctx: StepContext) -> Result:
        told = ctx.publish_event(inputs.event, inputs.payload)
        for refusal in told.refused:
            ctx.log.warning(str(refusal["message"]), trigger=refusal["triggerId"])
        outputs = EventPublishOutputs(
            event_id=told.event_id,
            executions=list(told.executions),
            refused=[dict(refusal) for refusal in told.refused[:MAX_REFUSED]],
            created=told.created,
        )
        return Result(outputs.model_dump(mode="json", by_alias=True))
