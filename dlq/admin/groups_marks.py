"""How a failure group's status looks."""

from django.utils.safestring import SafeString

from dlq.models import FailureGroup, GroupStatus
from executions.admin.marks import mark

_MARKS = {
    GroupStatus.NEW: ("fiber_new", "red"),
    GroupStatus.ACKNOWLEDGED: ("visibility", "amber"),
    GroupStatus.SNOOZED: ("snooze", "grey"),
    GroupStatus.REDRIVING: ("sync", "blue"),
    GroupStatus.RESOLVED: ("check_circle", "green"),
    GroupStatus.REGRESSED: ("trending_up", "red"),
    GroupStatus.IGNORED: ("visibility_off", "grey"),
}


def status(group: FailureGroup) -> SafeString:
    """The status's word, icon and colour."""
    known = GroupStatus(group.status)
    icon, colour = _MARKS[known]
    return mark(str(known.label), icon, colour)
