"""The triggers of a workflow, as `@workflow` accepts them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from valkyr_plugins.python_workflows.tracing.handles import facts_of
from valkyr_plugins.python_workflows.tracing.places import TracingError

_KINDS: Mapping[str, tuple[str, str]] = {
    "schedule": ("CRON", "schedule"),
    "webhook": ("WEBHOOK", ""),
    "event": ("EVENT", "event"),
    "queue": ("QUEUE", "queue"),
}
Trigger = Mapping[str, Any] | str | bool


def triggers_of(given: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
    """Return a document's triggers from `schedule=`, `webhook=`, `event=` and `queue=`.

    Each argument is the trigger's main value (`"30 2 * * *"`, True for a webhook), a mapping of the
    trigger's keys, or a list of such values.
    """
    found: list[dict[str, Any]] = []
    for name, (kind, key) in _KINDS.items():
        value = given.get(name)
        values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        found += [
            {"type": kind, **_keys(name, key, one, place)}
            for one in values
            if one is not None and one is not False
        ]
    return found


def _keys(name: str, key: str, value: Any, place: str) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {one: _text(item) for one, item in value.items()}
    if key and isinstance(value, str):
        return {key: value}
    if not key and value is True:
        return {}
    wanted = f"a text or a mapping with {key!r}" if key else "True or a mapping"
    raise TracingError(f"{name}= takes {wanted}; found {value!r:.80}", at=place)


def _text(value: Any) -> Any:
    """Return a trigger's value; convert a function of the event's payload to a template."""
    if isinstance(value, Callable):  # type: ignore[arg-type]
        from valkyr_plugins.python_workflows.constructs.waits import event

        value = value(event)
    facts = facts_of(value)
    return value if facts is None else "{{ " + facts.source + " }}"
