"""Convert the parameters of a node to the values of a request, as templates."""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.shape import operand
from valkyr_plugins.n8n.texts import is_expression, separated

OMIT = object()  # marks a value that is omitted
# For each parameter: the pattern of the ID in a URL. For other parameters, _GOOGLE finds a Google
# file's ID.
_IDS = {
    "base": re.compile(r"(app[A-Za-z0-9]{10,})"),
    "table": re.compile(r"(tbl[A-Za-z0-9]{10,})"),
    "pageId": re.compile(r"([0-9a-f]{32})(?:[?#]|\Z)"),
    "blockId": re.compile(r"([0-9a-f]{32})(?:[?#]|\Z)"),
    "databaseId": re.compile(r"([0-9a-f]{32})(?:[?#]|\Z)"),
}
_GOOGLE = re.compile(r"/(?:d|folders)/([A-Za-z0-9_-]{10,})")
_NAME = re.compile(r"\{([A-Za-z.|]+)\}")


def given(work: NodeWork, keys: str) -> Any:
    """Return the raw value of the first parameter in "a|b" that is given; None if none is given."""
    for key in keys.split("|"):
        raw = work.get(key)
        if isinstance(raw, dict) and "value" in raw and ("__rl" in raw or "mode" in raw):
            raw = _located(work, key, raw)
        if raw not in (None, "", [], {}):
            return raw
    return None


def _located(work: NodeWork, key: str, raw: dict[str, Any]) -> Any:
    """Return the ID in a resource locator's URL, or the locator's value."""
    value = raw["value"]
    if raw.get("mode") != "url" or not isinstance(value, str) or not value:
        return value
    found = _IDS.get(key, _GOOGLE).search(value)
    if found and not is_expression(value):
        return found[1]
    work.remark(f"{key} was an address; the API needs the ID in it.")
    return value


def missing(work: NodeWork, what: str) -> str:
    """Return a template that marks a value as missing from the file."""
    return "{{ " + work.texts.left(what, "the file does not contain it") + " }}"


def filled(work: NodeWork, spec: Any) -> Any:
    """Return a table's value with the node's parameters; OMIT if all its parts are omitted."""
    if callable(spec):
        return spec(work)
    if isinstance(spec, str) and spec.startswith("$"):
        keys = spec[1:].removesuffix("?")
        raw = given(work, keys)
        if raw is not None:
            return work.value(raw, keys.split("|")[0].rpartition(".")[2])
        return OMIT if spec.endswith("?") else missing(work, keys.split("|")[0])
    if isinstance(spec, dict):
        pairs = {key: filled(work, one) for key, one in spec.items()}
        kept = {key: value for key, value in pairs.items() if value is not OMIT}
        return kept if kept or not spec else OMIT
    if isinstance(spec, list):
        values = [value for one in spec if (value := filled(work, one)) is not OMIT]
        return values if values or not spec else OMIT
    return spec


def segment(work: NodeWork, raw: Any, name: str = "") -> str:
    """Return a value as a part of a URL, encoded here or by the filter `urlencode`."""
    if is_expression(raw):
        return "{{ " + operand(work.texts.expression(raw)) + " | urlencode }}"
    text = work.text(raw, name)
    return text if "{{" in text else quote(text, safe="")


def address(work: NodeWork, url: str, parts: Any, secret: str) -> str:
    """Return the URL of a call, with its placeholders filled."""

    def found(match: re.Match[str]) -> str:
        name = match[1]
        if name == "secret":
            return "{{ secrets." + secret + " }}"
        if name in parts:
            return str(parts[name](work))
        raw = given(work, name)
        first = name.split("|")[0]
        return missing(work, first) if raw is None else segment(work, raw, first)

    return _NAME.sub(found, url)


def limit(default: int, key: str = "limit", most: int = 100) -> Any:
    """Return a function for the maximum number of results; it returns `most` if all are wanted."""

    def made(work: NodeWork) -> Any:
        if work.get("returnAll") is True:
            work.remark("It read all pages; use http.paginate for this.")
            return most
        raw = work.get(key, default)
        return work.value(raw) if isinstance(raw, (int, str)) else default

    return made


def listed(keys: str) -> Any:
    """Return a function that splits a comma-separated parameter; it returns OMIT if there is none.

    A single expression is not put into a list, because its value may be a list.
    """

    def made(work: NodeWork) -> Any:
        raw = given(work, keys)
        if raw is None:
            return OMIT
        if not isinstance(raw, str):
            return work.value(raw)
        found = [work.text(one) for one in separated(raw, ",")]
        return found[0] if len(found) == 1 and is_expression(raw) else found

    return made


def pairs(work: NodeWork, rows: Iterable[Any], name: str, value: str) -> dict[str, Any]:
    """Return an object made from a list of fields, each with a name and a value."""
    return {
        work.texts.key(str(row[name])): work.value(row.get(value), str(row[name]))
        for row in rows
        if isinstance(row, dict) and row.get(name)
    }


def content(work: NodeWork, what: str = "the file's content") -> str:
    """Return the template for the text or file that reaches the node; a `todo` if none does."""
    whole = work.shape.whole or ""
    if whole.endswith((".body", ".content", ".csv")):
        return "{{ " + whole + " }}"
    return "{{ " + work.texts.left(what, "n8n's files are not passed on") + " }}"
