"""Reconstruct a step's HTTP request from its recorded inputs as a curl command.

This module is pure. Only the first request is reconstructed: redirects, pages and retries depend on
the response.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from executions.admin.values import SECRET

# Remove secrets from a step's inputs: values under a typical name become references with that name.
# No I/O.
#
# The engine's references, such as `[secret:shop.password]`, stay unchanged.


REFERENCE = re.compile(r"\[secret:([a-z][a-z0-9_]{0,79})(?:\.([a-z][a-z0-9_]{0,79}))?\]")


def redacted(value: Any) -> Any:
    """Return the value with references in place of likely secrets.

    A key such as `password` or `api_key` marks its value as a likely secret.
    """
    if isinstance(value, dict):
        return {key: _member(key, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [redacted(inner) for inner in value]
    return value


def reference_of(name: str) -> str:
    """Return the reference to the secret with this name, such as `[secret:x_api_key]`."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:70]
    return f"[secret:{plain if plain[:1].isalpha() else f'secret_{plain}'}]"


def references(text: str) -> list[str]:
    """Return the distinct references in `text`, in the order of their appearance."""
    return list(dict.fromkeys(match[0] for match in REFERENCE.finditer(text)))


def _member(key: str, value: Any) -> Any:
    if not SECRET.match(key) or value in (None, ""):
        return redacted(value)
    if isinstance(value, str) and REFERENCE.search(value):
        return value
    return reference_of(key)


CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
HEADER = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # a token (RFC 9110, section 5.6.2)
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class CopiedRequest:
    """A request that a step made; its strings may contain references to secrets."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    base64: str = ""
    parts: tuple[Mapping[str, Any], ...] = ()
    follows: bool = True
    keyed: bool = False
    seconds: float | None = None
    signs_in: bool = True
    digest: bool = False
    note: str = ""


def request_of(module: str, inputs: Any) -> CopiedRequest | None:
    """Return the request that a step with this module made with these inputs.

    Returns None if the module's requests cannot be reconstructed, or if the inputs contain no URL.
    """
    made = _TYPES.get(module)
    given = redacted(inputs)
    if made is None or not isinstance(given, dict) or not isinstance(given.get("url"), str):
        return None
    return made(given)


def makes_requests(module: str) -> bool:
    """Return whether steps of this type make requests that can be reconstructed."""
    return module in _TYPES


def _plain(given: dict[str, Any]) -> CopiedRequest:
    method = str(given.get("method") or "GET")
    headers = _headers(given)
    body, base64, kind = _body(given)
    parts = tuple(p for p in given.get("multipart") or () if isinstance(p, dict))
    return CopiedRequest(
        method,
        _url(given),
        _with(headers, "Content-Type", kind if not parts else ""),
        body,
        base64,
        parts,
        follows=given.get("followRedirects") is not False,
        keyed=method in CHANGING,
        seconds=_seconds(given),
        digest=given.get("authentication") == "digest",
    )


def _reading(given: dict[str, Any]) -> CopiedRequest:
    body = _json(given["json"]) if "json" in given else None
    headers = _with(_headers(given), "Content-Type", "application/json" if body else "")
    method = str(given.get("method") or "GET")
    return CopiedRequest(method, _url(given), headers, body, seconds=_seconds(given))


def _graphql(given: dict[str, Any]) -> CopiedRequest:
    asked = {"query": given.get("query"), "variables": given.get("variables") or {}}
    if given.get("operationName") is not None:
        asked["operationName"] = given["operationName"]
    headers = _with(_headers(given), "Content-Type", "application/json")
    url = str(given["url"])
    return CopiedRequest("POST", url, headers, _json(asked), seconds=_seconds(given))


def _webhook(given: dict[str, Any]) -> CopiedRequest:
    headers = _with(_headers(given), "Content-Type", "application/json")
    note = "The step's webhook-id, -timestamp and -signature are not sent."
    return CopiedRequest(
        "POST", str(given["url"]), headers, _json(given.get("payload")), follows=False,
        seconds=_seconds(given), signs_in=False, note=note,
    )  # fmt: skip


_TYPES: Mapping[str, Callable[[dict[str, Any]], CopiedRequest]] = {
    "http.request": _plain,
    "http.paginate": _reading,
    "rss.read": _reading,
    "graphql.query": _graphql,
    "webhook.post": _webhook,
}


def _headers(given: dict[str, Any]) -> dict[str, str]:
    """Return the headers that a request can contain; invalid headers were never sent."""
    found = given.get("headers")
    items = found.items() if isinstance(found, dict) else ()
    return {
        name: str(value)
        for name, value in items
        if HEADER.fullmatch(name) and not CONTROL.search(str(value))
    }


def _with(headers: dict[str, str], name: str, value: str) -> dict[str, str]:
    known = {key.lower() for key in headers}
    return headers if not value or name.lower() in known else {**headers, name: value}


def _body(given: dict[str, Any]) -> tuple[str | None, str, str]:
    """Return the body as text or None, the body as Base64 or "", and the content type or ""."""
    if given.get("body") is not None:
        return str(given["body"]), "", ""
    if given.get("bodyBase64") is not None:
        return None, str(given["bodyBase64"]), ""
    if isinstance(given.get("form"), dict):
        return _encoded(given["form"]), "", FORM
    if "json" in given:
        return _json(given["json"]), "", "application/json"
    return None, "", ""


def _url(given: dict[str, Any]) -> str:
    url, query = str(given["url"]), given.get("query")
    added = _encoded(query) if isinstance(query, dict) else ""
    if not added:
        return url
    before, mark, fragment = url.partition("#")
    return f"{before}{'&' if '?' in before else '?'}{added}{mark}{fragment}"


def _encoded(values: dict[str, Any]) -> str:
    """Return a query string; a name is repeated for each item of its list, and null is omitted."""
    pairs = [
        (name, one)
        for name, value in values.items()
        for one in (value if isinstance(value, list) else [value])
        if one is not None
    ]
    return "&".join(f"{_percent(name)}={_percent(_scalar(value))}" for name, value in pairs)


def _percent(text: str) -> str:
    """Return the text percent-encoded, except for its references."""
    parts, at = [], 0
    for match in REFERENCE.finditer(text):
        parts += [quote(text[at : match.start()], safe=""), match[0]]
        at = match.end()
    return "".join([*parts, quote(text[at:], safe="")])


def _scalar(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _seconds(given: dict[str, Any]) -> float | None:
    seconds = given.get("timeoutSeconds")
    return float(seconds) if isinstance(seconds, int | float) else None


# Write requests as curl commands (7.55 or newer), which users review before they run them. No I/O.


# Quote text as words of a POSIX shell, with variables for references. No I/O.

Option = tuple[str, str | None]  # a name such as --url, and its value


def word(text: str) -> str:
    """Return a word that the shell expands to `text`, with a variable for each reference.

    Within single quotes, only the single quote itself is special.
    """
    parts, at = [], 0
    for match in REFERENCE.finditer(text):
        parts += [_literal(text[at : match.start()]), f'"${variable(match[0])}"']
        at = match.end()
    parts.append(_literal(text[at:]))
    return "".join(parts) or "''"


def variable(reference: str) -> str:
    """Return the shell variable for a reference: `[secret:shop.password]` is SHOP_PASSWORD."""
    match = REFERENCE.fullmatch(reference)
    assert match is not None, f"{reference} is no reference"
    return "_".join(filter(None, match.groups())).upper()


def command(program: str, options: Iterable[Option], *, before: str = "") -> str:
    """Return a shell command with one option per line; values are quoted, names are constants."""
    lines = [program]
    lines += [name if value is None else f"{name} {word(value)}" for name, value in options]
    return before + " \\\n  ".join(lines) + "\n"


def _literal(text: str) -> str:
    if not text:
        return ""
    return "'" + text.replace("'", "'\\''") + "'"


def curl(request: CopiedRequest, *, key: str = "", credential: str = "", kind: str = "") -> str:
    """Return the request as a curl command.

    `key` is the step's idempotency key, and `credential` is the name of a credential of type
    `kind`. A comment above the command lists the secrets to fill in.
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
    """Yield the options of the curl command, in which references are not yet shell variables."""
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
    yield from _body_options(request)


def requeuing(address: str) -> str:
    """Return a curl command that requeues a dead letter; `address` is relative to the API root."""
    # Not quoted by `word`, because the shell expands variables only within double quotes.
    return (
        "# Set first: VALKYR_URL, VALKYR_TOKEN\n"
        "curl --include --request POST \\\n"
        f'  --url "$VALKYR_URL/{address}" \\\n'
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


def _body_options(request: CopiedRequest) -> Iterator[Option]:
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
    """Return a path quoted for curl, because file names may contain commas and semicolons."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
