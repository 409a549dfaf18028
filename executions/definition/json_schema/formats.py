"""The `format` keyword: what the library checks, for texts of bounded length."""

from functools import lru_cache
from typing import Any

from executions.definition.patterns import BadPattern, pattern

# The longest text that is still looked at; names of hosts have at most 253 characters.
MAX_CHARACTERS = 16_384
MAX_HOST_CHARACTERS = 1_000


@lru_cache(maxsize=1)
def format_checker() -> Any:
    """Return the checker of draft 2020-12 with every format bounded."""
    from jsonschema import Draft202012Validator, FormatChecker

    checker = FormatChecker(formats=())
    checker.checkers = {
        name: (_bounded(name, check), ())
        for name, (check, _) in Draft202012Validator.FORMAT_CHECKER.checkers.items()
    }
    checker.checkers["regex"] = (_is_pattern, ())
    return checker


def _bounded(name: str, check: Any) -> Any:
    longest = MAX_HOST_CHARACTERS if "hostname" in name else MAX_CHARACTERS

    def checked(value: object) -> bool:
        if isinstance(value, str) and len(value) > longest:
            return False
        try:
            return bool(check(value))
        except Exception:
            # Each format's library has exceptions of its own for what is none.
            return False

    return checked


def _is_pattern(value: object) -> bool:
    if not isinstance(value, str):
        return True
    try:
        pattern(value)
    except BadPattern:
        return False
    return True
