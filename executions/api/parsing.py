"""Parse request bodies: check the size, the encoding and JSON's nesting before any field.

Accepted JSON values can be stored: finite numbers, limited nesting, no NUL and no lone surrogate.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError, ValidationError
from rest_framework.parsers import BaseParser

MAX_DEPTH = 100
# JSON text is UTF-8 without control characters, so only an escape can stand for a NUL or a
# surrogate.
_ESCAPE = re.compile(r"\\u(0000|d[89a-f])", re.IGNORECASE)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class BodyTooLarge(APIException):
    """The body is longer than the server accepts."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "body_too_large"

    def __init__(self, limit: int) -> None:
        """Create the error, which names the limit in bytes."""
        super().__init__(f"The body is too large; at most {limit:,} bytes are accepted.")


class JsonParser(BaseParser):
    """Parses JSON strictly: only finite numbers, and only values that can be stored."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the value of the body. Raises ParseError, BodyTooLarge or ValidationError."""
        text = read_text(stream, parser_context)
        try:
            value = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        except (ValueError, RecursionError) as error:
            reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
            raise ParseError(
                f"The body is not valid JSON: {reason}.", code="malformed_json"
            ) from None
        if text.count("{") + text.count("[") > MAX_DEPTH or _ESCAPE.search(text):
            check_storable(value)
        return value


class TextParser(BaseParser):
    """Returns the body as text, for definitions, which have their own loader."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the text of the body. Raises ParseError or BodyTooLarge."""
        return read_text(stream, parser_context)


class YamlText(TextParser):
    """Accepts YAML, and returns it as text."""

    media_type = "application/yaml"


class OldYamlText(TextParser):
    """Accepts YAML under its media type from before RFC 9512, and returns it as text."""

    media_type = "application/x-yaml"


class JsonText(TextParser):
    """Accepts JSON, and returns it as text."""

    media_type = "application/json"


def read_text(stream: IO[Any], parser_context: Mapping[str, Any] | None) -> str:
    """Return the body as text.

    Raises BodyTooLarge above DATA_UPLOAD_MAX_MEMORY_SIZE, and ParseError if the body is not UTF-8.
    If that setting is None, any size is allowed, as in Django.
    """
    limit: int | None = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    request = (parser_context or {}).get("request")
    declared = request.META.get("CONTENT_LENGTH") if request is not None else None
    if limit is not None and declared and declared.isdigit() and int(declared) > limit:
        raise BodyTooLarge(limit)
    body = stream.read(-1 if limit is None else limit + 1)
    if limit is not None and len(body) > limit:
        raise BodyTooLarge(limit)
    try:
        return str(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ParseError(
            f"The body is not UTF-8 text: byte {error.start} cannot be read.", code="not_utf8"
        ) from None


def check_storable(value: Any) -> None:
    """Raise ParseError for deep nesting, and ValidationError for text that cannot be stored."""
    for path, depth, item in _walk(value):
        if depth > MAX_DEPTH:
            raise ParseError(
                f"The body is nested more than {MAX_DEPTH} levels deep at {path[:100]}.",
                code="too_deep",
            )
        if isinstance(item, str) and (found := _UNSTORABLE.search(item)):
            name = f"U+{ord(found.group()):04X}"
            raise ValidationError(
                {path: f"The text contains {name}, which cannot be stored. Remove it."},
                code="bad_character",
            )


def _walk(value: Any) -> Iterator[tuple[str, int, Any]]:
    waiting: list[tuple[str, int, Any]] = [("", 1, value)]
    while waiting:
        path, depth, item = waiting.pop()
        yield path, depth, item
        if depth > MAX_DEPTH:
            return
        if isinstance(item, dict):
            for key, below in item.items():
                name = f"{path}.{key}" if path else key
                yield path, depth, key
                waiting.append((name, depth + 1, below))
        elif isinstance(item, list):
            waiting.extend((f"{path}[{i}]", depth + 1, below) for i, below in enumerate(item))


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number
