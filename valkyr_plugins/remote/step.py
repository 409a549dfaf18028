"""`remote.step`: a step that an external program on any machine executes.

The engine passes the step's inputs to a remote runner and records the result; workers do not
execute the step.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import ConfigDict, Field

from executions.public.definitions import OutcomeRule
from runners.public.modules import Bad, Module, ModuleInputs, Result, StepContext, StepError

MAX_OUTCOMES = 20


class RemoteInputs(ModuleInputs):
    """The runner's handler and options; all further keys are the handler's inputs."""

    model_config = ConfigDict(extra="allow")

    handler: str = Field(
        min_length=1,
        max_length=100,
        description="The name of the runner's handler.",
        examples=["render-video"],
    )
    outcomes: list[str] = Field(
        [],
        max_length=MAX_OUTCOMES,
        description="The outcomes that the runner may choose.",
        examples=[["good", "bad"]],
    )
    costs: bool = Field(
        False,
        description="Whether the step costs money or tokens. A step with costs fails before it "
        "starts if a budget that applies to it is spent.",
    )


class RemoteStep(Module[RemoteInputs]):
    """Lets a remote runner execute the step.

    A remote runner is a program, on any machine, that requests work over HTTP. The workspace's
    egress rules do not apply to the runner, because it connects from its own machine. The step's
    queue must be one of `VALKYR_REMOTE_QUEUES`. The default queue is `remote`; to use another
    queue, set `queue` in the task. The runner gets all fields of `with` as inputs.
    """

    type: ClassVar[str] = "remote.step"
    title: ClassVar[str] = "Remote step"
    category: ClassVar[str] = "remote"
    queue: ClassVar[str] = "remote"
    remote: ClassVar[bool] = True
    effect: ClassVar[str] = "external"
    outcomes_from = (OutcomeRule("outcomes", "each"),)
    Inputs = RemoteInputs
    example = {"handler": "render-video", "file": "{{ input.file }}"}
    bad_inputs = (
        Bad("no handler", {"file": "a.mp4"}, "handler"),
        Bad("a handler name that is too long", {"handler": "x" * 10_000}, "handler"),
        Bad("a queue of Valkyr's workers", {"handler": "render-video"}, "only a remote runner"),
    )

    def costs_with(self, config: Any) -> bool:
        return isinstance(config, Mapping) and config.get("costs") is True

    def execute(self, inputs: RemoteInputs, ctx: StepContext) -> Result:
        raise StepError(
            f"Step {ctx.step_path} was sent to a worker, but only a remote runner can execute it. "
            "Set the task's `queue` to a queue of VALKYR_REMOTE_QUEUES."
        )
