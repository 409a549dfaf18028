"""Numbers as rows hold them: JSON's, or texts such as a CSV's "12.50".

Sums are decimal, so that 0.1 + 0.2 is 0.3 and a column of prices adds up to the cent.
"""

import re
from decimal import Context, Decimal
from typing import Any

# Up to 60 digits and three of an exponent; no NaN, no infinity, no marks between thousands.
NUMBER = re.compile(r"\s*[-+]?(?:\d{1,60}(?:\.\d{0,60})?|\.\d{1,60})(?:[eE][-+]?\d{1,3})?\s*")
ARITHMETIC = Context(prec=60)


def number_of(value: Any) -> Decimal | None:
    """The exact value of a number or of a text that is one; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        # The shortest text that means this float: what was written, not what binary made of it.
        text = repr(value)
        return Decimal(text) if NUMBER.fullmatch(text) else None
    if isinstance(value, str) and NUMBER.fullmatch(value):
        return Decimal(value.strip())
    return None


def as_json(number: Decimal) -> int | float:
    """A number for JSON: whole ones are integers."""
    if number == number.to_integral_value():
        return int(number)
    return float(number)
