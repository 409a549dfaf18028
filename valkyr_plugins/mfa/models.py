"""A user's second factors, and the recovery codes that replace them."""

from django.conf import settings
from django.db import models

from executions.public.database import ClockTimestamp, cascade, uuid7


class SecondFactor(models.Model):
    """A user's authenticator app, valid from `confirmed_at` on.

    `sealed` is the app's secret, sealed with AES-256-GCM and bound to this row's ID. `last_step` is
    the newest time step whose code was accepted; codes of this step or an earlier one are rejected.
    `failures` counts the wrong codes since the last accepted code; `failed_at` is when the newest
    wrong code was entered.
    """

    AUDITED_AS = "SecondFactor"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=cascade, related_name="+")
    sealed = models.BinaryField(editable=False)
    key_id = models.BigIntegerField(editable=False, db_index=True)
    last_step = models.BigIntegerField(default=0, editable=False)
    failures = models.PositiveIntegerField(default=0, editable=False)
    failed_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    confirmed_at = models.DateTimeField(null=True, editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False)

    in_first_database = True

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"second factor of {self.user.get_username()}"


class Passkey(models.Model):
    """A key pair in a user's device or password manager (WebAuthn); only the public key is here.

    `site` is the host name for which the key was made, without a port; browsers offer the key only
    there. `credential` is the credential's ID and public key, as the authenticator attested them.
    `uses` is the authenticator's own count of signatures, which many authenticators leave at 0.
    """

    AUDITED_AS = "Passkey"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=cascade, related_name="+")
    name = models.CharField(max_length=100)
    site = models.CharField(max_length=253, editable=False)
    credential_id = models.BinaryField(editable=False)
    credential = models.BinaryField(editable=False)
    transports = models.JSONField(default=list, editable=False)
    uses = models.BigIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False)

    in_first_database = True

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["credential_id"], name="passkey_once"),
        ]

    def __str__(self) -> str:
        return f"passkey of {self.user.get_username()}: {self.name}"


class RecoveryCode(models.Model):
    """A code that is accepted once in place of any factor; only its digest is stored."""

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=cascade, related_name="+", db_index=False
    )
    digest = models.CharField(max_length=64, editable=False)
    used_at = models.DateTimeField(null=True, editable=False)

    in_first_database = True

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "digest"], name="recovery_code_once"),
        ]

    def __str__(self) -> str:
        return "used recovery code" if self.used_at else "recovery code"
