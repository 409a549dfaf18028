"""Tenants: workspaces, the limits of their tiers, and their members."""

from django.conf import settings
from django.db import models

from executions.database.accounts import cascade
from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.states import Permission, Role


class Tier(models.Model):
    """Limits on the executions of each workspace of the tier; an empty field means no limit."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.SlugField(unique=True, max_length=50)
    max_concurrent = models.PositiveIntegerField(null=True, blank=True)
    max_pending = models.PositiveIntegerField(null=True, blank=True)
    max_per_hour = models.PositiveIntegerField(null=True, blank=True)
    max_per_day = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Workspace(models.Model):
    """A tenant, to which workflows, executions and most other objects belong."""

    DEFAULT_SLUG = "default"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200)
    slug = models.SlugField(unique=True, max_length=80)
    tier = models.ForeignKey(Tier, on_delete=models.PROTECT, related_name="workspaces")
    # The hosts to which the workspace's steps may connect; if empty, the installation's list
    # applies.
    egress_hosts = models.JSONField(default=list, blank=True)
    publish_from_git = models.BooleanField(
        default=False,
        db_default=False,
        help_text="On: only `valkyr apply` publishes and archives workflows.",
    )
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["slug"]
        # Granted to a user or group through Django, these permissions apply in every workspace in
        # which the user sees the object. `Membership.permissions` grants them in one workspace.
        permissions = [(permission.value, permission.label) for permission in Permission]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A user's (or program's) role in a workspace, with additional permissions."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=cascade, related_name="valkyr_memberships"
    )
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.USER)
    permissions = models.JSONField(
        default=list, blank=True, help_text="Permissions in addition to those of the role."
    )
    # The issuer whose groups granted the membership, updated at every sign-in; "" if granted by
    # hand.
    source = models.CharField(max_length=200, blank=True, default="", editable=False)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "workspace"], name="membership_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="membership_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace}: {self.role}"
