"""One mistake in a definition, and how its place is written."""

from dataclasses import dataclass

from executions.templating.errors import Pointer, key_path


@dataclass(frozen=True, slots=True)
class Problem:
    """Where (`tasks[3].with.url`; empty for the whole document), a stable code, a sentence."""

    path: str
    code: str
    message: str


def problem(pointer: Pointer, code: str, message: str) -> Problem:
    """A Problem at the keys and indexes of `pointer`."""
    return Problem(key_path(pointer), code, message)
