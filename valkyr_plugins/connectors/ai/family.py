"""What the steps that ask a language model have in common."""

from typing import ClassVar, TypeVar

from runners.public.modules import Module
from valkyr_plugins.connectors.ai.provider import STEP_SECONDS, ProviderInputs

InputsT = TypeVar("InputsT", bound=ProviderInputs)


class LlmModule(Module[InputsT]):
    """A step that asks one model, pays for it, and rests with it."""

    category: ClassVar[str] = "language models"
    queue: ClassVar[str] = "io"
    effect: ClassVar[str] = "external"
    retry: ClassVar[str] = "llm"
    timeout_seconds: ClassVar[float] = STEP_SECONDS
    credential: ClassVar[tuple[str, ...]] = ("bearer",)
    judges_hosts: ClassVar[str] = "everything"
    addresses: ClassVar[tuple[str, ...]] = ("baseUrl",)
    costs: ClassVar[bool] = True
    circuit_target: ClassVar[str] = "`llm:` and the model"

    def circuit(self, inputs: InputsT) -> str | None:
        return f"llm:{inputs.model}"
