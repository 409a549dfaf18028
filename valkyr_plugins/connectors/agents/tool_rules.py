"""Rules for the tools and the templates of an agent's task. This module is pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from executions.public.definitions import ConfigProblem
from valkyr_plugins.connectors.agents.expansion import OUTCOMES_OF_ITS_OWN

# Inside an agent, these names refer to the agent's own turns and calls.
_TURN = re.compile(r"\{\{[^}]*\bloop\b")
_CALL = re.compile(r"\{\{[^}]*\b(?:loop|item|index)\b")
_READ_PER_CALL = ("tools", "toolsets", "approvers")
_LITERAL = ("tools", "toolsets", "approve", "onToolError", "outputSchema", "maxConcurrency")


def config_problems(config: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    """Yield the problems of an agent's templates that the checks of single fields cannot find."""
    for key, value in config.items():
        per_call = key in _READ_PER_CALL
        if any((_CALL if per_call else _TURN).search(text) for text in _texts(value)):
            names = "loop, item and index" if per_call else "loop"
            message = (
                f"{key!r} is rendered inside the agent's own loop, so it cannot use {names} of a "
                "container around it: pass the value with a flow.noop task before the agent"
            )
            yield ConfigProblem((key,), "not_in_agent", message)
    for key in _LITERAL:
        if isinstance(config.get(key), str) and "{{" in config[key]:
            message = f"{key!r} is read when the workflow is published, so it must be a literal"
            yield ConfigProblem((key,), "template_not_allowed", message)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def tool_problems(task: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    """Yield the problems of an agent's tools: in their names, tasks, approvals and connections."""
    config, body = task.get("with"), task.get("body")
    if not isinstance(config, Mapping) or not isinstance(body, Mapping):
        return
    tasks = [one for one in _listed(body, "tasks") if isinstance(one, Mapping)]
    ids = {one["id"] for one in tasks if isinstance(one.get("id"), str)}
    named: set[str] = set()
    for key, default in (("tools", "name"), ("toolsets", "task")):
        for index, one in enumerate(_listed(config, key)):
            runs = (one.get("task") or one.get(default)) if isinstance(one, Mapping) else None
            if not isinstance(runs, str):
                continue
            named.add(runs)
            if runs not in ids:
                message = f'no task of the body has the id "{runs}": add one, or set `task`'
                yield ConfigProblem(("with", key, index), "no_task", message)
    yield from _repeated(config)
    yield from _approved(config, ids)
    yield from _uncalled(tasks, named)
    if _listed(body, "edges") or any(one.get("after") for one in tasks):
        message = (
            "an agent's tools are not connected: make one tool of several steps with `modules`, or "
            "call a sub-workflow"
        )
        yield ConfigProblem(("body",), "tools_connected", message)


def _listed(document: Mapping[str, Any], key: str) -> list[Any]:
    found = document.get(key)
    return found if isinstance(found, list) else []


def _repeated(config: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    seen: set[str] = set()
    for index, tool in enumerate(_listed(config, "tools")):
        name = tool.get("name") if isinstance(tool, Mapping) else None
        if not isinstance(name, str):
            continue
        if name in seen:
            message = f'two tools have the name "{name}": rename one, and set its `task`'
            yield ConfigProblem(("with", "tools", index, "name"), "duplicate_tool", message)
        seen.add(name)


def _approved(config: Mapping[str, Any], ids: set[str]) -> Iterator[ConfigProblem]:
    for index, name in enumerate(_listed(config, "approve")):
        if name not in ids:
            message = f'"{name}" is not a task of the body, so it has no calls to approve'
            yield ConfigProblem(("with", "approve", index), "no_task", message)


def _uncalled(tasks: list[Mapping[str, Any]], named: set[str]) -> Iterator[ConfigProblem]:
    for index, task in enumerate(tasks):
        name = task.get("id")
        if name in OUTCOMES_OF_ITS_OWN:
            message = f'"{name}" is an outcome of the step before the tools: choose another id'
            yield ConfigProblem(("body", "tasks", index, "id"), "reserved", message)
        elif isinstance(name, str) and name not in named:
            message = f'the model cannot call "{name}": describe it in `tools` or `toolsets`'
            yield ConfigProblem(("body", "tasks", index), "not_a_tool", message)
