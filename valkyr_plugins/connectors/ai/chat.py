"""`llm.chat`: a language model answers a conversation, in text or by asking for tools."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from executions.public.definitions import OutcomeRule
from runners.public.modules import Bad, ErrorType, Result, StepContext, StepError
from valkyr_plugins.connectors.ai.asked import used
from valkyr_plugins.connectors.ai.chat_shapes import ChatInputs, ChatOutputs
from valkyr_plugins.connectors.ai.family import LlmModule

if TYPE_CHECKING:
    from valkyr_plugins.connectors.ai.answer import StreamedAnswer

ANSWER, TOOL_CALLS = "answer", "tool_calls"


class LlmChat(LlmModule[ChatInputs]):
    """Asks a language model and yields its answer.

    Works with every endpoint that speaks OpenAI's chat completions: OpenAI, DeepSeek, Zhipu,
    Mistral, OpenRouter, or a server of your own (vLLM, Ollama), whose network an administrator
    allows. The key is a credential of type bearer. While the answer comes its end is shown on the
    run's page, and afterwards it is in the run's log. Tokens, and what they cost by the
    installation's price list, are kept with the run, also where it fails in the middle of an
    answer. Rate limits, overload and broken connections are tried again; a refused key, a context
    that is too long and a content filter are not. After a crash a model may be asked, and paid,
    twice.
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
            "an image that is none",
            {"model": "m", "messages": [{"content": [{"imageBase64": "AAECAwQF"}]}]},
            "expected a PNG, JPEG, GIF or WebP image",
        ),
        Bad(
            "an image cut off within its Base64",
            {"model": "m", "messages": [{"content": [{"imageBase64": "iVBORw0KG"}]}]},
            "this is no Base64",
        ),
        Bad(
            "a model's name with a line break, to smuggle a header",
            {"model": "m\r\nX-Key: 1", "messages": "Hello"},
            "model: String should match pattern",
        ),
        Bad(
            "an endpoint with a password in its address",
            {"model": "m", "messages": "Hello", "baseUrl": "https://a:b@example.com/v1"},
            "a key belongs into the step's credential",
        ),
        Bad(
            "an endpoint in the private network",
            {"model": "m", "messages": "Hello", "baseUrl": "http://169.254.169.254/v1"},
            "a private or special address",
        ),
        Bad(
            "a tool's result that answers no call",
            {"model": "m", "messages": [{"role": "tool", "content": "42"}]},
            "has a toolCallId",
        ),
        Bad(
            "the choice of a tool that is not there",
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
            "a stream that holds broken JSON",
            {"model": "malformed", "messages": "Hello", "baseUrl": "{server}"},
            "answered with what is no JSON",
            ErrorType.TRANSIENT,
            needs="llm",
        ),
        Bad(
            "a connection cut in the middle of the answer",
            {"model": "cut", "messages": "Hello", "baseUrl": "{server}"},
            "peer closed connection",
            ErrorType.TRANSIENT,
            needs="llm",
        ),
        Bad(
            "an answer of millions of characters",
            {"model": "huge", "messages": "Hello", "baseUrl": "{server}"},
            "set maxTokens",
            needs="llm",
        ),
        Bad(
            "more text than the model can take",
            {"model": "context", "messages": "Hello", "baseUrl": "{server}"},
            "cannot take so long a text",
            needs="llm",
        ),
    )

    def warm_up(self) -> None:
        import valkyr_plugins.connectors.ai.asking  # noqa: F401 - loads openai and httpx

    def execute(self, inputs: ChatInputs, ctx: StepContext) -> Result:
        # The client takes a while to load, and most workers never ask a model.
        from valkyr_plugins.connectors.ai.asking import ask, usage_of

        body = inputs.chat_body()
        answer = ask(inputs, body, ctx)
        if answer.finish_reason == "length" and inputs.fail_on_truncation:
            raise StepError(
                f"{inputs.model}'s answer was cut off after {len(answer.text):,} characters: "
                "raise maxTokens, ask for less, or take failOnTruncation out"
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
