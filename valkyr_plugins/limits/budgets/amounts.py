"""Amounts of money, or of tokens, in sentences. Pure."""

from decimal import Decimal


def plain(value: Decimal) -> str:
    """A number without the zeros that only its column gives it: `12.5`, `1,000`."""
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def amount(value: Decimal, currency: str) -> str:
    """`12.5 USD`, or `1,000 tokens` where there is no currency."""
    return f"{plain(value)} {currency or 'tokens'}"


def percent(spent: Decimal, of: Decimal) -> float:
    """How much of an amount is spent, in percent, rounded to a tenth."""
    return float(round(100 * spent / of, 1))
