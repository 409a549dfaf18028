"""Parse and join responses in OpenAI's protocol, and show them as they arrive.

A whole response and a piece of a stream differ in one name (`message`, `delta`), so both are read
as a `Chunk`.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError

from runners.public.modules import StepContext, StepError

MAX_TOKENS = 2**40

T = TypeVar("T", bound=BaseModel)


def _count(value: Any) -> Any:
    """Return a count; null, which some servers send for an unknown count, becomes 0."""
    return 0 if value is None else value


Count = Annotated[int, BeforeValidator(_count), Field(ge=0, le=MAX_TOKENS)]
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class Details(BaseModel):
    """The number of input tokens that came from the provider's cache."""

    cached_tokens: Count = 0


class Usage(BaseModel):
    """The numbers of tokens, as the provider counted them."""

    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    prompt_tokens_details: Details | None = None

    @property
    def cached(self) -> int:
        """Return how many input tokens came from the provider's cache, at a lower price."""
        details = self.prompt_tokens_details
        return min(details.cached_tokens if details else 0, self.prompt_tokens)


class Function(BaseModel):
    """The name and arguments of a tool call; in a stream, a piece of them."""

    name: Text = ""
    arguments: Any = ""


class WireToolCall(BaseModel):
    """A tool call; in a stream, `index` assigns a piece to its call."""

    index: int | None = None
    id: Text = ""
    function: Function = Field(default_factory=Function)


class Said(BaseModel):
    """A message of the model, or a piece of it."""

    content: Text = ""
    refusal: Text = ""
    # The name `reasoning_content` is DeepSeek's, and `reasoning` is OpenRouter's.
    reasoning: Text = Field("", validation_alias=AliasChoices("reasoning_content", "reasoning"))
    tool_calls: list[WireToolCall] | None = None


class WireChoice(BaseModel):
    """One of the requested answers; Valkyr requests only one."""

    index: int = 0
    said: Said | None = Field(None, validation_alias=AliasChoices("delta", "message"))
    finish_reason: str | None = None


class Chunk(BaseModel):
    """A response, or a piece of a streamed response."""

    id: Text = ""
    model: Text = ""
    choices: list[WireChoice] | None = None
    usage: Usage | None = None


class Vector(BaseModel):
    """The embedding of one text."""

    index: int
    embedding: list[float] = Field(min_length=1)


class Vectors(BaseModel):
    """A response with embeddings."""

    model: Text = ""
    data: list[Vector]
    usage: Usage | None = None


def read_chunk(value: Any, host: str) -> Chunk:
    """Parse a response or a streamed piece. Raises StepError if it is not in OpenAI's format."""
    return _read(Chunk, value, host)


def read_vectors(value: Any, host: str) -> Vectors:
    """Parse a response with embeddings. Raises StepError if it is not in OpenAI's format."""
    return _read(Vectors, value, host)


def _read(kind: type[T], value: Any, host: str) -> T:
    if not isinstance(value, Mapping):
        raise StepError(
            f"{host} responded with {type(value).__name__}; expected an object of OpenAI's "
            "protocol. Check that baseUrl is an OpenAI-compatible endpoint"
        )
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise StepError(
            f"the response of {host} does not follow OpenAI's protocol, at {place}: "
            f"{first['msg']}. Check that baseUrl is an OpenAI-compatible endpoint"
        ) from error


# Join the pieces of an answer. An answer that is not streamed is one piece.


# Maximum characters of an answer: a step may return 5 MiB of JSON.
MAX_TEXT = 1_000_000
MAX_CALLS = 100


@dataclass(slots=True)
class ToolCall:
    """A tool call that the model requests; `text` contains its arguments as received."""

    id: str = ""
    name: str = ""
    text: str = ""

    def arguments(self) -> Any:
        """Return the parsed arguments: {} if there are none, None if they are not valid JSON."""
        try:
            return json.loads(self.text or "{}")
        except (ValueError, RecursionError):
            return None


