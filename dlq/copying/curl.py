"""Requests as commands of curl (7.55 or newer), to be read before they are run. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from dlq.copying.redacted import REFERENCE, references
from dlq.copying.requests import CopiedRequest

# Text as words of a POSIX shell, safe whatever it holds; references become variables. Pure.

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


def curl(request: CopiedRequest, *, key: str = "", credential: str = "", kind: str = "") -> str:
    """The command; `key` is the step's idempotency key, `credential` names its own, of that kind.

    What stands for secrets is listed above it.
    """
    options = list(options_of(request, key=key, credential=credential, kind=kind))
    piped = f"printf %s {word(request.base64)} | base64 -d | " if request.base64 else ""
    told = " ".join(value for _, value in options if value is not None)
    names = [variable(found) for found in references(told)]
    lines = [f"# {request.note}\n"] if request.note else []
    if names:
        lines.append(f"# Set first: {', '.join(dict.fromkeys(names))}\n")
    return "".join(lines) + command("curl", options, before=piped)


def options_of(
    request: CopiedRequest, *, key: str = "", credential: str = "", kind: str = ""
) -> Iterator[Option]:
    """Each option with its value, references not yet variables."""
    yield from (("--globoff", None), ("--include", None))
    yield ("--request", request.method)
    yield ("--url", request.url)
    if request.follows:
        yield from (("--location", None), ("--max-redirs", "5"))
    if request.seconds is not None:
        yield ("--max-time", f"{request.seconds:g}")
    for name, value in request.headers.items():
        yield ("--header", f"{name}: {value}" if value else f"{name};")
    known = {name.lower() for name in request.headers}
    if request.keyed and key and "idempotency-key" not in known:
        yield ("--header", f"Idempotency-Key: {key}")
    if credential and request.signs_in:
        yield from _signed_in(request, credential, kind)
    yield from _body(request)


def requeuing(entry_id: UUID) -> str:
    """The call of the API that requeues a dead letter."""
    # Variables are expanded within double quotes only, so these words are written as they are.
    return (
        "# Set first: VALKYR_URL, VALKYR_TOKEN\n"
        "curl --include --request POST \\\n"
        f'  --url "$VALKYR_URL/v1/DeadLetterQueue/{entry_id}/requeue" \\\n'
        '  --header "Authorization: Bearer $VALKYR_TOKEN" \\\n'
        "  --header 'Content-Type: application/json' \\\n"
        "  --data-raw '{}'\n"
    )


def _signed_in(request: CopiedRequest, credential: str, kind: str) -> Iterator[Option]:
    if kind == "basic":
        if request.digest:
            yield ("--digest", None)
        yield ("--user", f"[secret:{credential}.username]:[secret:{credential}.password]")
    else:
        yield ("--header", f"Authorization: Bearer [secret:{credential}.token]")


def _body(request: CopiedRequest) -> Iterator[Option]:
    if request.parts:
        yield from (_part(part) for part in request.parts)
    elif request.base64:
        yield ("--data-binary", "@-")
    elif request.body is not None:
        yield ("--data-raw", request.body)


def _part(part: Mapping[str, Any]) -> Option:
    name = str(part.get("name", ""))
    if part.get("value") is not None:
        return ("--form-string", f"{name}={part['value']}")
    return ("--form", f"{name}=@{_quoted(str(part.get('path') or 'FILE'))}")


def _quoted(path: str) -> str:
    """As curl reads a file's name that may hold commas and semicolons."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
