"""What a value becomes in a cell of a CSV, and how a cell is kept from being a formula.

Spreadsheets run a cell that begins with `=`, `+`, `-` or `@` as a formula, which can send what
stands beside it to anybody (OWASP, "CSV Injection"). An apostrophe before it makes it text. A
number, such as -12.50, is none, however it is written.
"""

import json
import re
from typing import Any, Literal

from runners.public.modules import StepError

Formulas = Literal["escape", "keep", "refuse"]
# The wide forms are the same signs in East Asian fonts; a tab or line end may hide what follows.
BEGINNING = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
NUMBER = re.compile(r"[+-]?\d[\d .,]*(?:[eE][+-]?\d+)?%?")


def cell(value: Any, formulas: Formulas) -> str:
    """The text of a value: null is empty, objects and lists are JSON. StepError for a formula."""
    if isinstance(value, str):
        return guarded(value, formulas)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise StepError(f"a value is not JSON, so it has no place in a CSV: {error}") from error


def guarded(text: str, formulas: Formulas) -> str:
    """The text, with an apostrophe before it where a spreadsheet would run it."""
    if formulas == "keep" or not text.startswith(BEGINNING) or NUMBER.fullmatch(text):
        return text
    if formulas == "refuse":
        raise StepError(
            f"a cell begins with {text[0]!r}, which a spreadsheet runs as a formula: leave it out, "
            "or let formulas be escaped"
        )
    return f"'{text}"
