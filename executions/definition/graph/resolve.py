"""Publishing: complete the definition, so that later settings and releases do not change it.

Each module receives its policies, timeout, queue and the properties of its type, so that a version
is compiled without the settings and the catalog.
"""

from collections.abc import Mapping
from typing import Any

from executions.definition.catalog import Catalog, ModuleSpec
from executions.definition.graph.document import MAIN, modules_of, normalise
from executions.definition.graph.model import AUTOMATIC, DEFAULTS, Limits, written_out
from executions.definition.graph.storable import sha256_hex

PRIORITY = 5
CONCURRENCY: Mapping[str, Any] = {"limit": 1, "onConflict": "queue"}
CACHE: Mapping[str, Any] = {"scope": "workflow"}
TRIGGERS: Mapping[str, dict[str, Any]] = {
    "CRON": {
        "timezone": "UTC",
        "overlap": "skip",
        "catchUp": "latest",
        "catchUpLimit": 100,
        "jitterSeconds": 0,
        "startAt": None,
        "endAt": None,
    },
    "WEBHOOK": {"auth": "hmac", "respond": "accepted", "timeoutSeconds": 30},
    "EVENT": {"filter": None},
    "QUEUE": {"broker": None},
}
MAP: Mapping[str, Any] = {"maxConcurrency": 100, "onItemError": "fail"}


def resolve(
    document: dict[str, Any], catalog: Catalog, limits: Limits = DEFAULTS
) -> dict[str, Any]:
    """Return the full definition of a valid document. Raises KeyError for an unknown module.

    Settings and triggers have all their keys. Each task has `modules` instead of `use`, and a
    container also has a `body`. Each module has `retry` written out, `timeoutSeconds`, `queue`,
    `effect`, `circuitWaitSeconds`, `inline`, `writesVariables`, `outcomes`, `cache`, `credential`,
    `container` and `deferred`. A task's `undo` has the same form.
    """
    normal = normalise(document)
    return normal | {
        "variables": normal.get("variables", {}),
        "settings": _settings(normal.get("settings", {}), limits),
        **_body(normal, catalog, limits),
        "triggers": [TRIGGERS[one["type"]] | one for one in normal.get("triggers", [])],
    }


def _settings(settings: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    concurrency = settings.get("concurrency")
    checkpoint = {
        "enabled": limits.checkpoint_enabled,
        "everySteps": limits.checkpoint_every_steps,
        "onLoop": True,
        "onGate": True,
        "keep": limits.checkpoint_keep,
    }
    return {
        "timeoutSeconds": settings.get("timeoutSeconds"),
        "priority": settings.get("priority", PRIORITY),
        "concurrency": {**CONCURRENCY, **concurrency} if concurrency else None,
        "onFailure": settings.get("onFailure"),
        "checkpoint": checkpoint | settings.get("checkpoint", {}),
        "compensation": settings.get("compensation", AUTOMATIC),
    }


def _body(body: Mapping[str, Any], catalog: Catalog, limits: Limits) -> dict[str, Any]:
    return {
        "tasks": [_task(task, catalog, limits) for task in body["tasks"]],
        "edges": body.get("edges", []),
    }


def checksum(document: Mapping[str, Any]) -> str:
    """Return the SHA-256, in hex, of a definition without `ui` keys, which only the studio uses."""
    return sha256_hex(_without_ui(normalise(dict(document))))


def _task(task: Mapping[str, Any], catalog: Catalog, limits: Limits) -> dict[str, Any]:
    task = _expanded(task, catalog)
    modules = [_module(module, task, catalog[module["use"]], limits) for module in modules_of(task)]
    resolved = {
        "id": task["id"],
        "name": task.get("name") or task["id"],
        "join": task.get("join", "any"),
        "modules": modules,
    }
    if "body" in task:
        resolved["body"] = _body(task["body"], catalog, limits)
    if "undo" in task:
        resolved["undo"] = _undo(task["undo"], catalog, limits)
    return resolved | {key: task[key] for key in ("ui",) if key in task}


def _expanded(task: Mapping[str, Any], catalog: Catalog) -> Mapping[str, Any]:
    """Return the task with the body that the engine runs, if the task's module creates the body.

    The version stores the created body, so that a later release of the module does not change it.
    """
    expand = catalog[modules_of(task)[0]["use"]].expand
    return task if expand is None else expand(task, catalog)


def _undo(undo: Mapping[str, Any], catalog: Catalog, limits: Limits) -> dict[str, Any]:
    """Return a task's undo as a resolved module.

    The module inherits no settings from its task, and always has its own claim. If it ran in
    memory, a crash would lose its position among the other undo steps.
    """
    module = _module({"id": MAIN, **undo}, {}, catalog[undo["use"]], limits)
    return module | {"inline": False}


def _module(
    module: Mapping[str, Any], task: Mapping[str, Any], spec: ModuleSpec, limits: Limits
) -> dict[str, Any]:
    """Return a module with its own settings or, if unset, those of the task or the module type."""
    own = {**task, **module}
    config = _config(module.get("with") or {}, spec, limits)
    cache = own.get("cache")
    return {
        "id": module["id"],
        "use": spec.type,
        "with": config,
        "retry": written_out(own.get("retry", spec.retry)),
        "timeoutSeconds": own.get("timeoutSeconds", spec.timeout_seconds),
        "circuitWaitSeconds": own.get("circuitWaitSeconds"),
        "queue": own.get("queue", spec.queue),
        "inline": spec.inline,
        "effect": spec.effect,
        "writesVariables": spec.writes_variables,
        "outcomes": list(spec.outcomes_for(config)),
        "cache": {**CACHE, **cache} if cache else None,
        "credential": own.get("credential"),
        "container": spec.container,
        "deferred": list(spec.deferred),
    }


def _config(config: Mapping[str, Any], spec: ModuleSpec, limits: Limits) -> Mapping[str, Any]:
    """Return the module's `with`; for a container, add the default values.

    A deferred template that is null is removed, because as a template it would be a condition that
    is never true.
    """
    if spec.container == "map":
        return {**MAP, **config}
    if spec.container == "loop":
        stated = {key: value for key, value in config.items() if value is not None}
        return (
            stated if "count" in stated else {"maxIterations": limits.loop_limit_default, **stated}
        )
    return {
        key: value for key, value in config.items() if value is not None or key not in spec.deferred
    }


def _without_ui(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document or body, as far as it is well-formed, without the studio's keys."""
    plain = {key: value for key, value in document.items() if key != "ui"}
    for key, without in (
        ("tasks", _task_without_ui),
        ("edges", _dropping_ui),
        ("triggers", _dropping_ui),
    ):
        if isinstance(plain.get(key), list):
            plain[key] = [without(item) for item in plain[key]]
    return plain


def _task_without_ui(task: Any) -> Any:
    plain = _dropping_ui(task)
    if isinstance(plain, dict) and isinstance(plain.get("modules"), list):
        plain["modules"] = [_dropping_ui(module) for module in plain["modules"]]
    if isinstance(plain, dict) and isinstance(plain.get("body"), dict):
        plain["body"] = _without_ui(plain["body"])
    return plain


def _dropping_ui(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if key != "ui"}
