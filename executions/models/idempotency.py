"""Stored responses for callers that repeat an `Idempotency-Key`."""

from django.conf import settings
from django.db import models

from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7


class KeptAnswer(models.Model):
    """A successful response to a request with an `Idempotency-Key`, kept for 24 hours.

    `sealed` is the body, sealed like a credential, since some bodies show a secret once.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    key = models.CharField(max_length=200)
    operation = models.CharField(max_length=300, help_text="The method and path of the request.")
    request_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    sealed = models.BinaryField()
    key_id = models.BigIntegerField(db_index=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="kept_answer_once"),
        ]
        indexes = [models.Index(fields=["created_at"], name="kept_answer_age")]

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"
