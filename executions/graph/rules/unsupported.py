"""Features of the format that this version does not run yet are refused by name."""

from collections.abc import Iterator, Mapping
from typing import Any

from executions.graph.problem import Problem, problem
from executions.graph.reading import BodyReading
from executions.graph.unsupported import UNSUPPORTED_KEYS, not_supported
from executions.templating.errors import Pointer

CODE = "not_supported_yet"


def unsupported_features(reading: BodyReading) -> Iterator[Problem]:
    """Keys of tasks and modules; names in templates are refused where they are looked at."""
    for task in reading.tasks:
        yield from _keys(task.document, "task", task.pointer)
        for module in task.modules:
            if module.document is not task.document:
                yield from _keys(module.document, "module", module.pointer)


def _keys(document: Mapping[str, Any], where: str, pointer: Pointer) -> Iterator[Problem]:
    for key, what in UNSUPPORTED_KEYS[where].items():
        if key in document:
            yield problem((*pointer, key), CODE, not_supported(key, what))
