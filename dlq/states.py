"""What people and the counters make of a failure group; `dlq.groups.status` makes the moves."""

from django.db.models import TextChoices


class GroupStatus(TextChoices):
    """What people have made of a group; docs/reference/states.md draws the moves."""

    NEW = "NEW", "new"
    ACKNOWLEDGED = "ACKNOWLEDGED", "acknowledged"
    SNOOZED = "SNOOZED", "snoozed"
    REDRIVING = "REDRIVING", "redriving"
    RESOLVED = "RESOLVED", "resolved"
    REGRESSED = "REGRESSED", "regressed"
    IGNORED = "IGNORED", "ignored"
