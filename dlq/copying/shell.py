"""Text as words of a POSIX shell, safe whatever it holds; references become variables. Pure."""

from collections.abc import Iterable

from dlq.copying.redacted import REFERENCE

Option = tuple[str, str | None]  # a name such as --url, and its value


def word(text: str) -> str:
    """One word that the shell expands to `text`, with the value of `$NAME` for each reference.

    Nothing is special within single quotes but the single quote itself.
    """
    parts, at = [], 0
    for match in REFERENCE.finditer(text):
        parts += [_literal(text[at : match.start()]), f'"${variable(match[0])}"']
        at = match.end()
    parts.append(_literal(text[at:]))
    return "".join(parts) or "''"


def variable(reference: str) -> str:
    """The shell variable of a reference: `[secret:shop.password]` is SHOP_PASSWORD."""
    match = REFERENCE.fullmatch(reference)
    assert match is not None, f"{reference} is no reference"
    return "_".join(filter(None, match.groups())).upper()


def command(program: str, options: Iterable[Option], *, before: str = "") -> str:
    """A program with its options, one a line; their values are quoted, their names are ours."""
    lines = [program]
    lines += [name if value is None else f"{name} {word(value)}" for name, value in options]
    return before + " \\\n  ".join(lines) + "\n"


def _literal(text: str) -> str:
    if not text:
        return ""
    return "'" + text.replace("'", "'\\''") + "'"
