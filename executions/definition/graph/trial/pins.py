"""What stands in place of a task with a given result, and how its value is kept from templates."""

import json
import re
from collections.abc import Mapping
from typing import Any

from executions.definition.graph.definition import ERROR, SUCCESS
from executions.definition.graph.reading import TaskEntry, outcomes_of
from executions.definition.graph.trial.asking import Pin
from executions.definition.templates import has_template

PINNED = "flow.pinned"
# What a task keeps: who it is, where it stands, when it starts.
KEPT = ("id", "name", "join", "ui")
# A value deeper than this would come near the bound of a definition.
DEEP = 32
_OPENING = re.compile(r"\{(?=[{%])")


def stand_in(task: TaskEntry, pin: Pin, outcome: str) -> dict[str, Any]:
    """The task as a `flow.pinned`: its id, its outcomes, and the result."""
    config = {**literal(pin.output), "outcome": outcome}
    named = [one for one in (*(outcomes_of(task) or ()), outcome) if one != ERROR]
    if possible := set(named) - {SUCCESS}:
        config["outcomes"] = sorted(possible | set(named), key=named.index)
    kept = {key: task.document[key] for key in KEPT if key in task.document}
    return {**kept, "use": PINNED, "with": config}


def literal(value: Any) -> dict[str, Any]:
    """A value in a form in which nothing of it is taken for a template.

    As it is where it holds none; else as JSON text whose braces are escaped. Outside of strings
    JSON never has a brace before another, or before a `%`.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not has_template(text) and not _deeper(value, DEEP):
        return {"output": value}
    return {"json": _OPENING.sub(r"\\u007b", text)}


def without_values(definition: Any, instead: Any) -> Any:
    """A definition, as written or resolved, in which `instead` stands for what was pinned."""
    if not isinstance(definition, dict) or not isinstance(definition.get("tasks"), list):
        return definition
    return definition | {"tasks": [_hidden(task, instead) for task in definition["tasks"]]}


def _hidden(task: Any, instead: Any) -> Any:
    if not isinstance(task, dict):
        return task
    hidden = _bare(task, instead)
    if isinstance(hidden.get("modules"), list):
        hidden = hidden | {"modules": [_bare(one, instead) for one in hidden["modules"]]}
    if "body" in hidden:
        hidden = hidden | {"body": without_values(hidden["body"], instead)}
    return hidden


def _bare(module: Any, instead: Any) -> Any:
    if not isinstance(module, Mapping) or module.get("use") != PINNED:
        return module
    config = module.get("with")
    if not isinstance(config, Mapping):
        return module
    rest = {key: value for key, value in config.items() if key not in ("json", "output")}
    return {**module, "with": {"output": instead, **rest}}


def _deeper(value: Any, levels: int) -> bool:
    """Whether a value is nested more than so many levels deep."""
    pending = [(value, 0)]
    while pending:
        inner, depth = pending.pop()
        if isinstance(inner, (dict, list)):
            if depth >= levels:
                return True
            items = inner.values() if isinstance(inner, dict) else inner
            pending += [(item, depth + 1) for item in items]
    return False
