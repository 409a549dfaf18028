"""The conversation of a step with a model: the messages, and the options for the answer."""

import base64
import binascii
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from runners.public.modules import ModuleInputs, ModuleOutputs
from valkyr_plugins.connectors.ai.answers import Usage
from valkyr_plugins.connectors.ai.provider import ProviderInputs

# The first bytes of the image formats that models accept.
MAGIC = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


class TextPart(ModuleInputs):
    """A text part of a message."""

    text: str = Field(description="The text.", max_length=2_000_000)

    def wire(self) -> dict[str, Any]:
        """Return the text in the form of the provider's API."""
        return {"type": "text", "text": self.text}


class ImagePart(ModuleInputs):
    """An image in a message: its URL, or the image itself."""

    image_url: str | None = Field(
        None,
        description="The image's https address. The provider fetches it; Valkyr does not.",
        examples=["https://images.example.com/label.png"],
        pattern="^https?://[!-~]+$",
        max_length=8_192,
    )
    image_base64: str | None = Field(
        None,
        description=(
            "A PNG, JPEG, GIF or WebP image in Base64, as `file.read` gives it with "
            "`encoding: base64`."
        ),
        examples=["{{ tasks.photo.output.content }}"],
    )
    detail: Literal["auto", "low", "high"] | None = Field(
        None, description="The resolution that the model uses, which determines the cost in tokens."
    )

    @field_validator("image_base64")
    @classmethod
    def _is_image(cls, data: str | None) -> str | None:
        if data is None:
            return None
        try:
            image = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ValueError(f"this is not valid Base64: {error}") from error
        return f"data:{_media_type(image)};base64,{data}"

    @model_validator(mode="after")
    def _one_source(self) -> "ImagePart":
        if (self.image_url is None) == (self.image_base64 is None):
            raise ValueError("set either imageUrl or imageBase64")
        return self

    def wire(self) -> dict[str, Any]:
        """Return the image in the form of the provider's API: its URL, or a data URL."""
        image = {"url": self.image_url or self.image_base64}
        return {
            "type": "image_url",
            "image_url": image | ({"detail": self.detail} if self.detail else {}),
        }


def _media_type(image: bytes) -> str:
    for start, media_type in MAGIC.items():
        if image.startswith(start):
            return media_type
    raise ValueError("expected a PNG, JPEG, GIF or WebP image, found none of these")


class CalledTool(ModuleInputs):
    """A tool call of an earlier answer, in the form in which `llm.chat` returned it."""

    id: str = Field(description="The call's id.", max_length=500)
    name: str = Field(description="The tool.", max_length=200)
    arguments: Any = Field(None, description="The arguments as JSON.")
    arguments_text: str = Field("{}", description="The arguments as the model wrote them.")

    def wire(self) -> dict[str, Any]:
        """Return the tool call in the form of the provider's API."""
        function = {"name": self.name, "arguments": self.arguments_text}
        return {"id": self.id, "type": "function", "function": function}


class Message(ModuleInputs):
    """A message in a conversation."""

    role: Literal["user", "assistant", "system", "tool"] = Field(
        "user", description="The author; `tool` is the result of a tool call."
    )
    content: str | list[TextPart | ImagePart] = Field(
        "",
        description="A text, or parts: texts (`text`) and images (`imageUrl`, `imageBase64`).",
        examples=[
            "Summarise: {{ input.text }}",
            [{"text": "What is on it?"}, {"imageUrl": "https://images.example.com/label.png"}],
        ],
    )
    tool_calls: list[CalledTool] = Field(
        default_factory=list,
        description="The `toolCalls` of an earlier answer of the model.",
        examples=["{{ tasks.chat.output.toolCalls }}"],
        max_length=100,
    )
    tool_call_id: str | None = Field(
        None,
        description=("In a message with the role `tool`: the id of the call whose result it is."),
    )

    @model_validator(mode="after")
    def _fits_its_role(self) -> "Message":
        if (self.role == "tool") != (self.tool_call_id is not None):
            raise ValueError(
                "only messages with the role tool have a toolCallId, and they require one"
            )
        if self.tool_calls and self.role != "assistant":
            raise ValueError("only messages with the role assistant can have toolCalls")
        if not (self.content or self.tool_calls or self.role == "tool"):
            raise ValueError("the message is empty: set content")
        return self

    def wire(self) -> dict[str, Any]:
        """Return the message in the form of the provider's API."""
        content: Any = self.content
        if isinstance(content, list):
            content = [part.wire() for part in content]
        message: dict[str, Any] = {"role": self.role, "content": content}
        if self.tool_calls:
            message["tool_calls"] = [call.wire() for call in self.tool_calls]
        if self.tool_call_id is not None:
            message["tool_call_id"] = self.tool_call_id
        return message


def conversation(system: str, messages: str | list[Message]) -> list[dict[str, Any]]:
    """Return the request's messages, `system` first; a string becomes a user message."""
    first = [{"role": "system", "content": system}] if system else []
    if isinstance(messages, str):
        return [*first, {"role": "user", "content": messages}]
    return [*first, *(message.wire() for message in messages)]


# The parts that chat and extraction share: the conversation, the options of the answer, and usage.


class AskedInputs(ProviderInputs):
    """The prompt, and the options of the answer."""

    system: str = Field(
        "",
        description="The system prompt: instructions before the conversation.",
        examples=["You are a careful editor. Answer in {{ input.language }}."],
    )
    messages: str | list[Message] = Field(
        description="The conversation; a text is a single user message.",
        examples=[
            "Summarise in two sentences: {{ tasks.fetch.output.body }}",
            [{"role": "user", "content": [{"text": "What is on the label?"},
              {"imageBase64": "{{ tasks.photo.output.content }}"}]}],
        ],
    )  # fmt: skip
    temperature: float | None = Field(
        None, ge=0, le=2, description="The sampling temperature; by default the model's."
    )
    max_tokens: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="The maximum number of tokens in the answer.",
        examples=[2000],
    )
    seed: int | None = Field(
        None,
        description="A seed that makes answers as reproducible as the provider allows.",
        examples=[7],
    )

    @field_validator("messages")
    @classmethod
    def _something(cls, messages: str | list[Message]) -> str | list[Message]:
        if not (messages.strip() if isinstance(messages, str) else messages):
            raise ValueError("expected a text or at least one message, found nothing")
        return messages

    def body(self) -> dict[str, Any]:
        """Return the request's model, messages and options, with streaming on."""
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
    """The tokens that a step used."""

    input_tokens: int = Field(description="Tokens of the input.")
    output_tokens: int = Field(description="Tokens of the answer.")
    cached_tokens: int = Field(0, description="Input tokens that the provider had cached.")
    estimated: bool = Field(
        False, description="Whether the numbers are estimated, at one token per 4 characters."
    )


def used(usages: list[tuple[Usage, bool]]) -> dict[str, Any]:
    """Return the sums of the requests' tokens as a mapping of `UsedTokens`."""
    return {
        "inputTokens": sum(usage.prompt_tokens for usage, _ in usages),
        "outputTokens": sum(usage.completion_tokens for usage, _ in usages),
        "cachedTokens": sum(usage.cached for usage, _ in usages),
        "estimated": any(guessed for _, guessed in usages),
    }
