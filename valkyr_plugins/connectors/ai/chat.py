"""`llm.chat`: a language model continues a conversation, with text or with tool calls.

The requests themselves are in requests.py.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from executions.public.definitions import OutcomeRule
from runners.public.modules import (
    Bad,
    ErrorType,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
)
from valkyr_plugins.connectors.ai.conversation import AskedInputs, Message, UsedTokens, used
from valkyr_plugins.connectors.ai.provider import LlmModule

if TYPE_CHECKING:
    from valkyr_plugins.connectors.ai.answers import StreamedAnswer


# The inputs, the request and the outputs of `llm.chat`.


class Tool(ModuleInputs):
    """A tool that the model may request; the workflow runs it."""

    name: str = Field(
        description="The tool's name.", pattern=r"^[A-Za-z0-9_-]{1,64}$", examples=["find_order"]
    )
    description: str = Field(
        "",
        description="A description of the tool, for the model.",
        examples=["Finds an order by its number."],
    )
    parameters: dict[str, Any] = Field(
        default_factory=lambda: {"type": "object", "properties": {}},
        description="A JSON Schema of its arguments.",
        examples=[{"type": "object", "properties": {"number": {"type": "string"}}}],
    )

    def wire(self) -> dict[str, Any]:
        """Return the tool in the form of the provider's API."""
        return {"type": "function", "function": self.model_dump(by_alias=True)}


class ChatInputs(AskedInputs):
    """The prompt, the model, the tools and the options."""

    tools: list[Tool] | None = Field(
        None,
        description=(
            "Tools that the model may call. With this input, the step has two outcomes: "
            "`tool_calls` if the model calls one, otherwise `answer`."
        ),
        max_length=100,
    )
    tool_lists: list[list[Tool]] = Field(
        default_factory=list,
        description="Further lists of tools, such as the outputs of `mcp.tools` steps.",
        examples=[["{{ tasks.list.output.tools }}"]],
        max_length=20,
    )
    history: list[Message] = Field(
        default_factory=list,
        description="Further messages of the conversation, after `messages`.",
        examples=["{{ loop.previous.turn.messages if loop.previous else [] }}"],
    )
    tool_choice: str | None = Field(
        None,
        description="`auto`, `none`, `required`, or the name of the tool to call.",
        examples=["required"],
    )
    stop: list[str] = Field(
        default_factory=list, description="Texts that end the answer.", max_length=4
    )
    response_format: Literal["text", "json"] = Field(
        "text",
        description="`json`: the model must answer with a JSON object; see also `llm.extract`.",
    )
    stream: bool = Field(True, description="Stream the answer, and show it on the run's page.")
    fail_on_truncation: bool = Field(
        False,
        description=(
            "Fail the step if the answer was cut off at `maxTokens` or at the end of the context. "
            "If false, the step succeeds, and `finishReason` is `length`."
        ),
    )

    @model_validator(mode="after")
    def _choice_is_a_tool(self) -> "ChatInputs":
        names = [tool.name for tool in self.all_tools()]
        if self.tool_choice not in (None, "auto", "none", "required", *names):
            raise ValueError(
                f"toolChoice is {self.tool_choice!r}; expected auto, none, required or one of "
                f"tools: {', '.join(names) or 'there are none'}"
            )
        return self

    def all_tools(self) -> list[Tool]:
        """Return the tools of `tools` and of all `tool_lists`."""
        return [*(self.tools or ()), *(tool for tools in self.tool_lists for tool in tools)]

    def chat_body(self) -> dict[str, Any]:
        """Return the request's body: the conversation, the tools and the options."""
        body = self.body()
        body["messages"] += [message.wire() for message in self.history]
        if not self.stream:
            del body["stream"], body["stream_options"]
        if tools := self.all_tools():
            body["tools"] = [tool.wire() for tool in tools]
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
    """A tool call that the model requests."""

    id: str = Field(description="The call's id, to be returned with its result.")
    name: str = Field(description="The tool.")
    arguments: Any = Field(description="The arguments; null if the model did not write JSON.")
    arguments_text: str = Field(description="The arguments as the model wrote them.")


class ChatOutputs(ModuleOutputs):
    """The model's answer."""

    text: str = Field(description="The answer.")
    reasoning: str = Field(description="The reasoning before the answer, if the model returns it.")
    refusal: str = Field(description="The reason for a refusal, if the model refuses to answer.")
    finish_reason: str = Field(
        description="Why the answer ended, such as `stop`, `length` or `tool_calls`.",
        examples=["stop"],
    )
    tool_calls: list[AskedTool] = Field(description="The tool calls that the model requests.")
    model: str = Field(description="The name of the model, as the provider returns it.")
    id: str = Field(description="The provider's id for the answer.")
    usage: UsedTokens = Field(description="The tokens used.")


ANSWER, TOOL_CALLS = "answer", "tool_calls"


