"""The workspaces that a login role of PostgreSQL can read through the views."""

from django.db import models

from executions.public.database import ClockTimestamp, uuid7
from executions.public.models import Workspace


class SqlGrant(models.Model):
    """One workspace that a login role can read; the views use these rows as their filter."""

    AUDITED_AS = "SqlRole"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    role = models.CharField(max_length=63, help_text="The name of the login role in PostgreSQL.")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    created_by_name = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["role", "id"]
        verbose_name = "SQL grant"
        verbose_name_plural = "SQL grants"
        constraints = [
            models.UniqueConstraint(fields=["role", "workspace"], name="sql_grant_once"),
        ]

    def __str__(self) -> str:
        return f"{self.role}: {self.workspace}"
