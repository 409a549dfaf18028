"""The audit trail: a row for each start of executions, each change, and events such as sign-ins."""

from django.conf import settings
from django.db import models

from executions.database.clock import ClockTimestamp, CurrentTransaction
from executions.database.ids import uuid7
from executions.models.workspace import Workspace


class Activity(models.Model):
    """One action: the actor, the object, the time, the origin, the reason, and the changed values.

    Append-only: triggers in the database reject updates and deletes. So the row keeps the account's
    ID after the account is deleted. `workspace` is empty for events of the whole installation
    (accounts, tiers, sign-in).
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.PROTECT, related_name="+", null=True, blank=True
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    actor_name = models.CharField(max_length=200, help_text="Kept after the account is deleted.")
    via = models.CharField(
        max_length=120,
        blank=True,
        default="",
        help_text="How the change was made: admin, api, an API token's name, or engine.",
    )
    address = models.GenericIPAddressField(null=True, blank=True)
    action = models.CharField(max_length=60)
    object_type = models.CharField(max_length=60)
    object_id = models.CharField(max_length=64)
    reason = models.TextField(blank=True, default="")
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)
    details = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    # The transaction that wrote the row. A seal covers only rows below the oldest open transaction
    # (executions/audit/seals.py).
    transaction = models.BigIntegerField(db_default=CurrentTransaction(), editable=False)

    # Every request may write rows about the whole installation; only superusers can read them.
    rows_of_no_workspace = "write"
    # Rows are sealed in the order of their transactions. So a copy in another cell gets a
    # transaction of its database, and the original stays, because its digest is in the source's
    # chain.
    when_moved = "kept"
    renewed_columns = ("transaction",)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "activity"
        indexes = [
            models.Index(fields=["created_at", "id"], name="activity_all"),
            models.Index(fields=["transaction", "id"], name="activity_transaction"),
            models.Index(fields=["workspace", "created_at", "id"], name="activity_list"),
            models.Index(fields=["object_id", "created_at"], name="activity_object"),
            models.Index(fields=["actor_name", "created_at"], name="activity_actor"),
            models.Index(fields=["action", "created_at"], name="activity_action"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name}: {self.action} {self.object_type} {self.object_id}"


class AuditSeal(models.Model):
    """A link of the audit trail's hash chain: the rows that it covers, and its digest.

    `leaves` holds, for each row in the order of sealing, the 16 bytes of its ID and the SHA-256 of
    its content. `digest` covers all other columns (executions/audit/chain.py). Append-only, like
    the trail itself.
    """

    number = models.BigIntegerField(primary_key=True)
    previous = models.BinaryField(max_length=32)
    digest = models.BinaryField(max_length=32)
    count = models.PositiveIntegerField()
    leaves = models.BinaryField()
    # The next link begins after this transaction and row.
    last_transaction = models.BigIntegerField()
    last_row = models.UUIDField()
    # The next link contains only rows created after this time, because transaction IDs start again
    # after a restore.
    since = models.DateTimeField()
    sealed_at = models.DateTimeField()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.CheckConstraint(condition=models.Q(number__gte=1), name="seal_counts_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.number}:{bytes(self.digest).hex()}"
