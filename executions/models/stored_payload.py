"""Values in object storage, and the executions and events that may refer to them."""

from django.db import models
from django.db.models import Q

from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.database.postgres_types import ArrayField
from executions.models.workspace import Workspace


class StoredPayload(models.Model):
    """A large value of a workspace in object storage (`executions.payload_store`).

    Its file's name contains the digest and the ID. Equal values of a workspace with the same
    sealing key share a row. Once the collector has marked the row, an equal value gets a new row
    and file. `stored_at` is empty until the file is complete. `sealing_key` is 0 if the value is
    not sealed. `refers_to` are the IDs of the stored values inside this one, at any depth: an
    execution that uses this value uses those, too.

    Content (bytes that a module writes in parts) is an exception: its `digest` is derived from the
    ID, so equal content does not share a row, and `content_digest` is the digest of its bytes.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    # Without a constraint, because checking it would lock the workspace's row for each value.
    workspace = models.ForeignKey(
        Workspace,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    digest = models.CharField(max_length=64)
    sealing_key = models.BigIntegerField(default=0)
    size = models.BigIntegerField()
    refers_to = ArrayField(models.UUIDField(), null=True)
    content_digest = models.CharField(max_length=64, blank=True, default="", db_default="")
    stored_at = models.DateTimeField(null=True)
    # The last time that the value was stored again, or that the collector checked it.
    checked_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    deleting_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "digest", "sealing_key"],
                condition=Q(deleting_at=None),
                name="stored_payload_once",
            ),
        ]
        indexes = [models.Index(fields=["checked_at", "id"], name="stored_payload_check")]

    def __str__(self) -> str:
        return self.digest


class StoredPayloadUse(models.Model):
    """An execution, or an event, that may refer to a stored value.

    The row is written before the value's file, or with the row that refers to the value.
    `holder_id` is the ID of the execution or event. It is not a foreign key: retention deletes
    these without reading this table, and the collector checks whether they still exist.
    """

    id = models.BigAutoField(primary_key=True)
    payload = models.ForeignKey(
        StoredPayload, on_delete=models.CASCADE, related_name="uses", db_index=False
    )
    holder_id = models.UUIDField(db_column="execution_id")  # its name in earlier releases

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["payload", "holder_id"], name="stored_payload_use_once"
            ),
        ]
        indexes = [models.Index(fields=["holder_id"], name="stored_payload_use_of")]

    def __str__(self) -> str:
        return str(self.holder_id)
