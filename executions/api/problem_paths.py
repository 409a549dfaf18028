"""The framework's nested validation details as a flat list of path, code and message."""

from collections.abc import Iterator
from typing import Any

from rest_framework.settings import api_settings

from executions.definition.graph.problem import DefinitionProblem


def flat(details: Any) -> list[DefinitionProblem]:
    """Problems of `get_full_details()`: leaves are `{message, code}`."""
    return list(_leaves(details, ""))


def _leaves(details: Any, path: str) -> Iterator[DefinitionProblem]:
    if isinstance(details, list):
        for item in details:
            yield from _leaves(item, path)
        return
    if _is_leaf(details):
        yield DefinitionProblem(path, str(details["code"]), str(details["message"]))
        return
    for key, item in details.items():
        yield from _leaves(item, _below(path, key))


def _is_leaf(details: dict[Any, Any]) -> bool:
    return set(details) == {"message", "code"} and isinstance(details["message"], str)


def _below(path: str, key: Any) -> str:
    if key == api_settings.NON_FIELD_ERRORS_KEY:
        return path
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else str(key)
