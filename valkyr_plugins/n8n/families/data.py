"""Convert Set, No Operation, Rename Keys, Date & Time, HTML, XML and RSS nodes."""

import json
from typing import Any

from executions.public.templates import todo
from valkyr_plugins.n8n.expressions import methods
from valkyr_plugins.n8n.expressions.parsing import Untranslatable
from valkyr_plugins.n8n.families.dates import dated
from valkyr_plugins.n8n.mapping import Left, Made, NodeWork, family
from valkyr_plugins.n8n.secrecy import without_secrets
from valkyr_plugins.n8n.shape import Keys, Shape, many, one, path
from valkyr_plugins.n8n.texts import is_expression

OLD_KINDS = ("string", "number", "boolean")


@family("set")
def set_(work: NodeWork) -> Made:
    """Make a `data.set` task; fields that pass through are read from their source. Raises Left."""
    if work.word("mode") in ("raw", "json"):
        return _of_json(work)
    fields = _fields(work)
    values: dict[str, Any] = {}
    for name, raw in fields.items():
        if "{{" in name or "{%" in name:
            raise Left("the name of a field is worked out; write it as the values of a data.set")
        _put(values, name.split("."), work.value(raw, name))
    keeps = _keeps_others(work)
    if work.shape.items is not None:
        raise Left(work.shape.why)
    return work.made("data.set", {"values": values}, _shape(work, list(values), keeps=keeps))


def _shape(work: NodeWork, names: list[str], *, keeps: bool) -> Shape:
    if not keeps or (not names and work.shape.whole is None):
        return Shape(whole=work.output, base=work.output)
    own: dict[Keys, str] = {(name,): path(work.output, (name,)) for name in names}
    came = work.shape
    why = "it passes on fields of the previous node in addition to its own; name the field"
    return Shape(None, came.base, {**came.named, **own}, why=why)


def _of_json(work: NodeWork) -> Made:
    raw = work.get("jsonOutput", "{}")
    try:
        values = work.texts.json_text(raw) if isinstance(raw, str) else work.value(raw)
    except (ValueError, RecursionError):
        raise Left("its JSON cannot be parsed; write it as the values of a data.set") from None
    return work.made("data.set", {"values": values})


def _fields(work: NodeWork) -> dict[str, Any]:
    """Return the raw values of the fields, keyed by name, from the parameters of any version."""
    found: dict[str, Any] = {}
    for row in (*work.names("assignments.assignments"), *work.names("fields.values")):
        kind = str(row.get("type", "stringValue"))
        raw = row.get("value", row.get(kind, row.get("stringValue")))
        found[str(row.get("name", ""))] = _typed(raw, kind)
    for kind in OLD_KINDS:
        for row in work.names(f"values.{kind}"):
            found[str(row.get("name", ""))] = _typed(row.get("value"), kind)
    return {name: raw for name, raw in found.items() if name}


def _typed(raw: Any, kind: str) -> Any:
    """Convert a value to the type that n8n's form names; leave expressions unchanged."""
    if not isinstance(raw, str) or is_expression(raw):
        return raw
    try:
        if kind.startswith("number"):
            return float(raw) if "." in raw else int(raw)
        if kind.startswith(("object", "array")):
            return json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    return raw == "true" if kind.startswith("boolean") else raw


def _keeps_others(work: NodeWork) -> bool:
    if work.node.version < 3:
        return work.get("keepOnlySet") is not True
    return work.get("includeOtherFields") is True or work.get("include") in (
        "all",
        "selected",
        "except",
    )


def _put(values: dict[str, Any], keys: list[str], value: Any) -> None:
    """Set the value of a dotted name in nested objects."""
    for key in keys[:-1]:
        inner = values.setdefault(key, {})
        if not isinstance(inner, dict):
            inner = values[key] = {}
        values = inner
    values[keys[-1]] = value


@family("noOp")
def noop(work: NodeWork) -> Made:
    """Make a `flow.noop` task without output; later tasks read the node's input directly."""
    if set(work.node.parameters) - {"options"}:
        names = ", ".join(without_secrets(name[:60]) for name in list(work.node.parameters)[:6])
        work.remark(
            f"A No Operation node takes no parameters, and this one has {names}: it was probably "
            "another node before the file was changed. n8n ignores them, and so does this task."
        )
    return Made("flow.noop", {}, work.shape)


@family("renameKeys")
def rename(work: NodeWork) -> Made:
    """Make a `flow.noop` task: later nodes read a renamed field by its old name. Raises Left."""
    rows = work.names("keys.key")
    if work.get("additionalOptions.regexReplacement") is not None or work.shape.items is not None:
        raise Left("it renames fields by a pattern or in a list; name them in a data.set")
    named: dict[Keys, str] = dict(work.shape.named)
    for row in rows:
        new, old = (str(row.get(key, "")).split(".") for key in ("newKey", "currentKey"))
        found = work.shape.read(tuple(old))
        if found is not None:
            named[tuple(new)] = found
    work.remark("Later tasks read the fields by their old names; the object does not change.")
    return Made("flow.noop", {}, Shape(work.shape.whole, work.shape.base, named))


