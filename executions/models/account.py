"""Service accounts, and the API tokens of service accounts and users."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from executions.database.accounts import cascade
from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.models.workspace import Workspace


class ServiceAccount(models.Model):
    """A program's account in one workspace.

    Its user has no password; the membership has the role.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="service_accounts"
    )
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=cascade, related_name="valkyr_service_account"
    )
    name = models.SlugField(max_length=80)
    description = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    disabled_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="service_account_once"),
        ]

    def __str__(self) -> str:
        return self.name


class ApiToken(models.Model):
    """A bearer token for one workspace, stored as its SHA-256; the token is shown only once.

    A token allows what its user's role and permissions allow in that workspace, but nothing outside
    `scopes` (values of `access.Action` and `states.Permission`).
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="api_tokens")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=cascade, related_name="valkyr_api_tokens"
    )
    name = models.CharField(max_length=80)
    prefix = models.CharField(
        max_length=16, help_text="The beginning of the token, by which to recognize it."
    )
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 in hex.")
    scopes = models.JSONField(default=list)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_from = models.GenericIPAddressField(null=True, blank=True, editable=False)
    created_by = models.CharField(max_length=200, blank=True, default="", editable=False)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name = "API token"
        indexes = [models.Index(fields=["workspace", "created_at", "id"], name="token_list")]
        constraints = [
            models.CheckConstraint(condition=~Q(digest=""), name="token_has_digest"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
