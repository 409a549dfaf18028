"""Hourly counts of executions, stored so that dashboards read few rows."""

from django.db import models

from executions.public.database import ClockTimestamp
from executions.public.models import Workflow, Workspace


class ExecutionHour(models.Model):
    """Counts of one hour (UTC) for a workflow, for a workspace, or for the installation.

    `workflow` is empty in a workspace's total; `workflow` and `workspace` are empty in the
    installation's total. `created` counts the executions created in the hour. `succeeded`,
    `failed`, `timed_out` and `cancelled` count the executions that ended in the hour, as of the
    last count. An execution that continues after a failure can be counted again when it ends again.
    `durations` (from start to end) and `dispatches` (how long attempts waited for a worker,
    sampled) are histograms. They map a bucket of `valkyr_plugins.figures.tally` to a number. Only
    `valkyr_plugins.figures.rollup` writes these rows.
    """

    id = models.BigAutoField(primary_key=True)
    hour = models.DateTimeField()
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, null=True, related_name="+", db_index=False
    )
    workflow = models.ForeignKey(
        Workflow, on_delete=models.CASCADE, null=True, related_name="+", db_index=False
    )
    created = models.PositiveBigIntegerField(default=0)
    succeeded = models.PositiveBigIntegerField(default=0)
    failed = models.PositiveBigIntegerField(default=0)
    timed_out = models.PositiveBigIntegerField(default=0)
    cancelled = models.PositiveBigIntegerField(default=0)
    failed_attempts = models.PositiveBigIntegerField(default=0)
    dead_letters = models.PositiveBigIntegerField(default=0)
    durations = models.JSONField(default=dict)
    dispatches = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workflow", "workspace", "hour"],
                name="execution_hour_once",
                nulls_distinct=False,
            ),
        ]
        indexes = [models.Index(fields=["hour"], name="execution_hour_age")]

    def __str__(self) -> str:
        return f"the hour from {self.hour:%Y-%m-%d %H:%M}"


class CountedHour(models.Model):
    """An hour whose executions were counted, and the time of the count.

    Hours without executions have a row too.
    """

    hour = models.DateTimeField(primary_key=True)
    counted_at = models.DateTimeField(db_default=ClockTimestamp())

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H:%M}"
