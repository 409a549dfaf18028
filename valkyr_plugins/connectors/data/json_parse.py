"""`data.json_parse`: parse a JSON text, or one JSON value per line."""

import json
import math
import re
from collections import Counter
from typing import Any, Literal

from pydantic import Field

from runners.public.modules import Bad, ModuleInputs, ModuleOutputs, Result, StepContext, StepError
from valkyr_plugins.connectors.data.bounds import MAX_ROWS, PureModule, checked_text, without_nul

MAX_DEPTH = 256
# Escapes of characters that a text must not contain: NUL, and surrogates, paired or not.
SUSPECT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class JsonParseInputs(ModuleInputs):
    """The text to parse, and its format."""

    text: str = Field(description="The JSON text.", examples=["{{ tasks.read.output.content }}"])
    lines: bool = Field(
        False, description="Whether each line is a separate value (JSON Lines, NDJSON)."
    )
    repeated_keys: Literal["last", "fail"] = Field(
        "last", description="Whether to keep the last value of a repeated key, or to fail."
    )


class JsonParseOutputs(ModuleOutputs):
    """The parsed value."""

    data: Any = Field(description="The value; with `lines`, the list of the lines' values.")


class JsonParse(PureModule):
    """Parses JSON, or one JSON value per line. NaN, Infinity and trailing text fail the step.

    Syntax errors name the line and column, but do not contain the text.
    """

    type = "data.json_parse"
    title = "Parse JSON"
    Inputs = JsonParseInputs
    Outputs = JsonParseOutputs
    example = {"text": "{{ tasks.read.output.content }}"}
    bad_inputs = (
        Bad("an incomplete text", {"text": '{"a": [1, 2'}, "is not JSON at line 1, column 12"),
        Bad("two values", {"text": "1 2"}, "at line 1, column 3: Extra data"),
        Bad("a number that JSON cannot express", {"text": "[NaN]"}, "NaN is not valid JSON"),
        Bad("a number too large", {"text": "1e999"}, "1e999 is too large"),
        Bad("a number of 5,000 digits", {"text": "1" * 5_000}, "has too many digits"),
        Bad("100,000 nested lists", {"text": "[" * 100_000}, "is nested more than 256 levels deep"),
        Bad(
            "a duplicate key",
            {"text": '{"a":1,"a":2}', "repeatedKeys": "fail"},
            "'a' appears twice",
        ),
        Bad(
            "a text of 10 MiB", lambda: {"text": '"' + "x" * 10_485_760 + '"'}, "at most 5,242,880"
        ),
        Bad("binary data", {"text": "\x00\x01"}, "contains a NUL character"),
        Bad("an escaped NUL", {"text": r'"\u0000"'}, "contains a NUL character"),
        Bad("an escaped lone surrogate", {"text": r'"\ud83d"'}, "lone surrogate (U+D83D)"),
        Bad("a bad line", {"text": "1\n{\n", "lines": True}, "is not JSON at line 2, column 2"),
    )

    def execute(self, inputs: JsonParseInputs, ctx: StepContext) -> Result:
        text = without_nul(checked_text(inputs.text, "the JSON"), "the JSON").removeprefix("\ufeff")
        require_flat(text)
        decoder = _decoder(inputs.repeated_keys)
        data = _lines(text, decoder) if inputs.lines else _value(text, 1, decoder)
        if SUSPECT.search(text):
            _require_text(data)
        return Result({"data": data})


def require_flat(text: str) -> None:
    """Raise StepError if brackets nest too deeply; brackets within strings are not counted."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for match in _MARKS.finditer(text):
        mark = match.group()
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise StepError(f"the JSON is nested more than {MAX_DEPTH} levels deep: flatten it")
        elif mark in "]}":
            depth -= 1


# Whole strings, including an unterminated one, and brackets outside of strings.
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)


def _lines(text: str, decoder: json.JSONDecoder) -> list[Any]:
    values = [
        _value(line, number, decoder)
        for number, line in enumerate(text.split("\n"), 1)
        if not line.isspace() and line
    ]
    if len(values) > MAX_ROWS:
        raise StepError(f"the JSON has more than {MAX_ROWS:,} lines: split it")
    return values


def _value(text: str, line: int, decoder: json.JSONDecoder) -> Any:
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {line + error.lineno - 1}, column {error.colno}"
        raise StepError(f"the text is not JSON at {place}: {error.msg}") from None
    except RecursionError:
        raise StepError(
            f"the JSON is nested more than {MAX_DEPTH} levels deep: flatten it"
        ) from None


def _decoder(repeated_keys: str) -> json.JSONDecoder:
    return json.JSONDecoder(
        parse_constant=_refused,
        parse_float=_finite,
        parse_int=_whole,
        object_pairs_hook=_unrepeated if repeated_keys == "fail" else None,
    )


def _refused(name: str) -> Any:
    raise StepError(f"{name} is not valid JSON: use null or a string")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise StepError(f"the number {text[:40]} is too large: write it as a string")
    return number


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise StepError("a number has too many digits: write it as a string") from None


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counted = Counter(key for key, _ in pairs)
        repeated = counted.most_common(1)[0][0]
        raise StepError(f"the key {repeated[:100]!r} appears twice in one object")
    return found


def _require_text(data: Any) -> None:
    """Raise StepError if the data contains NUL or a lone surrogate, or is too large.

    Each pair of surrogates has already become one character.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # Remove escaped backslashes first, because one of them may precede "u0000".
    if "\\u0000" in text.replace("\\\\", ""):
        raise StepError(
            "the JSON contains a NUL character (U+0000), which cannot be stored: remove it"
        )
    checked_text(text, "the JSON")
