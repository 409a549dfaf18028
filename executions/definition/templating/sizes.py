"""How large a single value of an expression may be, and the size of texts and lists in bytes."""

import sys
from typing import Any

from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.errors import TooLarge

MAX_TEXT = 1_048_576  # characters: of a rendered text and of any text in an expression's value
MAX_ITEMS = 100_000  # items of a list that an expression makes
MAX_VALUES = 1_000_000  # values in one result, nested ones counted
MAX_CHARACTERS = 5 * 1024 * 1024  # characters in all texts of one result: what a payload may hold
MAX_DEPTH = 64
MAX_BITS = 8_192  # of a number that an expression computes

POINTER = 8  # bytes of an item's place in a list
OBJECT = 72  # bytes of a short text, a pair or a number


def bounded_text(length: int) -> None:
    """Refuse a text of more than MAX_TEXT characters."""
    if length > MAX_TEXT:
        raise TooLarge(
            f"the text would have {_shown(length)} characters; at most {MAX_TEXT:,} may be"
        )


def bounded_items(count: int) -> None:
    """Refuse a list of more than MAX_ITEMS items."""
    if count > MAX_ITEMS:
        raise TooLarge(f"the list would have {_shown(count)} items; at most {MAX_ITEMS:,} may be")


def bounded_bits(bits: int) -> None:
    """Refuse a number of more than MAX_BITS bits."""
    if bits > MAX_BITS:
        raise TooLarge(
            f"the number would have about {_shown(bits)} bits; at most {MAX_BITS:,} may be"
        )


def built_text(budget: RenderBudget, text: str) -> str:
    """A text that was just built, counted."""
    bounded_text(len(text))
    budget.hold(sys.getsizeof(text))
    return text


def built_texts(budget: RenderBudget, texts: Any) -> Any:
    """A list or tuple of texts that was just built, counted."""
    bounded_items(len(texts))
    budget.hold(sum(map(sys.getsizeof, texts)) + POINTER * len(texts))
    return texts


def scan(text: str) -> int:
    """The work of reading a text once, character by character."""
    return 1 + (len(text) >> 3)


def _shown(number: int) -> str:
    return f"{number:,}" if number.bit_length() <= 256 else "far too many"
