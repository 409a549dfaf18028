"""Cuts a string into plain text and the expressions between `{{` and `}}`.

Text is kept byte for byte. Brackets and quotes inside an expression may hold `}}`.
"""

import re
from dataclasses import dataclass

from executions.definition.templating.errors import ExpressionSyntaxError

_OPEN = re.compile(r"\{\{|\{%")
# A string that is not closed runs to the end, so that no part of it is looked at twice.
_TOKEN = re.compile(
    r""""(?:\\.|[^"\\])*(?:"|\\?\Z)|'(?:\\.|[^'\\])*(?:'|\\?\Z)|(?P<close>-?\}\})|(?P<up>[({\[])|(?P<down>[)}\]])""",
    re.DOTALL,
)
_UP_OF = {")": "(", "}": "{", "]": "["}

MAX_BRACKETS = 40


@dataclass(frozen=True, slots=True)
class ExpressionText:
    """The text of one expression, without its braces."""

    source: str


Part = str | ExpressionText


def has_template(text: str) -> bool:
    """Whether the string is more than plain text."""
    return "{{" in text or "{%" in text


def split(text: str) -> list[Part]:
    """The parts of `text` in order; raises ExpressionSyntaxError for statements and open braces.

    As in Jinja, `{{-` and `-}}` take away the white space before and after.
    """
    parts: list[Part] = []
    position = 0
    trim_next = False
    while (opening := _OPEN.search(text, position)) is not None:
        if opening.group() == "{%":
            raise ExpressionSyntaxError(
                "template_statement",
                "statements ({% … %}) are not available in templates, only expressions "
                'in {{ … }}; write {{ "{%" }} for the two characters themselves',
            )
        literal = text[position : opening.start()]
        start, end, position = _expression(text, opening.end())
        trim_before = text.startswith("-", start)
        parts.append(_trimmed(literal, left=trim_next, right=trim_before))
        parts.append(ExpressionText(text[start + trim_before : end].strip()))
        trim_next = text.startswith("-", end)
    parts.append(_trimmed(text[position:], left=trim_next, right=False))
    return [part for part in parts if part != ""]


def _trimmed(literal: str, *, left: bool, right: bool) -> str:
    literal = literal.lstrip() if left else literal
    return literal.rstrip() if right else literal


def _expression(text: str, start: int) -> tuple[int, int, int]:
    """Where the expression's text starts and ends, and where the text after it starts."""
    brackets: list[str] = []
    position = start
    while (token := _TOKEN.search(text, position)) is not None:
        position = token.end()
        if token["up"]:
            brackets.append(token["up"])
            if len(brackets) > MAX_BRACKETS:
                raise ExpressionSyntaxError(
                    "template_too_complex",
                    f"brackets are nested more than {MAX_BRACKETS} deep; split the expression",
                )
        elif token["close"] and not brackets:
            return start, token.start(), token.end()
        elif token["down"] or token["close"]:
            # Inside brackets `}}` is two closing braces, not the end: take one at a time.
            closing = token["down"] or "}"
            if token["close"]:
                position = token.start() + token.group().index("}") + 1
            if not brackets or brackets.pop() != _UP_OF[closing]:
                raise ExpressionSyntaxError(
                    "template_syntax", f'"{closing}" closes no bracket that is open'
                )
    raise ExpressionSyntaxError(
        "template_syntax", "{{ is not closed; expected }} after the expression"
    )
