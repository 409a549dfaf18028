"""One problem of a definition, and the notation of its path."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from executions.definition.templating.errors import Pointer, key_path

MAX_COMPARED = 100


@dataclass(frozen=True, slots=True)
class DefinitionProblem:
    """One problem of a definition: its path, a stable code and a message.

    A path is like `tasks[3].with.url`; it is empty for the whole document.
    """

    path: str
    code: str
    message: str


class DefinitionError(Exception):
    """The text is not a valid definition; `problems` lists the reasons."""

    def __init__(self, problems: list[DefinitionProblem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


class TextError(Exception):
    """The text is not valid YAML or JSON; the message says why and, if known, where."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def problem(pointer: Pointer, code: str, message: str) -> DefinitionProblem:
    """Return a DefinitionProblem at the keys and indexes of `pointer`."""
    return DefinitionProblem(key_path(pointer), code, message)


def did_you_mean(name: str, known: Iterable[str], *, at_most: int = MAX_COMPARED) -> str:
    """Return `; did you mean "fetch"?`; "" if no name is similar, or `known` is too long."""
    names = list(known)
    # Comparing is slow; a long list comes from a program, which needs no hint.
    close = get_close_matches(name[:100], names, n=1) if len(names) <= at_most else []
    return f'; did you mean "{close[0]}"?' if close else ""
