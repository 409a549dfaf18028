"""Filters of events: an expression over the event's payload.

This module is pure: it does no I/O.
"""

from typing import Any

from executions.definition.templates import WEB, RenderBudget, compile_template

FALSE_WORDS = frozenset(["", "false", "0", "no", "off", "null", "none"])


def holds(text: str | None, payload: Any) -> bool:
    """Return whether an event with this payload passes the filter; None passes every event.

    The filter has a web process's budget in every process. Values count as true or false as in
    `flow.if`. Raises TemplateError if the expression cannot be evaluated, such as for a field that
    this payload lacks.
    """
    if text is None:
        return True
    value = compile_template(text).render({"event": payload}, RenderBudget(profile=WEB))
    if isinstance(value, str):
        return value.strip().lower() not in FALSE_WORDS
    return bool(value)
