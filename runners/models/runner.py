"""A live worker process."""

from django.db import models
from uuid6 import uuid7

from executions.clock import ClockTimestamp


class Runner(models.Model):
    """What a worker said of itself, and when it was last seen."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200, unique=True)
    host = models.CharField(max_length=200)
    pid = models.PositiveIntegerField()
    pool = models.CharField(max_length=20)
    queues = models.JSONField(default=list)
    started_at = models.DateTimeField(db_default=ClockTimestamp())
    seen_at = models.DateTimeField(db_default=ClockTimestamp())
    leaving_at = models.DateTimeField(null=True, help_text="When it announced its shutdown.")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
