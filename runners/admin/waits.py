"""What a run waits for, or waited for, in words; with a link to whoever can let it go on."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from executions.admin import links, marks
from runners.models import Run
from runners.states import HOLDS, WaitKind

# How a wait by a timer of its own ends.
ENDS = {
    WaitKind.TIMER: "wakes",
    WaitKind.APPROVAL: "expires",
    WaitKind.EVENT: "gives up",
    WaitKind.CALLBACK: "gives up",
    WaitKind.CIRCUIT: "is given up",
    WaitKind.QUOTA: "asks again",
}
NAMES = {
    WaitKind.APPROVAL: "approval",
    WaitKind.EVENT: "an event",
    WaitKind.CALLBACK: "a call from outside",
    WaitKind.CHILD: "its child",
    WaitKind.CIRCUIT: "its target, which rested",
    WaitKind.QUOTA: "a quota",
}
HELD_BY: dict[str, Callable[[Mapping[str, Any]], str]] = {}
"""What holds a run back in a few words, made of its `progress`, by kind; plugins add to it."""
PLAIN = {WaitKind.TIMER: "Sleeps", WaitKind.CHILD: "Waits for its child"}


def wait_of(run: Run) -> SafeString | str:
    """The wait of a run that waits; "" for others, and for a container, whose body runs."""
    if run.state != "WAITING" or run.waits_for == WaitKind.BODY:
        return ""
    kind = WaitKind(run.waits_for)
    ends: Any = ""
    if kind in ENDS:
        ends = ", for as long as it takes"
        if run.due_at is not None:
            ends = format_html(", {} {}", ENDS[kind], marks.ago(run.due_at))
    decide: Any = ""
    if kind == WaitKind.APPROVAL:
        decide = format_html(" · {}", links.to("runners_approval", run.pk, "Decide"))
    began = "asked" if kind == WaitKind.APPROVAL else "began"
    at = marks.ago(run.started_at)
    return format_html("{}, {} {}{}{}", _what(run, kind), began, at, ends, decide)


def waited_of(run: Run, wake: Mapping[str, Any]) -> str:
    """How long a run that was woken had waited, for what, and what came; "" for others."""
    seconds = wake.get("waitedSeconds")
    if run.waits_for in ("", WaitKind.BODY) or seconds is None:
        return ""
    kind, span = WaitKind(run.waits_for), marks.span(timedelta(seconds=float(seconds)))
    if kind == WaitKind.TIMER:
        return f"Slept {span}"
    text = f"Waited {span} for {NAMES[kind]}"
    if wake.get("by") == "timer" and kind not in HOLDS:
        return f"{text}, in vain"
    decision = wake.get("decision")
    return f"{text}: {decision} by {wake.get('actor')}" if decision else text


def _what(run: Run, kind: WaitKind) -> str:
    about = run.progress or {}
    title = marks.clipped(str(about.get("title") or ""))
    if kind in PLAIN:
        return PLAIN[kind]
    if kind == WaitKind.CIRCUIT:
        return f"Held: {marks.clipped(str(about.get('target', '')))} rests"
    if kind in HOLDS:
        by = HELD_BY.get(kind)
        return f"Held by the {marks.clipped(by(about))}" if by else "Held back"
    if kind == WaitKind.EVENT:
        return f"Waits for the event {marks.clipped(str(about.get('event', '')))}"
    if kind == WaitKind.APPROVAL:
        return f"Waits for approval: “{title}”"
    return f"Waits for a call from outside: “{title}”" if title else "Waits for a call from outside"
