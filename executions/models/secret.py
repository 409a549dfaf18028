"""Sealed values: credentials of a workspace, and the keys that seal them."""

from django.db import models
from django.db.models import Q

from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.models.workspace import Workspace


class Keyset(models.Model):
    """The data keys, as a Tink keyset sealed with the installation's key; one row at most.

    `version` counts the changes, so that a process can check whether its copy is current. `key_uri`
    names the key that seals the keyset (`file`, `env`, or the URI of a KMS key).
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    sealed = models.BinaryField()
    key_uri = models.CharField(max_length=500)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    updated_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="keyset_only_one")]

    def __str__(self) -> str:
        return f"keyset {self.version}"


class Credential(models.Model):
    """A named secret of a workspace: `secrets.<name>` in a workflow, or a module's credential.

    `sealed` is the JSON object of the fields, encrypted with AES-256-GCM and bound to this row's
    ID; `key_id` is the data key that seals it. `hosts`, `modules`, `workflows` (IDs) and `remote`
    are the credential's boundary (`credentials.boundary`): where it may be sent. Without hosts, it
    may not be sent anywhere.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="credentials")
    name = models.CharField(max_length=80)
    type = models.CharField(max_length=40, default="secret")
    description = models.TextField(blank=True, default="")
    fields = models.JSONField(default=list, help_text="The names of the fields, without values.")
    hosts = models.JSONField(default=list)
    modules = models.JSONField(default=list)
    workflows = models.JSONField(default=list)
    remote = models.BooleanField(default=False)
    sealed = models.BinaryField(editable=False)
    key_id = models.BigIntegerField(editable=False, db_index=True)
    version = models.PositiveIntegerField(default=1, editable=False)
    created_by = models.CharField(max_length=200, blank=True, default="", editable=False)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    updated_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Until this time, one process has the claim to issue new values (`credentials.rotating`).
    refreshing_until = models.DateTimeField(null=True, blank=True, editable=False)
    # The expiry of the last issued values, which are stored with the secret.
    issued_until = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="credential_once"),
        ]
        indexes = [models.Index(fields=["workspace", "created_at", "id"], name="credential_list")]

    def __str__(self) -> str:
        return self.name


class CredentialUse(models.Model):
    """One read of a credential by a step, or one refusal; the row never contains the value.

    The statement that reads the credential writes the row, before the step's module gets the value.
    Refusals are recorded afterwards. The row outlives the objects it names: the IDs are not foreign
    keys, and `credential_id` is empty if the workspace has no credential of the `name`. `version`
    is the credential's version. `host` is the host to which the step connects, if known before it
    runs, or the rejected address. `reason` explains a refusal.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    # Without a constraint, because checking it would lock the workspace's row for each use.
    workspace = models.ForeignKey(
        Workspace,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    credential_id = models.UUIDField(null=True)
    name = models.CharField(max_length=80)
    version = models.PositiveIntegerField(null=True)
    workflow_id = models.UUIDField()
    execution_id = models.UUIDField()
    run_id = models.UUIDField()
    step_path = models.TextField()
    attempt = models.PositiveIntegerField()
    module = models.CharField(max_length=100)
    remote = models.BooleanField(default=False)
    host = models.CharField(max_length=300, blank=True, default="")
    allowed = models.BooleanField(default=True)
    reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    when_moved = "late"

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name = "credential use"
        indexes = [
            models.Index(fields=["workspace", "created_at", "id"], name="credential_use_list"),
            models.Index(fields=["credential_id", "created_at", "id"], name="credential_use_of"),
            models.Index(
                fields=["workspace", "created_at", "id"],
                condition=Q(allowed=False),
                name="credential_use_refused",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} by {self.step_path}"


class PayloadKey(models.Model):
    """A key that seals payloads of one workspace (`sealing.payloads`).

    `sealed` is the 32-byte key, sealed with the data key `key_id` and bound to this row. The key
    with `seals` is the workspace's current key; without such a key, payloads are stored unsealed.
    """

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="payload_keys", db_index=False
    )
    seals = models.BooleanField(default=False)
    sealed = models.BinaryField(editable=False)
    key_id = models.BigIntegerField(editable=False, db_index=True)
    # The position of a walk over the workspace's rows: the last ID, by table.
    marks = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["workspace", "id"], name="payload_key_list")]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace"], condition=Q(seals=True), name="payload_key_seals_once"
            ),
        ]

    def __str__(self) -> str:
        return f"payload key {self.pk}"
