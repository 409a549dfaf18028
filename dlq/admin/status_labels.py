"""The labels of a dead letter's resolution and a failure group's status."""

from django.utils.safestring import SafeString
from django.utils.translation import gettext

from dlq.models import DeadLetterEntry, FailureGroup, GroupStatus, Resolution
from executions.admin.marks import mark

_RESOLUTIONS = {
    Resolution.PENDING: ("inbox", "red"),
    Resolution.REQUEUED: ("replay", "blue"),
    Resolution.FIXED: ("build", "green"),
    Resolution.SKIPPED: ("skip_next", "grey"),
    Resolution.DISCARDED: ("delete", "grey"),
}


def resolution(value: str) -> SafeString:
    """Return the resolution's label, icon and colour."""
    known = Resolution(value)
    icon, colour = _RESOLUTIONS[known]
    return mark(str(known.label), icon, colour)


def pinned(entry: DeadLetterEntry) -> SafeString | str:
    """Return the mark of a pinned dead letter; "" for others."""
    return mark(gettext("pinned"), "keep", "blue") if entry.pinned else ""


# The icon and colour of a failure group's status.


_STATUSES = {
    GroupStatus.NEW: ("fiber_new", "red"),
    GroupStatus.ACKNOWLEDGED: ("visibility", "amber"),
    GroupStatus.SNOOZED: ("snooze", "grey"),
    GroupStatus.REDRIVING: ("sync", "blue"),
    GroupStatus.RESOLVED: ("check_circle", "green"),
    GroupStatus.REGRESSED: ("trending_up", "red"),
    GroupStatus.IGNORED: ("visibility_off", "grey"),
}


def status(group: FailureGroup) -> SafeString:
    """Return the mark of the group's status: its label with an icon, in its colour."""
    known = GroupStatus(group.status)
    icon, colour = _STATUSES[known]
    return mark(str(known.label), icon, colour)
