"""What `llm.chat` is asked and answers: its inputs, the request they make, its outputs."""

from typing import Any, Literal

from pydantic import Field, model_validator

from runners.public.modules import ModuleInputs, ModuleOutputs
from valkyr_plugins.connectors.ai.asked import AskedInputs, UsedTokens


class Tool(ModuleInputs):
    """A tool that the model may ask for; the workflow does what it asks."""

    name: str = Field(
        description="The tool's name.", pattern=r"^[A-Za-z0-9_-]{1,64}$", examples=["find_order"]
    )
    description: str = Field(
        "", description="What it does, for the model.", examples=["Finds an order by its number."]
    )
    parameters: dict[str, Any] = Field(
        default_factory=lambda: {"type": "object", "properties": {}},
        description="A JSON Schema of its arguments.",
        examples=[{"type": "object", "properties": {"number": {"type": "string"}}}],
    )

    def wire(self) -> dict[str, Any]:
        """As it is sent."""
        return {"type": "function", "function": self.model_dump(by_alias=True)}


class ChatInputs(AskedInputs):
    """What to ask which model."""

    tools: list[Tool] | None = Field(
        None,
        description=(
            "Tools the model may ask for. With this key the step has two outcomes: `tool_calls` "
            "where it asks for some, else `answer`."
        ),
        max_length=100,
    )
    tool_choice: str | None = Field(
        None,
        description="`auto`, `none`, `required`, or the name of the tool to ask for.",
        examples=["required"],
    )
    stop: list[str] = Field(
        default_factory=list, description="Texts at which the answer ends.", max_length=4
    )
    response_format: Literal["text", "json"] = Field(
        "text",
        description="`json`: the model is to answer with a JSON object; see also `llm.extract`.",
    )
    stream: bool = Field(
        True, description="Have the answer come piece by piece, and show it on the run's page."
    )
    fail_on_truncation: bool = Field(
        False,
        description=(
            "Fail the step where the answer was cut off at `maxTokens` or the context's end; "
            "otherwise `finishReason` says `length`."
        ),
    )

    @model_validator(mode="after")
    def _choice_is_a_tool(self) -> "ChatInputs":
        names = [tool.name for tool in self.tools or ()]
        if self.tool_choice not in (None, "auto", "none", "required", *names):
            raise ValueError(
                f"toolChoice is {self.tool_choice!r}; expected auto, none, required or one of "
                f"tools: {', '.join(names) or 'there are none'}"
            )
        return self

    def chat_body(self) -> dict[str, Any]:
        """The request."""
        body = self.body()
        if not self.stream:
            del body["stream"], body["stream_options"]
        if self.tools:
            body["tools"] = [tool.wire() for tool in self.tools]
            if self.tool_choice is not None:
                body["tool_choice"] = _choice(self.tool_choice)
        if self.stop:
            body["stop"] = self.stop
        if self.response_format == "json":
            body["response_format"] = {"type": "json_object"}
        return body


def _choice(choice: str) -> Any:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


class AskedTool(ModuleOutputs):
    """A tool the model asks for."""

    id: str = Field(description="The call's id, to be given back with its result.")
    name: str = Field(description="The tool.")
    arguments: Any = Field(description="The arguments; null where the model wrote no JSON.")
    arguments_text: str = Field(description="The arguments as the model wrote them.")


class ChatOutputs(ModuleOutputs):
    """What the model answered."""

    text: str = Field(description="The answer.")
    reasoning: str = Field(description="What a model that reasons aloud said before it.")
    refusal: str = Field(description="Why the model refuses to answer, where it does.")
    finish_reason: str = Field(
        description="Why it ended: `stop`, `length` (cut off), `tool_calls`.", examples=["stop"]
    )
    tool_calls: list[AskedTool] = Field(description="Tools the model asks for.")
    model: str = Field(description="The model that answered, as it calls itself.")
    id: str = Field(description="The answer's id at its provider.")
    usage: UsedTokens = Field(description="What it took.")
