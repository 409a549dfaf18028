"""The parts of OpenAI's answers that are read, checked; everything else in them is passed over.

A whole answer and a piece of a stream differ in one name (`message`, `delta`), so both are read as
a `Chunk`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError

from runners.public.modules import StepError

MAX_TOKENS = 2**40

T = TypeVar("T", bound=BaseModel)


def _count(value: Any) -> Any:
    """Some servers give null for a count they do not know."""
    return 0 if value is None else value


Count = Annotated[int, BeforeValidator(_count), Field(ge=0, le=MAX_TOKENS)]
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class Details(BaseModel):
    """What is known of the tokens of the input."""

    cached_tokens: Count = 0


class Usage(BaseModel):
    """Tokens as the provider counted them."""

    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    prompt_tokens_details: Details | None = None

    @property
    def cached(self) -> int:
        """Tokens of the input that the provider knew already and charges less for."""
        details = self.prompt_tokens_details
        return min(details.cached_tokens if details else 0, self.prompt_tokens)


class Function(BaseModel):
    """A call of a tool; in a stream, a piece of one."""

    name: Text = ""
    arguments: Any = ""


class WireToolCall(BaseModel):
    """A tool call; `index` says, in a stream, which call a piece belongs to."""

    index: int | None = None
    id: Text = ""
    function: Function = Field(default_factory=Function)


class Said(BaseModel):
    """What the model said, or a piece of it."""

    content: Text = ""
    refusal: Text = ""
    # DeepSeek's name and OpenRouter's.
    reasoning: Text = Field("", validation_alias=AliasChoices("reasoning_content", "reasoning"))
    tool_calls: list[WireToolCall] | None = None


class WireChoice(BaseModel):
    """One of the answers asked for; we ask for one."""

    index: int = 0
    said: Said | None = Field(None, validation_alias=AliasChoices("delta", "message"))
    finish_reason: str | None = None


class Chunk(BaseModel):
    """An answer, or a piece of one."""

    id: Text = ""
    model: Text = ""
    choices: list[WireChoice] | None = None
    usage: Usage | None = None


class Vector(BaseModel):
    """One text's embedding."""

    index: int
    embedding: list[float] = Field(min_length=1)


class Vectors(BaseModel):
    """An answer about embeddings."""

    model: Text = ""
    data: list[Vector]
    usage: Usage | None = None


def read_chunk(value: Any, host: str) -> Chunk:
    """An answer or a piece of one; StepError where it is in no shape of OpenAI's."""
    return _read(Chunk, value, host)


def read_vectors(value: Any, host: str) -> Vectors:
    """An answer about embeddings; StepError where it is in no shape of OpenAI's."""
    return _read(Vectors, value, host)


def _read(kind: type[T], value: Any, host: str) -> T:
    if not isinstance(value, Mapping):
        raise StepError(
            f"{host} answered with {type(value).__name__} where OpenAI's protocol has an object: "
            "is baseUrl that of an OpenAI-compatible endpoint?"
        )
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise StepError(
            f"{host} answered in no shape of OpenAI's protocol, at {place}: {first['msg']}. "
            "Is baseUrl that of an OpenAI-compatible endpoint?"
        ) from error
