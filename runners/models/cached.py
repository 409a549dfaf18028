"""Results that equal steps may reuse until they expire."""

from django.db import models
from uuid6 import uuid7

from executions.database.clock import ClockTimestamp


class CachedResult(models.Model):
    """The result of a step by what it was made from.

    `owner` is the workflow or the workspace within which it counts; `key` is the SHA-256, in hex,
    over module type, config hash and inputs hash.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    owner = models.UUIDField()
    key = models.CharField(max_length=64)
    run_id = models.UUIDField(help_text="The run that made it.")
    outcome = models.CharField(max_length=100)
    outputs = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "key"], name="cached_result_once"),
        ]
        indexes = [models.Index(fields=["expires_at"], name="cached_result_age")]

    def __str__(self) -> str:
        return self.key
