"""The audit trail: a row for every trigger and every change of state by a person."""

from django.conf import settings
from django.db import models
from uuid6 import uuid7

from executions.clock import ClockTimestamp
from executions.models.workspace import Workspace


class Activity(models.Model):
    """Who did what to which object, when and why."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="+")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    actor_name = models.CharField(max_length=200, help_text="Kept when the account is gone.")
    action = models.CharField(max_length=60)
    object_type = models.CharField(max_length=60)
    object_id = models.UUIDField()
    reason = models.TextField(blank=True, default="")
    details = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "activity"
        indexes = [
            models.Index(fields=["workspace", "created_at", "id"], name="activity_list"),
            models.Index(fields=["object_id", "created_at"], name="activity_object"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name}: {self.action} {self.object_type} {self.object_id}"
