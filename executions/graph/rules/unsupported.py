"""Features of the format that this version does not run yet are refused by name."""

from collections.abc import Iterator, Mapping
from typing import Any

from executions.graph.problem import Problem, problem
from executions.graph.reading import BodyReading
from executions.graph.unsupported import (
    UNSUPPORTED_KEYS,
    UNSUPPORTED_TRIGGERS,
    not_supported,
)
from executions.templating.errors import Pointer

CODE = "not_supported_yet"


def unsupported_features(document: Mapping[str, Any], reading: BodyReading) -> Iterator[Problem]:
    """Keys and trigger types; modules and template names are refused where they are looked at."""
    settings = document.get("settings")
    if isinstance(settings, dict):
        yield from _keys(settings, "settings", ("settings",))
    for task in reading.tasks:
        yield from _keys(task.document, "task", task.pointer)
        for module in task.modules:
            if module.document is not task.document:
                yield from _keys(module.document, "module", module.pointer)
    triggers = document.get("triggers")
    for index, trigger in enumerate(triggers if isinstance(triggers, list) else []):
        kind = trigger.get("type") if isinstance(trigger, dict) else None
        if isinstance(kind, str) and kind in UNSUPPORTED_TRIGGERS:
            message = not_supported(kind, UNSUPPORTED_TRIGGERS[kind])
            yield problem(("triggers", index, "type"), CODE, message)


def _keys(document: Mapping[str, Any], where: str, pointer: Pointer) -> Iterator[Problem]:
    for key, what in UNSUPPORTED_KEYS[where].items():
        if key in document:
            yield problem((*pointer, key), CODE, not_supported(key, what))
