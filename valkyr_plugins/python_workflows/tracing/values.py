"""Convert Python values that contain handles to the values of a document."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from valkyr_plugins.python_workflows.tracing.handles import facts_of
from valkyr_plugins.python_workflows.tracing.places import TracingError
from valkyr_plugins.python_workflows.tracing.shapes import plain


@dataclass(slots=True)
class Rendered:
    """A JSON value, and the tasks that its templates read.

    `texts` are the template texts that users wrote.
    """

    value: Any = None
    tasks: list[Any] = field(default_factory=list)
    within: set[Any] = field(default_factory=set)
    follows: Any = None
    texts: list[str] = field(default_factory=list)


def rendered(given: Any) -> Rendered:
    """Return the value with templates in place of handles. Raises TracingError."""
    found = Rendered()
    found.value = _value(given, found)
    return found


def _value(given: Any, found: Rendered) -> Any:
    facts = facts_of(given)
    if facts is not None:
        found.tasks += sorted(facts.reads, key=lambda task: task.id)
        found.within |= facts.within
        found.follows = facts.follows or found.follows
        return "{{ " + facts.source + " }}"
    value = plain(given)
    if isinstance(value, str):
        found.texts += _expressions(value)
        return value
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {_text_key(key): _value(one, found) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_value(one, found) for one in value]
    raise TracingError(
        "a workflow can contain strings, numbers, lists, mappings and handles; found "
        f"{value!r:.80} of type {type(value).__name__}"
    )


def _text_key(key: Any) -> str:
    if isinstance(key, str) and facts_of(key) is None:
        return key
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    raise TracingError(f"the key of a mapping must be a string; found {key!r:.80}")


def _expressions(text: str) -> Iterator[str]:
    """Yield the parts of a text between `{{` and `}}`."""
    start = text.find("{{")
    while start >= 0:
        end = text.find("}}", start)
        yield text[start + 2 : end if end >= 0 else None]
        start = text.find("{{", end) if end >= 0 else -1
