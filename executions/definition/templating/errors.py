"""Errors of templates, at compile time and at rendering."""

from dataclasses import dataclass

Pointer = tuple[str | int, ...]

QUOTED_LENGTH = 120


class TemplateError(Exception):
    """A template could not be rendered; the message names the template, the key and the reason."""


class TemplateTimeout(TemplateError):
    """A template took longer to render than the process or the step allows."""


class TooLarge(ValueError):
    """An operation would build a larger value, or do more work, than a template may."""


class OutOfTime(Exception):
    """A rendering exceeded its time limit. Filters must not catch this error."""


@dataclass(frozen=True, slots=True)
class TemplateSyntaxProblem:
    """One problem in the text of a template, and its position in the value."""

    pointer: Pointer
    code: str
    message: str


class ExpressionSyntaxError(Exception):
    """One expression cannot be compiled; the message has the reason, and `code` is stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class TemplateSyntaxProblems(Exception):
    """A value cannot be compiled; `problems` lists every mistake in it."""

    def __init__(self, problems: list[TemplateSyntaxProblem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


def key_path(pointer: Pointer) -> str:
    """Return a pointer as text: `headers[0]["a b"]` for `("headers", 0, "a b")`."""
    path = ""
    for part in pointer:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part.replace("-", "_").isidentifier():
            path += f".{part}" if path else part
        else:
            path += f'["{part}"]'
    return path


def quoted(source: str, most: int = QUOTED_LENGTH) -> str:
    """Return a text for messages; a long text is shortened."""
    return source if len(source) <= most else source[: most - 1] + "…"
