"""`flow.delay`: sleep for a time, or until an instant."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import Field, field_validator

from executions.definition.catalog import ConfigProblem
from runners.modules.base import (
    Bad,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
    Wait,
)
from runners.modules.waits.base import MAX_DAYS, MAX_SECONDS, WaitingModule
from runners.states import WaitKind

# How far a machine's clock may be from the database's, in seconds.
CLOCKS_APART = 600.0


class DelayInputs(ModuleInputs):
    """How long to wait: exactly one of `seconds` and `until`."""

    seconds: float | None = Field(
        None,
        le=MAX_SECONDS,
        allow_inf_nan=False,
        description=f"So many seconds from now, at most {MAX_DAYS} days; 0 or less is no wait.",
        examples=[300],
    )
    until: str | None = Field(
        None,
        max_length=64,
        description=(
            "An instant in ISO 8601 with its zone, at most "
            f"{MAX_DAYS} days ahead; one in the past is no wait."
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
    """What became of the wait."""

    waited_seconds: float = Field(description="How long it really was, by the database's clock.")


def instant(text: str) -> datetime:
    """The instant a text names; raises ValueError for one that is none, or has no zone."""
    try:
        found = datetime.fromisoformat(text)
        # The farthest years have no instant in every zone.
        known = found.astimezone(UTC) if found.tzinfo is not None else None
    except (ValueError, OverflowError):
        known = None
    if known is None:
        raise ValueError(
            f"expected an instant with its zone, such as 2027-01-31T08:00:00+01:00; found {text!r}"
        )
    return known


class Delay(WaitingModule):
    """Waits for a time, or until an instant, and holds no worker meanwhile.

    A delay that comes due while its execution is paused ends with the pause.
    """

    type = "flow.delay"
    title = "Delay"
    Inputs = DelayInputs
    Outputs = DelayOutputs
    example = {"until": "{{ input.shipAt }}"}
    bad_inputs = (
        Bad("an instant without a zone", {"until": "2027-01-31T08:00:00"}, "with its zone"),
        Bad("a text that is no instant", {"until": "tomorrow"}, "with its zone"),
        Bad("a wait past all bounds", {"seconds": 10**12}, "seconds"),
        Bad("no number", {"seconds": float("nan")}, "seconds"),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        given = [key for key in ("seconds", "until") if config.get(key) is not None]
        if len(given) == 1:
            return []
        found = "both" if given else "neither"
        return [
            ConfigProblem((), "delay_length", f"a delay has either seconds or until; found {found}")
        ]

    def execute(self, inputs: DelayInputs, ctx: StepContext) -> DelayOutputs | Wait:
        if (inputs.seconds is None) == (inputs.until is None):
            found = "neither" if inputs.seconds is None else "both"
            raise StepError(f"a delay has either seconds or until; found {found}")
        if inputs.until is None:
            left, wait = inputs.seconds or 0.0, Wait(WaitKind.TIMER, seconds=inputs.seconds)
        else:
            until = instant(inputs.until)
            # Whether it is over is the database's to say, unless it was long ago on any clock.
            left = (until - datetime.now(UTC)).total_seconds() + CLOCKS_APART
            wait = Wait(WaitKind.TIMER, until=until)
        if left > MAX_SECONDS + CLOCKS_APART:
            raise StepError(
                f"{inputs.until} is {left / 86_400:.0f} days ahead; at most {MAX_DAYS} days may be"
            )
        return wait if left > 0 else DelayOutputs(waited_seconds=0.0)

    def woken(self, inputs: DelayInputs, wake: Mapping[str, Any], ctx: StepContext) -> Result:
        return Result({"waitedSeconds": wake["waitedSeconds"]})
