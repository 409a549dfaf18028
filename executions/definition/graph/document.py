"""Parse text into a document, and convert its short forms into the stored form."""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from executions.definition.graph.problem import DefinitionError, DefinitionProblem, TextError
from executions.definition.graph.storable import MAX_BYTES, storage_problems, too_large
from executions.definition.graph.yaml_text import dump_yaml, read_yaml

# Parse a definition's YAML or JSON text into a document of JSON values only.
#
# The parser rejects texts of more than 1 MiB, nesting deeper than 64 levels, duplicate keys,
# aliases that expand too much, and values that cannot be stored.


def load_text(text: str, *, content_type: str) -> dict[str, Any]:
    """Parse text into a document; `content_type` is a media type or file name of YAML or JSON.

    Raises DefinitionError. Short forms remain (see `normalise`); `problems` checks the content.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise DefinitionError([too_large(size)])
    document = _read(text, content_type.lower())
    if not isinstance(document, dict):
        raise DefinitionError([DefinitionProblem("", "type", "a definition must be an object")])
    if found := storage_problems(document):
        raise DefinitionError(found)
    return document


def _read(text: str, content_type: str) -> Any:
    try:
        if "json" in content_type:
            return read_json(text)
        if "yaml" in content_type:
            return read_yaml(text)
    except TextError as error:
        raise DefinitionError([DefinitionProblem("", error.code, str(error))]) from None
    message = f'a definition is YAML or JSON; "{content_type}" is neither'
    raise DefinitionError([DefinitionProblem("", "content_type", message)])


def read_json(text: str) -> Any:
    """Return the value that a JSON text describes. Raises TextError."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        message = f"the text is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise TextError("syntax", message) from None
    except ValueError as error:
        raise TextError("value", f"a number cannot be read: {error}") from None
    except RecursionError:
        raise TextError("too_deep", "values are nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise TextError("duplicate_key", f'the key "{key}" is given twice in one object')
        values[key] = value
    return values


def _no_constant(name: str) -> NoReturn:
    raise TextError("value", f"JSON cannot hold the number {name}")


__all__ = [
    "DefinitionError",
    "dump_yaml",
    "load_text",
    "modules_of",
    "normalise",
    "outcome_text",
    "split_after",
]

SUCCESS = "success"
ERROR = "error"
MAIN = "main"
CALLBACK_URL = "callbackUrl"  # of a task that waits for a callback; known before the task starts


def normalise(document: dict[str, Any]) -> dict[str, Any]:
    """Convert every `after:` into edges, and give every edge its `on`.

    This includes the bodies of tasks, at any depth. Malformed parts stay unchanged, for validation
    to report. The argument is not changed.
    """
    tasks, edges = document.get("tasks"), document.get("edges") or []
    if not isinstance(tasks, list) or not isinstance(edges, list):
        return document
    written = [_with_outcome(edge) for edge in edges]
    shortened = []
    for task in tasks:
        short = _without_after(task)
        if short is not task:
            written += [_edge(entry, task["id"]) for entry in _entries(task["after"])]
        shortened.append(_with_normal_body(short))
    return document | {"tasks": shortened, "edges": written}


def split_after(entry: str) -> tuple[str, str]:
    """Split `"risky:true"` into ("risky", "true"); the default outcome is success."""
    source, separator, outcome = entry.partition(":")
    return source.strip(), outcome.strip() if separator else SUCCESS


def outcome_text(on: Any) -> Any:
    """Return an edge's `on` as an outcome: YAML's unquoted `on: true` means "true"."""
    if isinstance(on, bool):
        return "true" if on else "false"
    return on


def modules_of(task: Mapping[str, Any]) -> list[Any]:
    """Return the task's modules: `use` and `with` are short for one module with the ID `main`."""
    if "modules" in task:
        modules = task["modules"]
        return modules if isinstance(modules, list) else []
    short = {key: task[key] for key in ("use", "with") if key in task}
    return [{"id": MAIN, **short}]


def _with_outcome(edge: Any) -> Any:
    if not isinstance(edge, dict):
        return edge
    return edge | {"on": outcome_text(edge.get("on", SUCCESS))}


def _entries(after: Any) -> Any:
    return [after] if isinstance(after, str) else after


def _without_after(task: Any) -> Any:
    """Return the task without `after`; the same object if the task has no valid `after`."""
    if not isinstance(task, dict) or not isinstance(task.get("id"), str) or "after" not in task:
        return task
    entries = _entries(task["after"])
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        return task
    return {key: value for key, value in task.items() if key != "after"}


def _with_normal_body(task: Any) -> Any:
    if not isinstance(task, dict) or not isinstance(task.get("body"), dict):
        return task
    return task | {"body": normalise(task["body"])}


def _edge(entry: str, target: str) -> dict[str, str]:
    source, outcome = split_after(entry)
    return {"from": source, "to": target, "on": outcome}
