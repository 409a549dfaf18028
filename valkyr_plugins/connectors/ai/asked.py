"""What chat and extraction have in common: the conversation, how the model is to answer, usage."""

from typing import Any

from pydantic import Field, field_validator

from runners.public.modules import ModuleOutputs
from valkyr_plugins.connectors.ai.messages import Message, conversation
from valkyr_plugins.connectors.ai.provider import ProviderInputs
from valkyr_plugins.connectors.ai.wire import Usage


class AskedInputs(ProviderInputs):
    """What to ask, and how the model is to answer."""

    system: str = Field(
        "",
        description="What the model is told before the conversation: its part, its manner.",
        examples=["You are a careful editor. Answer in {{ input.language }}."],
    )
    messages: str | list[Message] = Field(
        description="The conversation; a text is one message of the user's.",
        examples=[
            "Summarise in two sentences: {{ tasks.fetch.output.body }}",
            [{"role": "user", "content": [{"text": "What is on the label?"},
              {"imageBase64": "{{ tasks.photo.output.content }}"}]}],
        ],
    )  # fmt: skip
    temperature: float | None = Field(
        None, ge=0, le=2, description="How varied the answer may be; the model's own unless given."
    )
    max_tokens: int | None = Field(
        None, ge=1, le=1_000_000, description="Most tokens of the answer.", examples=[2000]
    )
    seed: int | None = Field(
        None, description="For answers as equal as the provider can make them.", examples=[7]
    )

    @field_validator("messages")
    @classmethod
    def _something(cls, messages: str | list[Message]) -> str | list[Message]:
        if not (messages.strip() if isinstance(messages, str) else messages):
            raise ValueError("expected a text or at least one message, found nothing")
        return messages

    def body(self) -> dict[str, Any]:
        """The request as far as both have it in common; it is always streamed."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": conversation(self.system, self.messages),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        for name in ("temperature", "max_tokens", "seed"):
            if getattr(self, name) is not None:
                body[name] = getattr(self, name)
        return body


class UsedTokens(ModuleOutputs):
    """What a step used."""

    input_tokens: int = Field(description="Tokens of what was asked.")
    output_tokens: int = Field(description="Tokens of the answer.")
    cached_tokens: int = Field(0, description="Of the input's, those the provider knew already.")
    estimated: bool = Field(
        False, description="Whether they are estimated, a token for every 4 characters."
    )


def used(usages: list[tuple[Usage, bool]]) -> dict[str, Any]:
    """`UsedTokens` of one or several requests, as a mapping."""
    return {
        "inputTokens": sum(usage.prompt_tokens for usage, _ in usages),
        "outputTokens": sum(usage.completion_tokens for usage, _ in usages),
        "cachedTokens": sum(usage.cached for usage, _ in usages),
        "estimated": any(guessed for _, guessed in usages),
    }
