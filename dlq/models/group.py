"""A failure group: failures with the same cause, with their number, step and times."""

from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Q

from dlq.states import GroupStatus
from executions.database.accounts import set_null
from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.models import Workflow, Workspace
from executions.models.sealed_columns import BlankedText


class FailureGroup(models.Model):
    """The dead letters that share a fingerprint or, after merges, one of several fingerprints.

    `rule` is the version of the fingerprint's rule. `place` is the step path without iteration
    numbers, `message` is the normalised first line, and `sample` is an original message. Only
    `dlq.groups.tally` updates `total` and `open`, a few seconds late. `merged_into` is the group
    into which this group was merged.
    """

    AUDITED_AS = "FailureGroup"
    SEALED_BY = "workspace"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="+")
    rule = models.PositiveSmallIntegerField()
    place = models.CharField(max_length=1000)
    module = models.CharField(max_length=100)
    exception = models.CharField(max_length=200, blank=True, default="")
    message = BlankedText(max_length=300, blank=True, default="")
    sample = BlankedText(max_length=2_000, blank=True, default="")
    split_on = models.CharField(
        max_length=400,
        blank=True,
        default="",
        help_text="The value by which the group was split, such as HTTP status 503.",
    )
    status = models.CharField(max_length=12, choices=GroupStatus.choices, default=GroupStatus.NEW)
    status_before = models.CharField(
        max_length=12,
        blank=True,
        default="",
        help_text="The status after a redrive or a snooze.",
    )
    status_at = models.DateTimeField(db_default=ClockTimestamp())
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=set_null, null=True, blank=True, related_name="+"
    )
    snoozed_until = models.DateTimeField(null=True, blank=True)
    snoozed_total = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="The group wakes when its total reaches this number."
    )
    snoozed_version = models.PositiveIntegerField(
        null=True, blank=True, help_text="The group wakes at a failure in a later version."
    )
    resolved_in = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="A failure in this version or later reopens the group as regressed.",
    )
    # The time of the resolution, if a later redrive has changed `status_at`.
    resolved_at = models.DateTimeField(null=True, blank=True, editable=False)
    muted = models.BooleanField(default=False, help_text="A muted group raises no alerts.")
    redriving = models.PositiveSmallIntegerField(
        default=0, help_text="The number of running redrives of its dead letters."
    )
    total = models.PositiveBigIntegerField(default=0)
    open = models.BigIntegerField(default=0)
    first_seen = models.DateTimeField(db_default=ClockTimestamp())
    last_seen = models.DateTimeField(db_default=ClockTimestamp())
    merged_into = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["-last_seen", "-id"]
        verbose_name = "failure group"
        verbose_name_plural = "failure groups"
        indexes = [
            models.Index(
                fields=["workspace", "status", "last_seen", "id"],
                name="group_list",
                condition=Q(merged_into=None),
            ),
            models.Index(
                fields=["snoozed_until"], name="group_snoozed", condition=Q(status="SNOOZED")
            ),
        ]

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.place, self.exception or "failure", self.message[:80])))

    def sealed_workspace(self) -> UUID:
        """Return the ID of the group's workspace, which may have sealed payloads."""
        return self.workspace_id

    def sealed_place(self, column: str) -> str:
        """Return the place for a column's envelope; no column of this table is sealed."""
        return f"group {self.pk}||{column}"


class GroupFingerprint(models.Model):
    """The group of a fingerprint; with `split_by`, the fingerprint's entries are divided further.

    Then the values of the facet have fingerprints of their own, whose `part_of` is the fingerprint
    that was split.
    """

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    fingerprint = models.CharField(max_length=64)
    group = models.ForeignKey(FailureGroup, on_delete=models.CASCADE, related_name="fingerprints")
    split_by = models.CharField(
        max_length=20,
        blank=True,
        default="",
        help_text="A facet of a dead letter, such as http_status.",
    )
    part_of = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "fingerprint"], name="group_fingerprint_once"
            ),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "part_of"], name="group_parts", condition=~Q(part_of="")
            ),
        ]

    def __str__(self) -> str:
        return self.fingerprint


class GroupNews(models.Model):
    """Changes that are not yet added to a group's counters; `dlq.groups.tally` adds them.

    A new dead letter adds a row instead of locking its group's counters, so that a thousand
    failures of one kind do not wait for each other. `moved` is true if no new failure occurred, but
    entries moved from one group to another.
    """

    id = models.BigAutoField(primary_key=True)
    group = models.ForeignKey(
        FailureGroup, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    at = models.DateTimeField(db_default=ClockTimestamp())
    version_number = models.PositiveIntegerField(default=0)
    seen = models.IntegerField(default=0)
    open = models.IntegerField(default=0)
    moved = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.seen:+d} seen, {self.open:+d} open"


class GroupHour(models.Model):
    """The number of failures of a group in one hour (UTC)."""

    id = models.BigAutoField(primary_key=True)
    group = models.ForeignKey(
        FailureGroup, on_delete=models.CASCADE, related_name="hours", db_index=False
    )
    hour = models.DateTimeField()
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "hour"], name="group_hour_once"),
        ]
        indexes = [models.Index(fields=["hour"], name="group_hour_age")]

    def __str__(self) -> str:
        return f"{self.count} in the hour from {self.hour:%Y-%m-%d %H:%M}"


class GroupVersion(models.Model):
    """A group's failures in one version of its workflow: their count, first time and last time."""

    id = models.BigAutoField(primary_key=True)
    group = models.ForeignKey(
        FailureGroup, on_delete=models.CASCADE, related_name="versions", db_index=False
    )
    number = models.PositiveIntegerField()
    count = models.PositiveBigIntegerField(default=0)
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["group", "number"], name="group_version_once"),
        ]

    def __str__(self) -> str:
        return f"{self.count} of v{self.number}"


class GroupNote(models.Model):
    """A note that a user added to a failure group."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    group = models.ForeignKey(FailureGroup, on_delete=models.CASCADE, related_name="notes")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=set_null, null=True, blank=True, related_name="+"
    )
    author_name = models.CharField(max_length=200)
    at = models.DateTimeField(db_default=ClockTimestamp())
    text = models.TextField(max_length=10_000)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.author_name}: {self.text[:80]}"


class GroupMove(models.Model):
    """A move of entries to another group, in batches; deleted when no entries are left to move.

    Without a fingerprint, all entries of `source` move to `target` (a merge). With a fingerprint,
    its entries move to `target`, or, with a facet (`by`), to the groups of their values (a split).
    """

    id = models.BigAutoField(primary_key=True)
    source = models.ForeignKey(FailureGroup, on_delete=models.CASCADE, related_name="moves")
    target = models.ForeignKey(
        FailureGroup, on_delete=models.CASCADE, null=True, blank=True, related_name="arrivals"
    )
    fingerprint = models.CharField(max_length=64, blank=True, default="")
    by = models.CharField(max_length=20, blank=True, default="")
    moved = models.PositiveBigIntegerField(default=0)
    after = models.DateTimeField(
        null=True, blank=True, help_text="Dead letters up to this one have been moved."
    )
    created_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.moved} moved"
