"""The statuses of a failure group; only `dlq.groups.status` changes a group's status."""

from django.db.models import TextChoices

from executions.language import lazy


class GroupStatus(TextChoices):
    """The status of a group; docs/reference/states.md shows the possible changes."""

    NEW = "NEW", lazy("new")
    ACKNOWLEDGED = "ACKNOWLEDGED", lazy("acknowledged")
    SNOOZED = "SNOOZED", lazy("snoozed")
    REDRIVING = "REDRIVING", lazy("redriving")
    RESOLVED = "RESOLVED", lazy("resolved")
    REGRESSED = "REGRESSED", lazy("regressed")
    IGNORED = "IGNORED", lazy("ignored")
