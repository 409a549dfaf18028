"""A test module that calls targets in this process, which answer or fail as configured."""

from collections import defaultdict
from collections.abc import Callable
from typing import ClassVar

from pydantic import Field

from runners.modules import registry
from runners.modules.base import Module, ModuleInputs, Result, StepContext, StepError
from runners.states import ErrorType

ANSWERS = "answers"
# What a target does when called: nothing, a failure of this class, or a given act.
behaviour: dict[str, str | Callable[[], str]] = {}
calls: dict[str, int] = defaultdict(int)


class CallInputs(ModuleInputs):
    """The target to call."""

    target: str = Field(description="Its name.")


class Call(Module[CallInputs]):
    """Calls a target, which has a circuit."""

    type: ClassVar[str] = "test.call"
    title: ClassVar[str] = "Call"
    category: ClassVar[str] = "test"
    retry: ClassVar[str] = "none"
    Inputs = CallInputs

    def circuit(self, inputs: CallInputs) -> str:
        return circuit_of(inputs.target)

    def execute(self, inputs: CallInputs, ctx: StepContext) -> Result:
        calls[inputs.target] += 1
        does = behaviour.get(inputs.target, ANSWERS)
        how = does if isinstance(does, str) else does()
        if how != ANSWERS:
            raise StepError(f"{inputs.target} is out of order", ErrorType(how))
        return Result({"called": inputs.target, "within": ctx.target_timeout})


def circuit_of(target: str) -> str:
    """Return the target's name for its circuit."""
    return f"test.call:{target}"


def install() -> None:
    """Register the module in this process."""
    if "test.call" not in registry.specs():
        registry.add(Call())
