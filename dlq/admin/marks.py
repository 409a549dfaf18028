"""How a dead letter's resolution looks."""

from django.utils.safestring import SafeString

from dlq.models import DeadLetterEntry, Resolution
from executions.admin.marks import mark

_MARKS = {
    Resolution.PENDING: ("inbox", "red"),
    Resolution.REQUEUED: ("replay", "blue"),
    Resolution.FIXED: ("build", "green"),
    Resolution.SKIPPED: ("skip_next", "grey"),
    Resolution.DISCARDED: ("delete", "grey"),
}


def resolution(value: str) -> SafeString:
    """The resolution's word, icon and colour."""
    known = Resolution(value)
    icon, colour = _MARKS[known]
    return mark(str(known.label), icon, colour)


def pinned(entry: DeadLetterEntry) -> SafeString | str:
    """A mark for what retention leaves alone."""
    return mark("pinned", "keep", "blue") if entry.pinned else ""