@dataclass(slots=True)
class StreamedAnswer:
    """The part of a streamed answer that has been received so far."""

    id: str = ""
    model: str = ""
    finish_reason: str = ""
    refusal: str = ""
    usage: Usage | None = None
    began: bool = False
    texts: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    calls: dict[int, ToolCall] = field(default_factory=dict)
    characters: int = 0

    @property
    def text(self) -> str:
        """Return the text that has been received so far."""
        return "".join(self.texts)

    @property
    def reasoning(self) -> str:
        """Return the model's reasoning before its answer."""
        return "".join(self.reasons)

    def add(self, chunk: Chunk) -> str:
        """Add a piece; return the piece's text. Raises StepError if the answer is too large."""
        self.began = True
        self.id = self.id or chunk.id
        self.model = self.model or chunk.model
        self.usage = chunk.usage or self.usage
        choice = next((one for one in chunk.choices or () if one.index == 0), None)
        if choice is None:
            return ""
        self.finish_reason = choice.finish_reason or self.finish_reason
        said = choice.said
        if said is None:
            return ""
        self.texts.append(said.content)
        self.reasons.append(said.reasoning)
        self.refusal += said.refusal
        for place, call in enumerate(said.tool_calls or ()):
            self._add_call(place, call)
        self._count(len(said.content) + len(said.reasoning) + len(said.refusal))
        return said.content

    def _add_call(self, place: int, call: WireToolCall) -> None:
        known = self.calls.setdefault(place if call.index is None else call.index, ToolCall())
        given = call.function.arguments
        known.id = known.id or call.id
        known.name += call.function.name
        # Some servers send the arguments as an object instead of as JSON text.
        text = given if isinstance(given, str) else json.dumps(given) if given else ""
        known.text += text
        self._count(len(call.function.name) + len(text))

    def _count(self, characters: int) -> None:
        self.characters += characters
        if self.characters > MAX_TEXT or len(self.calls) > MAX_CALLS:
            raise StepError(
                f"the model's answer exceeded {MAX_TEXT:,} characters or {MAX_CALLS} tool "
                "calls: request less, or set maxTokens"
            )


# Show an answer while it arrives: its pieces in the run's log, and its end in the heartbeat.
#
# Each shown part ends at a space. So a secret that the model repeats is never split, and is
# recognized and removed.


PIECE = 400  # minimum characters of one log entry
MOST_PIECES = 60
SHOWN = 2_000  # maximum characters of the text's end in the heartbeat
HELD_BACK = 4_000  # number of characters after which text without any space is shown too
EVERY_SECONDS = 1.0


class ShownProgress:
    """Shows an answer while it arrives: in the run's log, and as the run's progress."""

    def __init__(self, ctx: StepContext) -> None:
        self._ctx = ctx
        self._open = ""  # text that is not in the log yet
        self._recent = ""  # the end of the received text
        self._characters = 0
        self._pieces = 0
        self._told_at = -EVERY_SECONDS  # shows the first piece at once

    def add(self, text: str, reasoning: int = 0) -> None:
        """Add a piece of the answer: its text, and its number of reasoning characters."""
        if not (text or reasoning):
            return
        self._open += text
        self._recent = (self._recent + text)[-SHOWN - HELD_BACK :]
        self._characters += len(text) + reasoning
        if len(self._open) >= PIECE:
            self._log(_settled(self._open))
        if time.monotonic() - self._told_at >= EVERY_SECONDS:
            self._tell()

    def finish(self) -> None:
        """Log the rest of the text, because a failed step has no other record of it."""
        self._log(len(self._open))

    def _log(self, end: int) -> None:
        piece, self._open = self._open[:end], self._open[end:]
        if not piece.strip():
            return
        self._pieces += 1
        if self._pieces <= MOST_PIECES:
            self._ctx.log.info(piece.strip())
        elif self._pieces == MOST_PIECES + 1:
            self._ctx.log.info("the rest of the answer is not logged")

    def _tell(self) -> None:
        self._told_at = time.monotonic()
        shown = self._recent[: _settled(self._recent)]
        if len(shown) > SHOWN:
            # Begin after a space too, so that no secret is split at the beginning.
            shown = shown[-SHOWN:].partition(" ")[2] or shown[-SHOWN:]
        self._ctx.heartbeat({"characters": self._characters, "text": shown})


def _settled(text: str) -> int:
    """Return the length of the text that can be shown: up to the last space or newline.

    Without either, return 0, or the whole length of a text of 4,000 or more characters.
    """
    end = max(text.rfind(" "), text.rfind("\n")) + 1
    return end if end or len(text) < HELD_BACK else len(text)
