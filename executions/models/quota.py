"""Limits on how much is used in an hour or a day, and the counters that keep them."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from uuid6 import uuid7

from executions.database.clock import ClockTimestamp
from executions.models.workspace import Workspace
from executions.states import QuotaWindow, Resource


class Quota(models.Model):
    """A limit on a resource for a workspace, or for one principal in it; an empty one means none.

    `target` narrows the resource: a module type, or a model's name for tokens (empty: all of them);
    empty for executions. `max_concurrent` is for module types alone.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="quotas")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    resource = models.CharField(
        max_length=20, choices=Resource.choices, default=Resource.EXECUTIONS
    )
    target = models.CharField(max_length=100, blank=True, default="")
    max_concurrent = models.PositiveIntegerField(null=True, blank=True)
    max_per_hour = models.PositiveBigIntegerField(null=True, blank=True)
    max_per_day = models.PositiveBigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "user", "resource", "target"],
                nulls_distinct=False,
                name="quota_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.resource} of {self.user or self.workspace}"


class QuotaHold(models.Model):
    """One place of a quota with `max_concurrent`, held by a run until it ends or `until` passes."""

    quota = models.ForeignKey(Quota, on_delete=models.CASCADE, related_name="holds")
    run_id = models.UUIDField()
    until = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["quota", "run_id"], name="quota_hold_once"),
        ]
        indexes = [models.Index(fields=["run_id"], name="quota_hold_run")]

    def __str__(self) -> str:
        return f"{self.run_id} until {self.until}"


class QuotaUse(models.Model):
    """How much of a resource was used in one window of the database's clock (UTC hour or day)."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    user_id = models.IntegerField(null=True, help_text="None: the workspace's own counter.")
    resource = models.CharField(max_length=20, choices=Resource.choices)
    target = models.CharField(max_length=100, blank=True, default="")
    window = models.CharField(max_length=4, choices=QuotaWindow.choices)
    starts_at = models.DateTimeField()
    used = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "user_id", "resource", "target", "window", "starts_at"],
                nulls_distinct=False,
                name="quota_use_once",
            ),
            models.CheckConstraint(condition=Q(used__gte=0), name="quota_use_not_negative"),
        ]
        indexes = [models.Index(fields=["starts_at"], name="quota_use_age")]

    def __str__(self) -> str:
        return f"{self.used} of {self.resource} in the {self.window} of {self.starts_at}"
