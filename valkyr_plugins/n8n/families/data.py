"""Set and Edit Fields, No Operation, Date & Time: small values made on the way."""

import json
from typing import Any

from valkyr_plugins.n8n.expressions import times
from valkyr_plugins.n8n.expressions.tree import Untranslatable
from valkyr_plugins.n8n.shape import Keys, Shape, path
from valkyr_plugins.n8n.texts import is_expression
from valkyr_plugins.n8n.work import Left, Made, NodeWork, family

OLD_KINDS = ("string", "number", "boolean")


@family("set")
def set_(work: NodeWork) -> Made:
    """`data.set`; fields that are passed on besides are read where they came from."""
    if work.word("mode") in ("raw", "json"):
        return _of_json(work)
    fields = _fields(work)
    values: dict[str, Any] = {}
    for name, raw in fields.items():
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
    why = "it passes fields of the node before on beside its own; name the field"
    return Shape(None, came.base, {**came.named, **own}, why=why)


def _of_json(work: NodeWork) -> Made:
    raw = work.get("jsonOutput", "{}")
    try:
        values = work.texts.json_text(raw) if isinstance(raw, str) else work.value(raw)
    except (ValueError, RecursionError):
        raise Left("its JSON cannot be read; write it as the values of a data.set") from None
    return work.made("data.set", {"values": values})


def _fields(work: NodeWork) -> dict[str, Any]:
    """Raw values by names, whichever version wrote them."""
    found: dict[str, Any] = {}
    for one in (*work.names("assignments.assignments"), *work.names("fields.values")):
        kind = str(one.get("type", "stringValue"))
        raw = one.get("value", one.get(kind, one.get("stringValue")))
        found[str(one.get("name", ""))] = _typed(raw, kind)
    for kind in OLD_KINDS:
        for one in work.names(f"values.{kind}"):
            found[str(one.get("name", ""))] = _typed(one.get("value"), kind)
    return {name: raw for name, raw in found.items() if name}


def _typed(raw: Any, kind: str) -> Any:
    """A value of the kind that the form says; expressions stay."""
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
    """A dotted name makes an object in an object."""
    for key in keys[:-1]:
        inner = values.setdefault(key, {})
        if not isinstance(inner, dict):
            inner = values[key] = {}
        values = inner
    values[keys[-1]] = value


@family("noOp")
def noop(work: NodeWork) -> Made:
    """`flow.noop`; what goes on is what came in."""
    if set(work.node.parameters) - {"options"}:
        names = ", ".join(list(work.node.parameters)[:6])
        raise Left(
            f"a No Operation node takes no parameters, and this one has {names}: it was another "
            "node before the file was changed. Put the module in that does its work"
        )
    return Made("flow.noop", {}, work.shape)


@family("dateTime")
def date_time(work: NodeWork) -> Made:
    """The execution's beginning, as it is or in a format; nothing else reckons with dates."""
    operation = work.word("operation", work.word("action", "format"))
    name = work.word("outputFieldName").removeprefix("=")
    if operation == "getCurrentDate":
        work.remark(times.REMARK)
        values = {name or "currentDate": "{{ " + times.STARTED + " }}"}
        return work.made("data.set", {"values": values})
    now = str(work.get("date", work.get("value", ""))).strip("={} ") == "$now"
    pattern = work.word("customFormat") or work.word("format")
    if operation in ("formatDate", "format") and now:
        try:
            written = "{{ " + times.formatted(pattern.removeprefix("=")) + " }}"
        except Untranslatable as reason:
            raise Left(f"{reason}; write it in python.code") from None
        work.remark(times.REMARK)
        return work.made("data.set", {"values": {name or "formattedDate": written}})
    raise Left("templates do not reckon with dates; do it in python.code")
