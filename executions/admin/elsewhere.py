"""Links to what an installation has beside itself: where its traces are shown, and the like."""

from typing import Any
from urllib.parse import quote, urlsplit

from django.utils.html import format_html
from django.utils.safestring import SafeString

from executions import environment as env
from executions.admin import marks


def filled(template: str, name: str, value: Any) -> str:
    """An address with `{name}` replaced; empty without a value, or for what no browser opens."""
    if not value or urlsplit(template).scheme not in ("http", "https"):
        return ""
    return template.replace(f"{{{name}}}", quote(str(value), safe=""))


def trace(trace_id: str) -> str:
    """Where a trace is shown (VALKYR_TRACE_URL); empty where this installation does not say."""
    return filled(env.text("VALKYR_TRACE_URL"), "trace_id", trace_id)


def trace_mark(trace_id: str) -> SafeString | str:
    """A trace id to copy, and the way to the trace where there is one."""
    address, shown = trace(trace_id), marks.copyable(trace_id)
    if not address:
        return shown
    return format_html('{} <a class="vk-link" href="{}">Show the trace</a>', shown, address)