@family("dateTime")
def date_time(work: NodeWork) -> Made:
    """Make a `data.set` task with the execution's start, unchanged or formatted.

    `dated` converts other dates.
    """
    operation = work.word("operation", work.word("action", "format"))
    name = work.word("outputFieldName").removeprefix("=")
    if operation == "getCurrentDate":
        work.remark(methods.REMARK)
        values = {name or "currentDate": "{{ " + methods.STARTED + " }}"}
        return work.made("data.set", {"values": values})
    now = str(work.get("date", work.get("value", ""))).strip("={} ") == "$now"
    pattern = work.word("customFormat") or work.word("format")
    if operation in ("formatDate", "format") and now:
        try:
            written = "{{ " + methods.formatted(pattern.removeprefix("=")) + " }}"
        except Untranslatable:
            return dated(work)
        work.remark(methods.REMARK)
        return work.made("data.set", {"values": {name or "formattedDate": written}})
    return dated(work)


# HTML, XML and RSS.


RSS_NAMES: dict[Keys, Keys] = {
    ("pubDate",): ("published",),
    ("isoDate",): ("published",),
    ("contentSnippet",): ("summary",),
    ("creator",): ("author",),
    ("guid",): ("id",),
}
GETS = {"text": "text", "html": "html", "attribute": "attribute", "value": "attribute"}


@family("rssFeedRead")
def rss(work: NodeWork) -> Made:
    """Make an `rss.read` task; its entries are the items."""
    raw = work.get("url")
    url = work.text(raw.strip()) if isinstance(raw, str) and raw.strip("= ") else ""
    if not url:
        work.texts.unfinished += 1
        work.remark("The file does not contain its address.")
        url = todo("the address")
    return work.made("rss.read", {"url": url}, many(f"{work.output}.entries", RSS_NAMES))


@family("xml")
def xml(work: NodeWork) -> Made:
    """Make a `data.xml_parse` task. Raises Left for a node that writes XML."""
    if work.word("mode", "xmlToJson") != "xmlToJson":
        raise Left("it writes XML; write it as the text of a data.template")
    text = _field(work, work.word("dataPropertyName", "data"))
    work.remark("Attributes are read as @name, an element's own text as #text.")
    return work.made("data.xml_parse", {"text": text}, one(f"{work.output}.data"))


@family("html", "htmlExtract")
def html(work: NodeWork) -> Made:
    """Make a `data.html_extract` task, or `data.template` to generate a page. Raises Left."""
    operation = work.word("operation", "generateHtmlTemplate")
    if work.node.kind == "htmlExtract" or operation == "extractHtmlContent":
        return _extract(work)
    if operation != "generateHtmlTemplate":
        raise Left("it creates a table of items; write it as the text of a data.template")
    raw = work.get("html", "")
    text = work.text(raw if str(raw).startswith("=") else f"={raw}")
    return work.made(
        "data.template", {"text": text}, Shape(named={("html",): f"{work.output}.text"})
    )


def _extract(work: NodeWork) -> Made:
    if work.word("sourceData", "json") != "json":
        raise Left("it reads a file; read the page with http.request")
    fields: dict[str, Any] = {}
    for row in work.names("extractionValues.values"):
        name, selector = row.get("key"), row.get("cssSelector")
        if not (isinstance(name, str) and isinstance(selector, str) and name and selector):
            raise Left("one of its values has no name or no selector")
        fields[name] = _value(work, row, selector)
    if not fields:
        raise Left("the values that it reads are not named")
    page = _field(work, work.word("dataPropertyName", "data"))
    return work.made(
        "data.html_extract", {"html": page, "fields": fields}, one(f"{work.output}.data")
    )


def _value(work: NodeWork, row: dict[str, Any], selector: str) -> dict[str, Any]:
    how = GETS.get(str(row.get("returnValue", "text")), "text")
    found: dict[str, Any] = {"selector": work.text(selector), "get": how}
    if how == "attribute":
        found["attribute"] = str(row.get("attribute") or "value")
    if row.get("returnArray") is True:
        found["all"] = True
    return found


def _field(work: NodeWork, name: str) -> str:
    """Return a template for a field of the node's input; for `data` of a response, for the body."""
    whole = work.shape.whole
    if name == "data" and whole is not None and whole.endswith(".body"):
        return "{{ " + whole + " }}"
    found = work.shape.read((name,))
    if found is not None:
        return "{{ " + found + " }}"
    return "{{ " + work.texts.left(f"$json.{name}", work.shape.why) + " }}"
