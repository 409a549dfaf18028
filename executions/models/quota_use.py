"""Counters of the use of resources, per hour or day."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from executions.models.workspace import Workspace
from executions.states import QuotaWindow


class QuotaUse(models.Model):
    """The use of a resource in one window of the database's clock (UTC hour or day)."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
        help_text="Empty for the counter of the whole workspace.",
    )
    resource = models.CharField(max_length=20)
    target = models.CharField(max_length=100, blank=True, default="")
    window = models.CharField(max_length=4, choices=QuotaWindow.choices)
    starts_at = models.DateTimeField()
    used = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "user", "resource", "target", "window", "starts_at"],
                nulls_distinct=False,
                name="quota_use_once",
            ),
            models.CheckConstraint(condition=Q(used__gte=0), name="quota_use_not_negative"),
        ]
        indexes = [models.Index(fields=["starts_at"], name="quota_use_age")]

    def __str__(self) -> str:
        return f"{self.used} of {self.resource} in the {self.window} of {self.starts_at}"
