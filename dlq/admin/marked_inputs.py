"""The inputs of a failed step, in which values that may have caused the error are marked."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from dlq.comparing.difference import Comparison
from dlq.comparing.suspects import Suspect, SuspectReason, suspects
from dlq.models import DeadLetterEntry
from executions.admin.sections import PageSection
from executions.admin.values import SHOWN_CHARACTERS, as_json, masked
from executions.language import lazy

REASONS = {
    SuspectReason.NAMED: lazy("named in the error"),
    SuspectReason.DIFFERENT: lazy("different from the last successful run"),
}


def marked_inputs(entry: DeadLetterEntry, against: Comparison | None) -> PageSection | None:
    """Return the panel of the inputs with marked values; None if no value is suspected.

    `against` is the comparison with the inputs of a successful run.
    """
    inputs = masked(entry.original_inputs)
    error = entry.run.error or entry.failure_reason
    details = (entry.run.error_details or {}).get("details")
    found = suspects(inputs, error, details, against)
    if not found:
        return None
    body = format_html("{}{}", _legend(found), _marked(inputs, found))
    return PageSection(gettext("Inputs"), body=body)


def _legend(found: Sequence[Suspect]) -> SafeString:
    """Return the list of the marked values, each with the reason for its mark."""
    lines = format_html_join(
        "",
        '<li><span class="vk-mono">{}</span>: {}</li>',
        ((suspect.where, REASONS[suspect.reason]) for suspect in found),
    )
    return format_html(
        '<p class="vk-hint">{}</p><ul class="vk-list vk-suspects">{}</ul>',
        gettext("Marked values:"),
        lines,
    )


def _marked(inputs: Any, found: Sequence[Suspect]) -> SafeString:
    token = uuid4().hex
    places = {suspect.path: f"{token}:{number}" for number, suspect in enumerate(found)}
    values: dict[str, Any] = {}
    text = json.dumps(
        _replaced(inputs, places, values, ()), ensure_ascii=False, indent=2, default=str
    )
    if len(text) > SHOWN_CHARACTERS:
        return as_json(inputs)

    def mark(match: re.Match[str]) -> str:
        number = int(match[1])
        value = json.dumps(values[f"{token}:{number}"], ensure_ascii=False, default=str)
        reason = found[number].reason
        return format_html(
            '<mark class="vk-suspect vk-suspect-{}" title="{}">{}</mark>',
            reason.value,
            REASONS[reason],
            value,
        )

    shown = re.sub(rf"&quot;{token}:(\d+)&quot;", mark, escape(text))
    return format_html('<pre class="vk-pre" tabindex="0">{}</pre>', SafeString(shown))


def _replaced(
    value: Any, places: Mapping[tuple[Any, ...], str], values: dict[str, Any], path: tuple[Any, ...]
) -> Any:
    """Return the value with a token in place of the value at each path in `places`.

    Adds the replaced values to `values`, keyed by token.
    """
    if path in places:
        values[places[path]] = value
        return places[path]
    if isinstance(value, dict):
        return {key: _replaced(one, places, values, (*path, key)) for key, one in value.items()}
    if isinstance(value, list):
        return [_replaced(one, places, values, (*path, at)) for at, one in enumerate(value)]
    return value
