"""Publishing: everything a run needs is written into the definition, so that none of it moves.

Policies, time-outs, queues and what modules say of themselves are filled in for each module;
running a version then needs neither settings nor the catalog.
"""

from collections.abc import Mapping
from typing import Any

from executions.catalog import Catalog, ModuleSpec
from executions.graph.canonical import sha256_hex
from executions.graph.definition import modules_of, normalise
from executions.graph.policies import written_out

DEFAULT_PRIORITY = 5
DEFAULT_TIMEZONE = "UTC"
DEFAULT_OVERLAP = "skip"


def resolve(document: dict[str, Any], catalog: Catalog) -> dict[str, Any]:
    """The full definition of a document without problems; raises KeyError for an unknown module.

    Tasks hold `modules` only; each has `retry` written out, `timeoutSeconds`, `queue`, `inline`,
    `effect`, `writesVariables` and `outcomes`.
    """
    normal = normalise(document)
    settings = {"timeoutSeconds": None, "priority": DEFAULT_PRIORITY} | normal.get("settings", {})
    return normal | {
        "variables": normal.get("variables", {}),
        "settings": settings,
        "tasks": [_task(task, catalog) for task in normal["tasks"]],
        "edges": normal.get("edges", []),
        "triggers": [_trigger(trigger) for trigger in normal.get("triggers", [])],
    }


def checksum(document: Mapping[str, Any]) -> str:
    """SHA-256, in hex, of a definition without its `ui` keys (those for the studio alone)."""
    return sha256_hex(_without_ui(normalise(dict(document))))


def _task(task: Mapping[str, Any], catalog: Catalog) -> dict[str, Any]:
    kept = {key: task[key] for key in ("ui",) if key in task}
    modules = [_module(module, task, catalog[module["use"]]) for module in modules_of(task)]
    return {
        "id": task["id"],
        "name": task.get("name") or task["id"],
        "join": task.get("join", "any"),
        "modules": modules,
        **kept,
    }


def _module(module: Mapping[str, Any], task: Mapping[str, Any], spec: ModuleSpec) -> dict[str, Any]:
    """A module's own word counts first, then its task's, then the module type's."""
    config = module.get("with") or {}
    retry = module.get("retry", task.get("retry", spec.retry))
    return {
        "id": module["id"],
        "use": spec.type,
        "with": config,
        "retry": written_out(retry),
        "timeoutSeconds": module.get(
            "timeoutSeconds", task.get("timeoutSeconds", spec.timeout_seconds)
        ),
        "queue": module.get("queue", task.get("queue", spec.queue)),
        "inline": spec.inline,
        "effect": spec.effect,
        "writesVariables": spec.writes_variables,
        "outcomes": list(spec.outcomes_for(config)),
    }


def _trigger(trigger: Mapping[str, Any]) -> dict[str, Any]:
    return {"timezone": DEFAULT_TIMEZONE, "overlap": DEFAULT_OVERLAP, **trigger}


def _without_ui(document: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: value for key, value in document.items() if key != "ui"}
    if isinstance(plain.get("tasks"), list):
        plain["tasks"] = [_task_without_ui(task) for task in plain["tasks"]]
    if isinstance(plain.get("edges"), list):
        plain["edges"] = [_dropping_ui(edge) for edge in plain["edges"]]
    return plain


def _task_without_ui(task: Any) -> Any:
    plain = _dropping_ui(task)
    if isinstance(plain, dict) and isinstance(plain.get("modules"), list):
        plain["modules"] = [_dropping_ui(module) for module in plain["modules"]]
    return plain


def _dropping_ui(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if key != "ui"}
