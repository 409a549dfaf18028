"""The workers and remote runners that have reported to this database."""

from django.db import models

from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.models import Workspace


class Runner(models.Model):
    """A worker's report about itself, and the time when it was last seen.

    A remote runner (pool `remote`) belongs to the workspace for which it works; Valkyr's own
    workers serve all workspaces and belong to none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    name = models.CharField(max_length=300, unique=True)
    host = models.CharField(max_length=200)
    pid = models.PositiveIntegerField()
    pool = models.CharField(max_length=20)
    processes = models.PositiveIntegerField(
        default=1, db_default=1, help_text="The maximum number of concurrent steps."
    )
    queues = models.JSONField(default=list)
    started_at = models.DateTimeField(db_default=ClockTimestamp())
    seen_at = models.DateTimeField(db_default=ClockTimestamp())
    leaving_at = models.DateTimeField(
        null=True, help_text="The time at which the process announced its shutdown."
    )

    rows_of_no_workspace = "read"
    when_moved = "never"  # a runner reports again where its workspace is

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
