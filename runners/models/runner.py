"""The workers and remote runners that have reported to this database.

All screens, metrics and checks use one limit for the age of a report: `RESPONDS_WITHIN`.
"""

from datetime import datetime, timedelta
from typing import ClassVar

from django.db import models

from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.models import Workspace

# A worker reports every 10 s, an idle remote runner every 20 s. A live worker's report may be late
# twice.
RESPONDS_WITHIN = timedelta(seconds=35)


class RunnerManager(models.Manager["Runner"]):
    """Selects runners by their last report."""

    def live(self, now: datetime) -> models.QuerySet["Runner"]:
        """Return the runners that respond and are not shutting down."""
        return self.filter(leaving_at=None, seen_at__gte=now - RESPONDS_WITHIN)


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
    # Not moved with its workspace, because a runner reports again in the new cell.
    when_moved = "never"

    objects: ClassVar[RunnerManager] = RunnerManager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def responds(self, now: datetime) -> bool:
        """Return whether the last report is recent enough."""
        return now - self.seen_at <= RESPONDS_WITHIN

    def is_live(self, now: datetime) -> bool:
        """Return whether the runner responds and is not shutting down."""
        return self.leaving_at is None and self.responds(now)
