"""The differences between two definitions or objects, in words. This module does no I/O.

The order of keys, `ui`, and the use of `after` in place of edges make no difference.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from executions.definition.graph.document import SUCCESS, modules_of, normalise
from executions.definition.templating.errors import Pointer, key_path

ADDED, REMOVED, CHANGED = "+", "-", "~"
WORKFLOW_KEYS = (
    "name", "description", "input", "variables", "output", "settings", "labels", "triggers",
)  # fmt: skip
LONGEST_VALUE = 80
MOST_LINES = 200
_MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class WordedChange:
    """One line of a plan: a sign (`+`, `-` or `~`) and the text after it."""

    sign: str
    text: str


def difference_of_graphs(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[WordedChange]:
    """Return the changes from one definition to the other: the workflow, its tasks and its edges.

    Returns at most `MOST_LINES` lines; if there are more, the last line counts the omitted ones.
    """
    old, new = normalise(dict(before)), normalise(dict(after))
    lines = [*_of_workflow(old, new), *_of_tasks(old, new), *_of_edges(old, new)]
    return _bounded(lines)


def difference_of_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[WordedChange]:
    """Return a line for each innermost value that differs, at most `MOST_LINES` lines."""
    return _bounded(list(_fields(before, after, (), "")))


def contents_of_graph(definition: Mapping[str, Any]) -> list[WordedChange]:
    """Return a line for each task and edge of a new definition, at most `MOST_LINES` lines."""
    new = normalise(dict(definition))
    return _bounded([*_of_tasks({}, new), *_of_edges({}, new)])


def _bounded(lines: list[WordedChange]) -> list[WordedChange]:
    if len(lines) <= MOST_LINES:
        return lines
    rest = len(lines) - MOST_LINES + 1
    return [*lines[: MOST_LINES - 1], WordedChange(CHANGED, f"and {rest:,} more changes")]


def _of_workflow(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[WordedChange]:
    for key in WORKFLOW_KEYS:
        yield from _fields(old.get(key, _MISSING), new.get(key, _MISSING), (key,), "")


def _of_tasks(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[WordedChange]:
    was, now = dict(_tasks(old, "")), dict(_tasks(new, ""))
    added = [path for path in now if path not in was]
    removed = [path for path in was if path not in now]
    for path in list(added):
        same = [one for one in removed if was[one] == now[path]]
        if len(same) == 1:
            added.remove(path)
            removed.remove(same[0])
            yield WordedChange(CHANGED, f"task {same[0]} is now called {path}")
    for path, task in now.items():
        if path in added:
            yield WordedChange(ADDED, f"task {path}{_uses(task)}")
        elif path in was:
            yield from _fields(was[path], task, (), f"task {path}: ")
    for path in removed:
        yield WordedChange(REMOVED, f"task {path}{_uses(was[path])}")


def _tasks(body: Mapping[str, Any], above: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the path of every task, and the task without its ID, layout and body."""
    for task in _dicts(body.get("tasks")):
        path = f"{above}{task.get('id')}"
        left_out = {"id", "ui", "body", "use", "with", "modules"}
        plain = {key: value for key, value in task.items() if key not in left_out}
        modules = [_module(one) for one in _dicts(modules_of(task))]
        if len(modules) == 1 and "modules" not in task:
            del modules[0]["id"]
            plain |= modules[0]
        else:
            plain["modules"] = modules
        yield path, plain
        if isinstance(task.get("body"), dict):
            yield from _tasks(task["body"], f"{path}.")


def _module(module: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in module.items() if key != "ui"}
    return kept | {"with": kept.get("with") or {}}


def _uses(task: Mapping[str, Any]) -> str:
    uses = [task.get("use"), *(one.get("use") for one in _dicts(task.get("modules")))]
    named = ", ".join(str(use) for use in uses if use)
    return f" ({named})" if named else ""


def _of_edges(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[WordedChange]:
    was, now = dict.fromkeys(_edges(old, "")), dict.fromkeys(_edges(new, ""))
    yield from (WordedChange(ADDED, f"edge {one}") for one in now if one not in was)
    yield from (WordedChange(REMOVED, f"edge {one}") for one in was if one not in now)


def _edges(body: Mapping[str, Any], container: str) -> Iterator[str]:
    for edge in _dicts(body.get("edges")):
        on = edge.get("on", SUCCESS)
        outcome = "" if on == SUCCESS else f" on {on}"
        place = f" (in {container})" if container else ""
        yield f"{edge.get('from')} → {edge.get('to')}{outcome}{place}"
    for task in _dicts(body.get("tasks")):
        if isinstance(task.get("body"), dict):
            path = f"{container}.{task.get('id')}" if container else str(task.get("id"))
            yield from _edges(task["body"], path)


def _dicts(found: Any) -> list[dict[str, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _fields(before: Any, after: Any, at: Pointer, of: str) -> Iterator[WordedChange]:
    """Yield a line for each innermost difference between two values."""
    if before is not _MISSING and after is not _MISSING and before == after:
        return
    keys = _shared_keys(before, after)
    if keys is not None:
        for key in keys:
            yield from _fields(_part(before, key), _part(after, key), (*at, key), of)
        return
    place = f"{of}{key_path(at)}"
    if before is _MISSING:
        if after is not _MISSING:
            yield WordedChange(ADDED, f"{place}: {shown(after)}")
    elif after is _MISSING:
        yield WordedChange(REMOVED, f"{place}: {shown(before)}")
    else:
        yield WordedChange(CHANGED, f"{place}: {shown(before)} → {shown(after)}")


def _shared_keys(before: Any, after: Any) -> list[Any] | None:
    """Return the keys or indexes to compare next; None if the values are compared as a whole."""
    if isinstance(before, list) and isinstance(after, list):
        return list(range(max(len(before), len(after))))
    if not isinstance(before, Mapping) or not isinstance(after, Mapping) or not (before or after):
        return None
    return list(dict.fromkeys([*before, *after]))


def _part(value: Any, key: Any) -> Any:
    if isinstance(value, list):
        return value[key] if key < len(value) else _MISSING
    return value.get(key, _MISSING)


def shown(value: Any) -> str:
    """Return a value as JSON in one line, cut to at most 80 characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
