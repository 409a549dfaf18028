"""How values are put in order: numbers before texts' order where all are numbers, null last."""

from collections.abc import Callable
from typing import Any, Literal

from runners.public.modules import StepError
from valkyr_plugins.connectors.data.numbers import number_of

As = Literal["auto", "number", "text"]


def sort_key(values: list[Any], as_: As, field: str) -> Callable[[Any], Any]:
    """What to compare such values by; none of them is null. StepError for what has no order.

    auto: as numbers where every value is a number or a text that is one, else as texts.
    """
    if as_ == "auto":
        as_ = "number" if all(number_of(value) is not None for value in values) else "text"
    wanted = _number if as_ == "number" else _text
    return lambda value: wanted(value, field)


def _number(value: Any, field: str) -> Any:
    number = number_of(value)
    if number is None:
        raise StepError(f"{field} is {kind(value)} in some row, not a number")
    return number


def _text(value: Any, field: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        raise StepError(
            f"{field} is a number in some row and a text in another: they have no order; bring "
            "them into one form before"
        )
    raise StepError(f"{field} is {kind(value)} in some row, which has no order")


def kind(value: Any) -> str:
    """What a value is, in words; never the value itself."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "a number"
