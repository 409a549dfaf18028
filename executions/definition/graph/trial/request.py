"""The request for a test run: its tasks, and the pinned results that replace tasks."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from executions.definition.graph.document import ERROR, SUCCESS
from executions.definition.graph.problem import DefinitionProblem, did_you_mean, problem
from executions.definition.graph.reading import BodyReading, TaskEntry, outcomes_of
from executions.definition.graph.rules.references import bodies_by_task
from executions.definition.templates import has_template

SKIPPED = "skipped"  # the outcome of a pinned task with which none of its edges is taken


@dataclass(frozen=True, slots=True)
class Pin:
    """A task's pinned result; `outcome` defaults to success or the only outcome with an edge."""

    output: Any = None
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """The tasks to run (all, up to a task, from a task on, or between two), and pinned results."""

    up_to: str | None = None
    start: str | None = None
    pinned: Mapping[str, Pin] = field(default_factory=dict)

    @property
    def everything(self) -> bool:
        """Return whether the whole workflow is requested."""
        return self.up_to is None and self.start is None


def asking_problems(asked: TrialRequest, reading: BodyReading) -> Iterator[DefinitionProblem]:
    """Yield problems for unknown or nested tasks and for outcomes that a task cannot have."""
    for key, name in (("upTo", asked.up_to), ("from", asked.start)):
        if name is not None and name not in reading.by_id:
            yield _no_such_task(name, (key,), reading)
    for name, pin in asked.pinned.items():
        if name not in reading.by_id:
            yield _no_such_task(name, ("pinned", name), reading)
            continue
        possible = outcomes_of(reading.tasks[reading.by_id[name]])
        if pin.outcome is None or possible is None or pin.outcome in (*possible, SKIPPED):
            continue
        names = ", ".join(f'"{one}"' for one in (*possible, SKIPPED))
        hint = did_you_mean(pin.outcome, possible)
        message = f'"{name}" has no outcome "{pin.outcome}", only {names}{hint}'
        yield problem(("pinned", name, "outcome"), "unknown_outcome", message)


def _no_such_task(name: str, pointer: tuple[str, ...], reading: BodyReading) -> DefinitionProblem:
    holder = name.partition(".")[0].partition("[")[0]
    if holder == name or holder not in reading.by_id:
        body = bodies_by_task(reading).get(name)
        while body is not None and body.outside is not reading:
            body = body.outside
        holder = body.holder.id if body is not None and body.holder is not None else ""
    if holder:
        what = "pin" if pointer[0] == "pinned" else "test"
        message = (
            f'"{name}" is inside "{holder}", which runs or is pinned as a whole; {what} '
            f'"{holder}" instead'
        )
        return problem(pointer, "in_a_body", message)
    hint = did_you_mean(name, reading.by_id)
    return problem(pointer, "unknown_task", f'there is no task "{name}"{hint}')


# Replace a task with a given result, and protect the result from being rendered as a template.


PINNED = "flow.pinned"
# The fields of the task that its replacement keeps.
KEPT = ("id", "name", "join", "ui")
# Nesting depth beyond which a value is stored as text, because definitions have a limited depth.
DEEP = 32
_OPENING = re.compile(r"\{(?=[{%])")


def stand_in(task: TaskEntry, pin: Pin, outcome: str) -> dict[str, Any]:
    """Return the task as a `flow.pinned` task: its ID, its outcomes and the pinned result."""
    config = {**literal(pin.output), "outcome": outcome}
    named = [one for one in (*(outcomes_of(task) or ()), outcome) if one != ERROR]
    if possible := set(named) - {SUCCESS}:
        config["outcomes"] = sorted(possible | set(named), key=named.index)
    kept = {key: task.document[key] for key in KEPT if key in task.document}
    return {**kept, "use": PINNED, "with": config}


def literal(value: Any) -> dict[str, Any]:
    """Return a value as inputs of `flow.pinned` that contain no template.

    A value without templates stays unchanged, unless it is deeply nested. Other values become JSON
    text with escaped opening braces: outside strings, JSON never has `{{` or `{%`.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not has_template(text) and not _deeper(value, DEEP):
        return {"output": value}
    return {"json": _OPENING.sub(r"\\u007b", text)}


def without_values(definition: Any, instead: Any) -> Any:
    """Return a definition, written or resolved, with `instead` in place of pinned results."""
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
    """Return whether a value is nested more than `levels` levels deep."""
    pending = [(value, 0)]
    while pending:
        inner, depth = pending.pop()
        if isinstance(inner, (dict, list)):
            if depth >= levels:
                return True
            items = inner.values() if isinstance(inner, dict) else inner
            pending += [(item, depth + 1) for item in items]
    return False
