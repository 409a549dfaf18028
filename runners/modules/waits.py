"""Modules that wait without a worker, for a time, an event or a callback, and their base class."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from pydantic import Field, field_validator

from executions.definition.catalog import ConfigProblem
from executions.definition.templates import one_expression
from executions.payloads import trusted
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
from runners.states import WaitKind

# Parts that the waiting modules share: the longest wait, and the type of a wait's length.


MAX_DAYS = 365
MAX_SECONDS = MAX_DAYS * 86_400

# The type of a wait's length, in seconds.
Patience = Annotated[float, Field(gt=0, le=MAX_SECONDS, allow_inf_nan=False)]


class WaitingModule(Module[Any]):
    """The base class of modules that suspend with `Wait`.

    The engine keeps the run's row and continues with `woken`.
    """

    category: ClassVar[str] = "control"
    retry: ClassVar[str] = "none"
    timeout_seconds: ClassVar[float] = 10.0
    waits: ClassVar[bool] = True
    takes_secrets: ClassVar[bool] = False


# `flow.delay`: wait for a time, or until an instant.


# The maximum difference between a machine's clock and the database's clock, in seconds.
CLOCKS_APART = 600.0


class DelayInputs(ModuleInputs):
    """The length of the wait: exactly one of `seconds` and `until`."""

    seconds: float | None = Field(
        None,
        le=MAX_SECONDS,
        allow_inf_nan=False,
        description=f"Seconds to wait, at most {MAX_DAYS} days; 0 or less means no wait.",
        examples=[300],
    )
    until: str | None = Field(
        None,
        max_length=64,
        description=(
            f"A time in ISO 8601 with its zone, at most {MAX_DAYS} days ahead; a time in "
            "the past means no wait."
        ),
        examples=["2027-01-31T08:00:00+01:00", "{{ input.shipAt }}"],
    )

    @field_validator("until")
    @classmethod
    def _until_is_an_instant(cls, until: str | None) -> str | None:
        if until is not None:
            instant(until)
        return until


class DelayOutputs(ModuleOutputs):
    """The time that the step waited."""

    waited_seconds: float = Field(description="The actual wait, by the database's clock.")


def instant(text: str) -> datetime:
    """Return the instant that a string names.

    Raises ValueError if the string is invalid or has no time zone.
    """
    try:
        found = datetime.fromisoformat(text)
        # Near the calendar's limits, such as the end of 9999, this conversion can overflow.
        known = found.astimezone(UTC) if found.tzinfo is not None else None
    except (ValueError, OverflowError):
        known = None
    if known is None:
        raise ValueError(
            f"expected an instant with its zone, such as 2027-01-31T08:00:00+01:00; found {text!r}"
        )
    return known


class Delay(WaitingModule):
    """Waits for a period of time, or until a given time, without holding a worker.

    If a delay ends while the execution is paused, the step continues after the pause.
    """

    type = "flow.delay"
    title = "Delay"
    Inputs = DelayInputs
    Outputs = DelayOutputs
    example = {"until": "{{ input.shipAt }}"}
    bad_inputs = (
        Bad("an instant without a zone", {"until": "2027-01-31T08:00:00"}, "with its zone"),
        Bad("a text that is not an instant", {"until": "tomorrow"}, "with its zone"),
        Bad("a wait that is too long", {"seconds": 10**12}, "seconds"),
        Bad("a number of seconds that is not finite", {"seconds": float("nan")}, "seconds"),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        given = [key for key in ("seconds", "until") if config.get(key) is not None]
        if len(given) == 1:
            return []
        found = "both" if given else "neither"
        return [
            ConfigProblem(
                (), "delay_length", (f"a delay needs either seconds or until; found {found}")
            )
        ]

    def execute(self, inputs: DelayInputs, ctx: StepContext) -> DelayOutputs | Wait:
        if (inputs.seconds is None) == (inputs.until is None):
            found = "neither" if inputs.seconds is None else "both"
            raise StepError(f"a delay needs either seconds or until; found {found}")
        if inputs.until is None:
            left, wait = inputs.seconds or 0.0, Wait(WaitKind.TIMER, seconds=inputs.seconds)
        else:
            until = instant(inputs.until)
            # The database decides whether the time is over, except for an instant that is past on
            # any clock.
            left = (until - datetime.now(UTC)).total_seconds() + CLOCKS_APART
            wait = Wait(WaitKind.TIMER, until=until)
        if left > MAX_SECONDS + CLOCKS_APART:
            raise StepError(
                f"{inputs.until} is {left / 86_400:.0f} days ahead; the maximum is {MAX_DAYS} days"
            )
        return wait if left > 0 else DelayOutputs(waited_seconds=0.0)

    def woken(self, inputs: DelayInputs, wake: Mapping[str, Any], ctx: StepContext) -> Result:
        return Result({"waitedSeconds": wake["waitedSeconds"]})


# `flow.wait_for_event`: wait until an event of this name arrives that passes the filter.


MAX_NAME = 200


class WaitForEventInputs(ModuleInputs):
    """The event to wait for, and the time limit."""

    event: str = Field(
        min_length=1,
        max_length=MAX_NAME,
        description="The name of the event or signal.",
        examples=["order.paid"],
    )
    filter: str | None = Field(
        None,
        description=(
            "An expression that is evaluated for each event with this name. The step continues if "
            "the value is true (see the condition of `flow.if`). The expression may read `event` "
            "(the payload) and what the step may read, except `callbackUrl`. An expression that "
            "cannot be evaluated, for example because the payload lacks a field, counts as false; "
            "the run's log reports the error."
        ),
        examples=["{{ event.orderId == input.orderId }}"],
    )
    timeout_seconds: Patience | None = Field(
        None,
        description=(
            f"Seconds after which the outcome is `timeout`; at most {MAX_DAYS} "
            "days. Without this input, the step waits indefinitely."
        ),
        examples=[86_400],
    )

    @field_validator("event")
    @classmethod
    def _event_is_a_name(cls, event: str) -> str:
        if not event.isprintable() or event != event.strip():
            raise ValueError(
                "a name must not contain control characters or begin or end with spaces"
            )
        return event


class WaitForEventOutputs(ModuleOutputs):
    """The event that arrived, if one arrived in time."""

    event: Any = Field(None, description="The event's payload; null if no event came in time.")
    event_id: str | None = Field(
        None, description="The event's id; null for a signal, or if no event came in time."
    )
    name: str = Field(description="The event's name.")


class WaitForEvent(WaitingModule):
    """Waits for an event that is published in the workspace or signalled to this execution.

    The outcome is `success`, or `timeout` if no event came in time. Events that arrived before the
    step began to wait do not count.
    """

    type = "flow.wait_for_event"
    title = "Wait for event"
    Inputs = WaitForEventInputs
    Outputs = WaitForEventOutputs
    outcomes = ("success", "timeout")
    deferred = ("filter",)
    passes_payload = True
    example = {
        "event": "order.paid",
        "filter": "{{ event.orderId == input.orderId }}",
        "timeoutSeconds": 86_400,
    }
    bad_inputs = (
        Bad("no name", {"event": ""}, "event"),
        Bad("a name with a control character", {"event": "order\x00paid"}, "control characters"),
        Bad(
            "a timeout that is too long", {"event": "e", "timeoutSeconds": 10**12}, "timeoutSecond"
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
            outputs = WaitForEventOutputs(event_id=wake["eventId"], name=wake["event"])
        found = outputs.model_dump(mode="json", by_alias=True)
        return Result(found | {"event": trusted(wake.get("payload"))}, outcome)


# `flow.callback`: wait until an outside system calls the step's own address.


class CallbackInputs(ModuleInputs):
    """A description of the wait, and the time limit."""

    title: str = Field(
        "",
        max_length=200,
        description="A one-line description of the wait.",
        examples=["the bank's answer to {{ input.orderId }}"],
    )
    timeout_seconds: Patience | None = Field(
        None,
        description=(
            f"Seconds after which the outcome is `timeout` and the address stops working; at "
            f"most {MAX_DAYS} days. Without this input, the step waits indefinitely."
        ),
        examples=[3_600],
    )


class CallbackOutputs(ModuleOutputs):
    """The payload of the call, if a call arrived in time."""

    payload: Any = Field(None, description="The body of the call; null if no call arrived in time.")
    received_at: str | None = Field(
        None, description="When the call arrived; null if no call arrived in time."
    )


class CallbackModule(WaitingModule):
    """Waits until another system calls the step's one-time address.

    Steps of the same workflow or body, and of bodies nested in it, read the address as
    `tasks.<id>.callbackUrl`, where `<id>` is the id of the callback's task. Steps can read the
    address before the wait begins. In a body, each iteration has its own address. Valkyr stores a
    call that arrives before the step waits.
    """

    type = "flow.callback"
    title = "Callback"
    Inputs = CallbackInputs
    Outputs = CallbackOutputs
    outcomes = ("success", "timeout")
    passes_payload = True
    example = {"title": "the bank's answer to {{ input.orderId }}", "timeoutSeconds": 3_600}
    bad_inputs = (
        Bad("a title that is too long", {"title": "x" * 10_000}, "title"),
        Bad("a timeout that is too long", {"timeoutSeconds": 10**12}, "timeoutSeconds"),
        Bad("a negative timeout", {"timeoutSeconds": -1}, "timeoutSeconds"),
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
            outputs = CallbackOutputs(received_at=wake["receivedAt"])
        found = outputs.model_dump(mode="json", by_alias=True)
        return Result(found | {"payload": trusted(wake.get("payload"))}, outcome)
