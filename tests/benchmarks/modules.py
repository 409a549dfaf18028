"""Modules for measurements: a step with an effect that does nothing, and one that reads the
clock.
"""

import time
from typing import Any, ClassVar

from celery.signals import task_prerun
from pydantic import Field

from runners.modules.base import Module, ModuleInputs, Result, StepContext

_received = 0.0


@task_prerun.connect(weak=False)
def note_arrival(**_: Any) -> None:
    """Record when the child received its message."""
    global _received  # noqa: PLW0603 - one task at a time in a prefork child
    _received = time.perf_counter()


class Inputs(ModuleInputs):
    """The value to pass on."""

    value: Any = Field(None, description="Passed on.")


class Effect(Module[Any]):
    """Does nothing, but declares an effect, so that it is claimed and recorded separately."""

    type: ClassVar[str] = "bench.effect"
    title = "Effect"
    category = "bench"
    Inputs = Inputs
    effect = "external"
    timeout_seconds = 10.0

    def execute(self, inputs: Inputs, ctx: StepContext) -> Result:
        return Result({"value": inputs.value})


class Pure(Effect):
    """Does nothing and declares no effect, and therefore runs inline."""

    type: ClassVar[str] = "bench.pure"
    title = "Pure"
    effect = "none"
    inline = True


class Clock(Effect):
    """Records when its first line ran, and how long after the arrival of the message."""

    type: ClassVar[str] = "bench.clock"
    title = "Clock"

    def execute(self, inputs: Inputs, ctx: StepContext) -> Result:
        return Result({"at": time.time(), "claimMs": 1000 * (time.perf_counter() - _received)})


class LargeInputs(ModuleInputs):
    """The size and the beginning of the output."""

    mebibytes: int = Field(1, description="Size of the text, in MiB.")
    beginning: str = Field("", description="The text's beginning, which makes it unique.")


class Large(Module[Any]):
    """Returns a text of a given size, as a step that fetches a file does."""

    type: ClassVar[str] = "bench.large"
    title = "Large"
    category = "bench"
    Inputs = LargeInputs
    effect = "external"
    timeout_seconds = 300.0

    def execute(self, inputs: LargeInputs, ctx: StepContext) -> Result:
        return Result({"text": inputs.beginning.ljust(inputs.mebibytes * 2**20, "x")})
