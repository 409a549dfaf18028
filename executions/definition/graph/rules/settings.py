"""Settings whose values the schema alone cannot judge."""

from collections.abc import Iterator, Mapping
from typing import Any

from executions.definition.graph.problem import DefinitionProblem
from executions.definition.graph.rules.single_names import single_name_problems


def settings_problems(document: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """A concurrency key that reads more than the payload."""
    settings = document.get("settings")
    concurrency = settings.get("concurrency") if isinstance(settings, dict) else None
    key = concurrency.get("key") if isinstance(concurrency, dict) else None
    if isinstance(key, str):
        pointer = ("settings", "concurrency", "key")
        reason = "the key is made before the execution starts"
        yield from single_name_problems(key, pointer, "input", "input_only", reason)
