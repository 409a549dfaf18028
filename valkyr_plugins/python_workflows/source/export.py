"""Write a whole document as a Python module."""

from collections.abc import Mapping
from typing import Any

from executions.public.definitions import normalise
from valkyr_plugins.python_workflows import names
from valkyr_plugins.python_workflows.source.literals import (
    INDENT,
    call,
    identifier,
    keywords,
    literal,
)
from valkyr_plugins.python_workflows.source.tasks import SourceWriter

_KEYS = {"CRON": "schedule", "WEBHOOK": "webhook", "EVENT": "event", "QUEUE": "queue"}
_MAIN = {"CRON": "schedule", "WEBHOOK": "", "EVENT": "event", "QUEUE": "queue"}


def python_source(document: Mapping[str, Any], slug: str = "") -> str:
    """Return the source of a Python module with this workflow; tracing it gives an equal graph.

    `document` must be valid, as for publishing. The studio's part (`ui`) is omitted. Raises
    ValueError if the document is invalid, or if a part of it has no form in Python.
    """
    normal = normalise(dict(document))
    slug = slug or identifier_slug(str(normal["name"]))
    function = identifier(slug.replace("-", "_").lower())
    writer = SourceWriter(
        frozenset({*names.__all__, "Any", "payload", "item", "variable", function})
    )
    parameter = "payload: Any" if "input" in normal else ""
    if parameter:
        writer.roots["input"] = "payload"
    if normal.get("variables"):
        writer.roots["vars"] = "variable"
    lines = writer.body(normal, 1)
    used = {*writer.used, "workflow"} | ({"variables"} if normal.get("variables") else set())
    needs_any = bool(parameter) or {"each", "tool"} & used or "output" in normal
    returns = "Any" if "output" in normal else "None"
    parts = [
        *(["from typing import Any", ""] if needs_any else []),
        call("from valkyr import ", sorted(used), 0).replace("import (", "import (", 1)
        if len(used) > 8
        else f"from valkyr import {', '.join(sorted(used))}",
        "",
        "",
        f"@{call('workflow', _facts(normal, slug), 0)}",
        f"def {function}({parameter}) -> {returns}:",
        *_variables(normal),
        *lines,
        *(
            [f"{INDENT}return {literal(writer.shown(normal['output']), 1, 7)}"]
            if "output" in normal
            else []
        ),
    ]
    return "\n".join(parts).replace("\n\n\n\n", "\n\n\n") + "\n"


def identifier_slug(name: str) -> str:
    """Return a slug for a display name."""
    words = "".join(one if one.isalnum() and one.isascii() else " " for one in name).split()
    return "-".join(words).lower() or "workflow"


def _variables(document: Mapping[str, Any]) -> list[str]:
    declared = document.get("variables")
    if not declared:
        return []
    return [f"{INDENT}variable = {call('variables', keywords(declared, 1), 1, 11)}"]


def _facts(document: Mapping[str, Any], slug: str) -> list[str]:
    settings = document.get("settings") or {}
    concurrency = settings.get("concurrency") or {}
    failure = settings.get("onFailure") or {}
    found: dict[str, Any] = {
        "title": document["name"] if document["name"] != slug else None,
        "description": document.get("description"),
        "input": document.get("input"),
        **_triggers(document.get("triggers") or []),
        "concurrency_key": concurrency.get("key"),
        "concurrency_limit": concurrency.get("limit"),
        "on_conflict": concurrency.get("onConflict"),
        "priority": settings.get("priority"),
        "timeout": settings.get("timeoutSeconds"),
        "on_failure": failure.get("workflow"),
        "checkpoint": settings.get("checkpoint"),
        "compensation": settings.get("compensation"),
        "labels": document.get("labels") or None,
    }
    given = {key: one for key, one in found.items() if one is not None}
    return [literal(slug), *keywords(given, 0)]


def _triggers(triggers: list[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, list[Any]] = {}
    for one in triggers:
        kind, key = one["type"], _MAIN[one["type"]]
        rest = {name: value for name, value in one.items() if name not in ("type", "ui")}
        short = rest[key] if key and set(rest) == {key} else True if not rest and not key else rest
        found.setdefault(_KEYS[kind], []).append(short)
    return {key: many[0] if len(many) == 1 else many for key, many in found.items()}
