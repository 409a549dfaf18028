"""Render small values in the admin, such as states, times and IDs. Everything is escaped here."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlsplit

from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from executions.configuration import settings as valkyr_settings
from executions.language import lazy

EMPTY = "–"
NO_BREAK = "\N{NO-BREAK SPACE}"
# state → (word, icon, colour); colour is never the only sign of a state.
MARKS: Mapping[str, tuple[str, str, str]] = {
    "PENDING": (lazy("pending"), "radio_button_unchecked", "grey"),
    "RUNNING": (lazy("running"), "clock_loader_40", "blue"),
    "LEASED": (lazy("leased"), "lock_clock", "blue"),
    "WAITING": (lazy("waiting"), "hourglass_empty", "amber"),
    "PAUSED": (lazy("paused"), "pause_circle", "amber"),
    "SUCCESS": (lazy("succeeded"), "check_circle", "green"),
    "FAILED": (lazy("failed"), "cancel", "red"),
    "TIMEOUT": (lazy("timed out"), "timer_off", "red"),
    "DLQ": (lazy("dead"), "inbox", "red"),
    "CANCELLED": (lazy("cancelled"), "do_not_disturb_on", "grey"),
    "SKIPPED": (lazy("skipped"), "skip_next", "grey"),
}


def mark(word: str, icon: str, colour: str) -> SafeString:
    """Return a word with an icon and a border, in the `colour` grey, blue, amber, green or red."""
    return format_html(
        '<span class="vk-state vk-state-{}">'
        '<span class="material-symbols-outlined" aria-hidden="true">{}</span>{}</span>',
        colour,
        icon,
        word,
    )


def state(value: str, word: str = "") -> SafeString:
    """Return the mark of an execution's or run's state; `word` replaces the usual word."""
    usual, icon, colour = MARKS.get(value, (value.lower() or EMPTY, "help", "grey"))
    return mark(word or usual, icon, colour)


def test_run() -> SafeString:
    """Return the mark of a test run."""
    return mark(gettext("test"), "science", "grey")


def ago(at: datetime | None, now: datetime | None = None) -> SafeString | str:
    """Return `at` as "3 min ago" or "in 20 s", with the full time on hover; a dash for None."""
    if at is None:
        return EMPTY
    distance = (now or timezone.now()) - at
    text = span(abs(distance))
    worded = gettext("{time} ago") if distance >= timedelta(0) else gettext("in {time}")
    return format_html(
        '<time datetime="{}" title="{}" class="vk-nowrap">{}</time>',
        at.isoformat(),
        f"{at:%Y-%m-%d %H:%M:%S} UTC",
        worded.format(time=text),
    )


def span(length: timedelta) -> str:
    """Return a length of time in its largest suitable unit, such as "12 s", "3 min" or "9 d"."""
    seconds = int(length.total_seconds())
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size * 2 or (seconds >= size and unit != "d"):
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def took(milliseconds: float | None) -> str:
    """Return a duration such as "340 ms" or "3 min 20 s", without line breaks; a dash for None."""
    if milliseconds is None:
        return EMPTY
    seconds = milliseconds / 1_000
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        text = f"{hours} h {minutes} min"
    elif minutes:
        text = f"{minutes} min {rest} s"
    else:
        text = f"{seconds:.2f} s" if seconds >= 1 else _milliseconds(milliseconds)
    return text.replace(" ", NO_BREAK)


def _milliseconds(value: float) -> str:
    return f"{value:.0f} ms" if value >= 10 else f"{value:.2f} ms"


def times(number: int) -> str:
    """Return a number of times in words, such as "once" or "3 times"; "" for zero."""
    if not number:
        return ""
    if number == 1:
        return gettext("once")
    return gettext("{number:,} times").format(number=number)


def between(start: datetime | None, end: datetime | None) -> str:
    """Return the time from `start` to `end` (None: now) as text; a dash if `start` is None."""
    if start is None:
        return EMPTY
    return took(((end or timezone.now()) - start).total_seconds() * 1_000)


def copyable(value: Any) -> SafeString | str:
    """Return a value in monospace, with a button that copies it; a dash if it is empty."""
    if not value:
        return EMPTY
    return format_html(
        '<span class="vk-mono">{0}</span><button type="button" class="vk-copy" data-copy="{0}" '
        'aria-label="{1}"><span class="material-symbols-outlined" aria-hidden="true">'
        "content_copy</span></button>",
        value,
        gettext("Copy {value}").format(value=value),
    )


def short(value: Any) -> SafeString:
    """Return the end of an ID (a UUIDv7 begins with its time), with the full ID on hover."""
    text = str(value)
    return format_html('<span class="vk-mono vk-nowrap" title="{}">…{}</span>', text, text[-8:])


def whole(text: str) -> SafeString | str:
    """Return a short text without line breaks; a dash if it is empty."""
    return format_html('<span class="vk-nowrap">{}</span>', text) if text else EMPTY


def path(text: str) -> SafeString:
    """Return a step's path, which a column may break after its dots."""
    parts = text.split(".")
    broken = format_html_join(SafeString(".<wbr>"), "{}", ((part,) for part in parts))
    return format_html('<span class="vk-path">{}</span>', broken)


def worker(name: str) -> SafeString | str:
    """Return a worker's name up to `|`, with the whole name on hover; a dash if it is empty."""
    if not name:
        return EMPTY
    return format_html('<span class="vk-nowrap" title="{}">{}</span>', name, name.split("|", 1)[0])


def clipped(text: str, length: int = 90) -> str:
    """Return `text` as one line of at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


# Links to other systems of an installation, such as the viewer of its traces.


def filled(template: str, name: str, value: Any) -> str:
    """Return the URL `template` with `{name}` replaced by the value.

    Returns "" if there is no value, or if the URL does not begin with http or https.
    """
    if not value or urlsplit(template).scheme not in ("http", "https"):
        return ""
    return template.replace(f"{{{name}}}", quote(str(value), safe=""))


def trace(trace_id: str) -> str:
    """Return the URL of a trace; "" if the ID is empty or VALKYR_TRACE_URL is not an HTTP URL."""
    return filled(valkyr_settings().trace_url, "trace_id", trace_id)


def trace_mark(trace_id: str) -> SafeString | str:
    """Return a trace ID to copy, with a link to the trace if VALKYR_TRACE_URL is set."""
    address, shown = trace(trace_id), copyable(trace_id)
    if not address:
        return shown
    return format_html(
        gettext('{} <a class="vk-link" href="{}">Show the trace</a>'), shown, address
    )
