"""A workflow's draft and its immutable versions."""

from django.conf import settings
from django.db import models

from executions.database.accounts import set_null
from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.models.workspace import Workspace
from executions.states import VersionKind


class Workflow(models.Model):
    """A named definition, edited as a draft and published as versions."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="workflows")
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80)
    description = models.TextField(blank=True, default="")
    origin = models.CharField(
        max_length=200,
        blank=True,
        default="",
        editable=False,
        help_text=(
            "The code that publishes the workflow, such as `shop.flows:fulfil`. Empty if people "
            "edit it."
        ),
    )
    origin_line = models.PositiveIntegerField(
        null=True,
        editable=False,
        help_text="The line at which that code begins, at the last publishing.",
    )
    enabled = models.BooleanField(
        default=True, help_text="If it is off, no trigger starts the workflow."
    )
    definition = models.JSONField(default=dict, help_text="The draft, as written by its author.")
    revision = models.PositiveIntegerField(
        default=1, editable=False, help_text="Increases with each change; the ETag of the draft."
    )
    latest_version = models.ForeignKey(
        "WorkflowVersion",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )
    canary_version = models.ForeignKey(
        "WorkflowVersion",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        help_text="The version that a share of the starts takes instead of the latest, if any.",
    )
    canary_percent = models.FloatField(
        null=True, editable=False, help_text="That share of the starts, in per cent."
    )
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    updated_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "slug"],
                condition=models.Q(archived_at__isnull=True),
                name="workflow_slug_once",
            ),
            models.CheckConstraint(
                condition=models.Q(canary_version=None, canary_percent=None)
                | models.Q(
                    canary_version__isnull=False, canary_percent__gt=0, canary_percent__lte=100
                ),
                name="workflow_canary_has_share",
            ),
        ]
        indexes = [models.Index(fields=["workspace", "created_at", "id"], name="workflow_list")]
        # Granted on single workflows through `models.object_permission`. For deletion, there is
        # Django's own permission.
        permissions = [
            ("read_workflow", "READ: view the workflow and its executions"),
            ("write_workflow", "WRITE: edit and publish the workflow, operate its executions"),
            ("execute_workflow", "EXECUTE: start, replay, fork and signal its executions"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def origin_place(self) -> str:
        """Return the location of the workflow's code, such as `shop.flows:fulfil, line 42`.

        Returns "" if users edit the workflow.
        """
        return f"{self.origin}, line {self.origin_line}" if self.origin_line else self.origin


class WorkflowVersion(models.Model):
    """An executable version: a definition with every policy, timeout and default resolved."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    kind = models.CharField(
        max_length=10, choices=VersionKind.choices, default=VersionKind.PUBLISHED
    )
    source = models.JSONField(help_text="The definition, as written by its author.")
    definition = models.JSONField(
        help_text="The definition that executions run, with all defaults written out."
    )
    checksum = models.CharField(max_length=64)
    published_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=set_null, null=True, related_name="+"
    )
    withdrawn_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="When it was rolled back, or its canary ended without a promotion.",
    )
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["workflow", "number"], name="version_number_once"),
        ]

    def __str__(self) -> str:
        return f"{self.workflow} v{self.number}"
