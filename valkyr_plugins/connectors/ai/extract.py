"""`llm.extract`: a language model's answer as data, validated against a JSON Schema."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from pydantic import Field, field_validator

from executions.public.schemas import DEFINITION, REQUEST
from runners.public.modules import Bad, ModuleOutputs, Result, StepContext, StepError
from valkyr_plugins.connectors.ai.conversation import AskedInputs, UsedTokens, used
from valkyr_plugins.connectors.ai.provider import LlmModule
from valkyr_plugins.connectors.data.validate import require_fit, require_schema

if TYPE_CHECKING:
    from valkyr_plugins.connectors.ai.answers import StreamedAnswer

MAX_SHOWN = 2_000


class ExtractInputs(AskedInputs):
    """The text and the schema of the data to extract."""

    json_schema: dict[str, Any] = Field(
        alias="schema",
        description=(
            "The schema of the data: a JSON Schema, draft 2020-12, without references to other "
            "documents. Most providers require an object at the top level. Descriptions in the "
            "schema help the model."
        ),
        examples=[{"type": "object", "required": ["total"],
                   "properties": {"total": {"type": "number", "description": "with tax"}}}],
    )  # fmt: skip
    temperature: float | None = Field(
        0.0, ge=0, le=2, description="The sampling temperature; null for the model's default."
    )
    strict: bool = Field(
        False,
        description=(
            "Let the provider enforce the schema, if it can. OpenAI then requires "
            "`additionalProperties: false`, and every property in `required`."
        ),
    )

    @field_validator("json_schema")
    @classmethod
    def _schema_is_one(cls, schema: dict[str, Any]) -> dict[str, Any]:
        require_schema(schema, DEFINITION)
        return schema

    def extract_body(self) -> dict[str, Any]:
        """Return the request; its prompt includes the schema for servers that accept no schema."""
        body = self.body()
        text = json.dumps(self.json_schema, ensure_ascii=False)
        order = f"Answer with one JSON value that fits this JSON Schema, and nothing else:\n{text}"
        body["messages"] = [*body["messages"], {"role": "user", "content": order}]
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": self.json_schema, "strict": self.strict},
        }
        return body


class ExtractOutputs(ModuleOutputs):
    """The extracted data."""

    data: Any = Field(description="The data, which matches the schema.")
    repaired: bool = Field(description="Whether the model had to correct its first answer.")
    model: str = Field(description="The name of the model, as the provider returns it.")
    id: str = Field(description="The provider's id for the answer.")
    usage: UsedTokens = Field(description="The tokens used, for both requests if there were two.")


class LlmExtract(LlmModule[ExtractInputs]):
    """Asks a language model for data that matches a JSON Schema.

    The prompt always contains the schema. Providers that accept a schema also get it as the
    response format. If the answer does not match, the model gets it back once, with a list of the
    mistakes. If the next answer does not match either, the step fails permanently, and its error
    lists the mistakes. The provider charges for both requests. Endpoints, credentials, progress,
    costs and retries are as in `llm.chat`.
    """

    type = "llm.extract"
    title = "Extract data with a language model"
    Inputs = ExtractInputs
    Outputs: ClassVar[Any] = ExtractOutputs
    example: ClassVar[Mapping[str, Any]] = {
        "model": "gpt-4o-mini",
        "messages": "What does this invoice come to? {{ input.text }}",
        "schema": {
            "type": "object",
            "required": ["total", "currency"],
            "properties": {"total": {"type": "number"}, "currency": {"type": "string"}},
        },
    }
    bad_inputs = (
        Bad(
            "an invalid schema",
            {"model": "m", "messages": "Hello", "schema": {"type": "text"}},
            "not a JSON Schema, at type",
        ),
        Bad("no message", {"model": "m", "messages": [], "schema": {}}, "at least one message"),
        Bad(
            "a schema with a broken reference",
            {"model": "valid", "messages": "Hello", "baseUrl": "{server}",
             "schema": {"$ref": "https://schemas.example.com/order.json"}},
            "the schema has a reference to a missing definition",
            needs="llm",
        ),
        Bad(
            "a model that fails twice",
            {"model": "invalid-twice", "messages": "Hello", "baseUrl": "{server}",
             "schema": {"type": "object", "required": ["total"]}},
            "does not fit the schema, after one repair",
            needs="llm",
        ),
        Bad(
            "a model that refuses",
            {"model": "refuses", "messages": "Hello", "baseUrl": "{server}", "schema": {}},
            "refuses to answer",
            needs="llm",
        ),
        Bad(
            "an answer that ends at maxTokens",
            {"model": "truncated", "messages": "Hello", "baseUrl": "{server}", "schema": {}},
            "raise maxTokens",
            needs="llm",
        ),
    )  # fmt: skip

    def warm_up(self) -> None:
        import jsonschema  # noqa: F401

        import valkyr_plugins.connectors.ai.requests  # noqa: F401 - loads openai and httpx

    def execute(self, inputs: ExtractInputs, ctx: StepContext) -> Result:
        from valkyr_plugins.connectors.ai.requests import ask, usage_of

        body = inputs.extract_body()
        usages = []
        for nth in range(2):
            answer = ask(inputs, body, ctx, nth=nth)
            usages.append(usage_of(body, answer))
            _require_whole(answer, inputs.model)
            try:
                data = _fitting(answer.text, inputs.json_schema)
            except _Unfit as mistake:
                failure = mistake
            else:
                return Result(
                    {
                        "data": data,
                        "repaired": nth > 0,
                        "model": answer.model,
                        "id": answer.id,
                        "usage": used(usages),
                    }
                )
            ctx.log.warning("the answer does not fit the schema", problem=failure.message)
            body = body | {"messages": [*body["messages"], *_repair(answer.text, failure.message)]}
        raise StepError(
            f"{inputs.model}'s answer does not fit the schema, after one repair: {failure.message}",
            details={"errors": failure.details, "answer": answer.text[:MAX_SHOWN]},
        )


class _Unfit(StepError):
    """An answer that is not JSON, or does not fit the schema; `details` lists the problems."""


def answer_mistake(text: str, schema: dict[str, Any]) -> tuple[Any, str]:
    """Return (data, "") for a valid answer, otherwise (None, error). Raises StepError."""
    try:
        return _fitting(text, schema), ""
    except _Unfit as mistake:
        return None, mistake.message


def _fitting(text: str, schema: dict[str, Any]) -> Any:
    """Return the answer's data. Raises _Unfit, or StepError if the schema is at fault.

    The check has the same budget as the check of a request, so that it does not delay other steps.
    """
    data = _parsed(text)
    try:
        require_fit(data, schema, REQUEST)
    except StepError as error:
        if error.details is None:  # the schema is invalid, so another answer would not help
            raise
        raise _Unfit(error.message, details=error.details["errors"]) from error
    return data


def _parsed(text: str) -> Any:
    try:
        return json.loads(_without_fence(text), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        message = f"the answer is not valid JSON: {error}"
        raise _Unfit(message, details=[{"field": "(all)", "message": message}]) from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _without_fence(text: str) -> str:
    """Return the text without a Markdown code fence, which many models add despite instructions."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text[text.index("\n") : -3]
    return text


def _repair(text: str, mistakes: str) -> list[dict[str, Any]]:
    order = f"That is not right: {mistakes}. Answer again, with only the corrected JSON."
    return [{"role": "assistant", "content": text}, {"role": "user", "content": order}]


def _require_whole(answer: "StreamedAnswer", model: str) -> None:
    if answer.refusal:
        raise StepError(f"{model} refuses to answer: {answer.refusal[:500]}")
    if answer.finish_reason == "length":
        raise StepError(
            f"{model}'s answer was cut off after {len(answer.text):,} characters: raise "
            "maxTokens, or request less"
        )
