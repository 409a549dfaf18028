"""Permits that gates gave for runs of remote runners."""

from django.db import models

from executions.database.clock import ClockTimestamp


class HeldPermit(models.Model):
    """A permit that a gate gave for one lease of a run; it is deleted when the lease ends.

    `token` is the lease's fencing token; the gate restores its permit from `kept`.
    """

    run_id = models.UUIDField()
    token = models.IntegerField()
    gate = models.CharField(max_length=50)
    kept = models.JSONField()
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    rows_belong_to = (("run_id", "runners.Run"),)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run_id", "token", "gate"], name="held_permit_once"),
        ]

    def __str__(self) -> str:
        return f"{self.gate} for {self.run_id}"
