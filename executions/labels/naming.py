"""Labels as people write them: `name:value`, such as `order:4711`."""

import re
from collections.abc import Mapping

from executions.definition.graph.schema_parts import (
    LABEL_NAME,
    MAX_LABEL_NAME,
    MAX_LABEL_VALUE,
    MAX_LABELS,
)

EXAMPLE = "order:4711"
_NAME = re.compile(LABEL_NAME)
# A label among the words of a search; a value with spaces is quoted.
_WORD = re.compile(r'(?:^|(?<=\s))([a-z][a-z0-9_-]{0,39}):("[^"]+"|[^\s"]\S*)')


class BadLabel(ValueError):
    """A label is invalid, or there are too many labels; the message says what was expected."""


def parsed(text: str) -> tuple[str, str]:
    """Return the name and value of `name:value`; the value may contain colons. Raises BadLabel."""
    name, colon, value = text.partition(":")
    if not colon or not value:
        raise BadLabel(f"{text[:60]!r} is not a label; expected name:value, such as {EXAMPLE}.")
    check(name, value)
    return name, value


def check_name(name: str) -> None:
    """Raise BadLabel if no workflow can have a label with this name."""
    if not _NAME.fullmatch(name) or len(name) > MAX_LABEL_NAME:
        raise BadLabel(
            f"{name[:60]!r} is not the name of a label; expected at most {MAX_LABEL_NAME} "
            "lower-case letters, digits, _ and -, beginning with a letter."
        )


def check(name: str, value: str) -> None:
    """Raise BadLabel if no execution can have this label."""
    check_name(name)
    if not 0 < len(value) <= MAX_LABEL_VALUE or "\x00" in value:
        raise BadLabel(
            f"The value of the label {name!r} has {len(value):,} characters; expected 1 to "
            f"{MAX_LABEL_VALUE}, without NUL."
        )


def check_all(labels: Mapping[str, str]) -> None:
    """Raise BadLabel if a label is invalid, or if there are too many labels."""
    for name, value in labels.items():
        check(name, value)
    if len(labels) > MAX_LABELS:
        raise BadLabel(f"{len(labels)} labels; expected at most {MAX_LABELS}.")


def in_search(text: str) -> tuple[dict[str, str], str]:
    """Return the labels among the words of a search, and the other words.

    `customer:"ACME Ltd" import` has one label. Invalid, repeated and excess labels remain words.
    """
    found: dict[str, str] = {}

    def take(match: re.Match[str]) -> str:
        name, value = match[1], match[2].strip('"')
        if name in found or len(value) > MAX_LABEL_VALUE or len(found) == MAX_LABELS:
            return match[0]
        found[name] = value
        return ""

    rest = _WORD.sub(take, text)
    return found, " ".join(rest.split())
