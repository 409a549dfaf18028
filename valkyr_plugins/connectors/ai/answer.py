"""Puts an answer together from its pieces; a whole answer is one piece."""

import json
from dataclasses import dataclass, field
from typing import Any

from runners.public.modules import StepError
from valkyr_plugins.connectors.ai.wire import Chunk, Usage, WireToolCall

# Characters; what a step may yield is 5 MiB of JSON.
MAX_TEXT = 1_000_000
MAX_CALLS = 100


@dataclass(slots=True)
class ToolCall:
    """A tool that the model asks for; `text` is its arguments as they came."""

    id: str = ""
    name: str = ""
    text: str = ""

    def arguments(self) -> Any:
        """The arguments as JSON; None where they are none."""
        try:
            return json.loads(self.text or "{}")
        except (ValueError, RecursionError):
            return None


@dataclass(slots=True)
class StreamedAnswer:
    """What has come so far."""

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
        """The answer's text."""
        return "".join(self.texts)

    @property
    def reasoning(self) -> str:
        """What a model that reasons aloud said before its answer."""
        return "".join(self.reasons)

    def add(self, chunk: Chunk) -> str:
        """Take a piece in; the text in it. StepError where the answer has become too long."""
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
        # Some servers give the arguments as an object, not as its text.
        known.text += given if isinstance(given, str) else json.dumps(given) if given else ""
        self._count(len(call.function.name) + len(given if isinstance(given, str) else ""))

    def _count(self, characters: int) -> None:
        self.characters += characters
        if self.characters > MAX_TEXT or len(self.calls) > MAX_CALLS:
            raise StepError(
                f"the model's answer passed {MAX_TEXT:,} characters or {MAX_CALLS} tool calls: "
                "ask for less, or set maxTokens"
            )
