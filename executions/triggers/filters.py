"""Filters of events: one expression over the event's payload, which decides whether it is meant.

Pure.
"""

from typing import Any

from executions.definition.templates import WEB, RenderBudget, compile_template

FALSE_WORDS = frozenset(["", "false", "0", "no", "off", "null", "none"])


def holds(text: str | None, payload: Any) -> bool:
    """Whether an event with this payload passes the filter; None lets every event pass.

    Its budget is that of a web process, whoever publishes the event.

    What counts as false is the same as in `flow.if`. Raises TemplateError where the expression
    cannot be evaluated, e.g. for a field that this payload lacks.
    """
    if text is None:
        return True
    value = compile_template(text).render({"event": payload}, RenderBudget(profile=WEB))
    if isinstance(value, str):
        return value.strip().lower() not in FALSE_WORDS
    return bool(value)
