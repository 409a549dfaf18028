"""The HTTP request that a step made, from its recorded inputs: for the module types that make one.

Only the first request is told: redirects, pages and retries follow from its answer.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from dlq.copying.redacted import REFERENCE, redacted

CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
HEADER = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # a token (RFC 9110, section 5.6.2)
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class CopiedRequest:
    """What was asked of whom; texts may hold references to secrets."""

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
    """The request of a step of that type; None where the type makes none, or the inputs are odd."""
    made = _TYPES.get(module)
    given = redacted(inputs)
    if made is None or not isinstance(given, dict) or not isinstance(given.get("url"), str):
        return None
    return made(given)


def makes_requests(module: str) -> bool:
    """Whether steps of that type make requests that can be told."""
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
    """Those that a request can carry; what would end a header's line never left."""
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
    """Text of the body, or its Base64, and its type."""
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
    """Pairs as in a query: a list repeats its name, null leaves it out."""
    pairs = [
        (name, one)
        for name, value in values.items()
        for one in (value if isinstance(value, list) else [value])
        if one is not None
    ]
    return "&".join(f"{_percent(name)}={_percent(_scalar(value))}" for name, value in pairs)


def _percent(text: str) -> str:
    """Percent-encoded, but for references."""
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