class LlmChat(LlmModule[ChatInputs]):
    """Sends a conversation to a language model and returns the answer.

    It works with every endpoint that supports OpenAI's Chat Completions API, such as OpenAI,
    DeepSeek, Zhipu, Mistral and OpenRouter, or your own server (vLLM, Ollama) if an administrator
    allows its network. The key is a credential of type bearer. While the answer arrives, the run's
    page shows the latest part, and the run's log gets up to 60 parts of at least 400 characters
    (the last may be shorter). Valkyr records the tokens, and their cost according to the
    installation's price list, even if the run fails during an answer. The step is retried after
    rate limits, overload, timeouts and broken connections. It is not retried after a rejected key,
    a lack of credit, a context that is too long, or a content filter. After a crash, the model may
    be called and paid for twice.
    """

    type = "llm.chat"
    title = "Ask a language model"
    Inputs = ChatInputs
    Outputs: ClassVar[Any] = ChatOutputs
    outcomes_from: ClassVar[tuple[OutcomeRule, ...]] = (
        OutcomeRule("tools", "given", (ANSWER, TOOL_CALLS)),
    )
    example: ClassVar[Mapping[str, Any]] = {
        "model": "gpt-4o-mini",
        "system": "You are a careful editor. Answer in plain English.",
        "messages": "Summarise in two sentences: {{ input.text }}",
        "maxTokens": 300,
        "temperature": 0.2,
    }
    bad_inputs = (
        Bad("no message", {"model": "m", "messages": "  "}, "at least one message"),
        Bad(
            "an invalid image",
            {"model": "m", "messages": [{"content": [{"imageBase64": "AAECAwQF"}]}]},
            "expected a PNG, JPEG, GIF or WebP image",
        ),
        Bad(
            "an incomplete image",
            {"model": "m", "messages": [{"content": [{"imageBase64": "iVBORw0KG"}]}]},
            "this is not valid Base64",
        ),
        Bad(
            "a model name with a line break",
            {"model": "m\r\nX-Key: 1", "messages": "Hello"},
            "model: String should match pattern",
        ),
        Bad(
            "an endpoint with a password in its address",
            {"model": "m", "messages": "Hello", "baseUrl": "https://a:b@example.com/v1"},
            "put a key into the step's credential",
        ),
        Bad(
            "an endpoint in the private network",
            {"model": "m", "messages": "Hello", "baseUrl": "http://169.254.169.254/v1"},
            "a private or special address",
        ),
        Bad(
            "a tool result without a call",
            {"model": "m", "messages": [{"role": "tool", "content": "42"}]},
            "have a toolCallId",
        ),
        Bad(
            "the choice of an unknown tool",
            {"model": "m", "messages": "Hello", "toolChoice": "rm"},
            "there are none",
        ),
        Bad(
            "an answer that is a web page",
            {"model": "html", "messages": "Hello", "baseUrl": "{server}"},
            "answered with 'text/html' instead of text/event-stream",
            needs="llm",
        ),
        Bad(
            "a stream with invalid JSON",
            {"model": "malformed", "messages": "Hello", "baseUrl": "{server}"},
            "answered with text that is not valid JSON",
            ErrorType.TRANSIENT,
            needs="llm",
        ),
        Bad(
            "a connection that breaks during the answer",
            {"model": "cut", "messages": "Hello", "baseUrl": "{server}"},
            "peer closed connection",
            ErrorType.TRANSIENT,
            needs="llm",
        ),
        Bad(
            "an answer that is too long",
            {"model": "huge", "messages": "Hello", "baseUrl": "{server}"},
            "set maxTokens",
            needs="llm",
        ),
        Bad(
            "more text than the model accepts",
            {"model": "context", "messages": "Hello", "baseUrl": "{server}"},
            "cannot take so long a text",
            needs="llm",
        ),
    )

    def warm_up(self) -> None:
        import valkyr_plugins.connectors.ai.requests  # noqa: F401 - loads openai and httpx

    def execute(self, inputs: ChatInputs, ctx: StepContext) -> Result:
        # Imported here because the client is slow to load and most workers never call a model.
        from valkyr_plugins.connectors.ai.requests import ask, usage_of

        body = inputs.chat_body()
        answer = ask(inputs, body, ctx)
        if answer.finish_reason == "length" and inputs.fail_on_truncation:
            raise StepError(
                f"{inputs.model}'s answer was cut off after {len(answer.text):,} characters: "
                "raise maxTokens, request less, or remove failOnTruncation"
            )
        outcome = "success"
        if inputs.tools is not None:
            outcome = TOOL_CALLS if answer.calls else ANSWER
        return Result({**_outputs(answer), "usage": used([usage_of(body, answer)])}, outcome)


def _outputs(answer: "StreamedAnswer") -> dict[str, Any]:
    return {
        "text": answer.text,
        "reasoning": answer.reasoning,
        "refusal": answer.refusal,
        "finishReason": answer.finish_reason,
        "toolCalls": [
            {
                "id": call.id,
                "name": call.name,
                "arguments": call.arguments(),
                "argumentsText": call.text,
            }
            for _, call in sorted(answer.calls.items())
        ],
        "model": answer.model,
        "id": answer.id,
    }
