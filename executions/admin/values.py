"""Render stored JSON and long text in the admin: formatted, escaped, masked and bounded."""

import json
import re
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

SHOWN_CHARACTERS = 100_000
MASK = "••••••"
SECRET = re.compile(
    r"(?i)^(authorization|cookie|set-cookie|.*(password|passwd|secret|api[-_]?key|private[-_]?key)"
    r"|(access|refresh|auth|bearer)[-_]?token)$"
)


def masked(value: Any) -> Any:
    """Return the value with dots in place of values whose keys are common names of secrets."""
    if isinstance(value, dict):
        return {
            key: MASK if SECRET.match(str(key)) and inner not in (None, "") else masked(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [masked(inner) for inner in value]
    return value


def as_json(value: Any) -> SafeString:
    """Return a JSON value on several lines, with secrets masked.

    Very long output is cut (see `preformatted`).
    """
    return preformatted(json.dumps(masked(value), ensure_ascii=False, indent=2, default=str))


def preformatted(text: str) -> SafeString:
    """Return the escaped text; very long text is cut, and a note counts the omitted characters."""
    if len(text) > SHOWN_CHARACTERS:
        rest = len(text) - SHOWN_CHARACTERS
        text = gettext("{text}\n… {rest:,} more characters. The API returns the full text.").format(
            text=text[:SHOWN_CHARACTERS], rest=rest
        )
    return format_html('<pre class="vk-pre" tabindex="0">{}</pre>', text)
