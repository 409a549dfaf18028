"""The bundle of definitions last applied to a workspace."""

from django.db import models

from executions.database.clock import ClockTimestamp
from executions.models.workspace import Workspace


class AppliedBundle(models.Model):
    """The source of a workspace's definitions: a Git commit, and the keys of objects from bundles.

    `keys` are `workflows/<slug>` and `<kind>/<key in JSON>`. Only the objects with these keys are
    archived or deleted if a later bundle with `prune` lacks them.
    """

    workspace = models.OneToOneField(
        Workspace, on_delete=models.CASCADE, primary_key=True, related_name="applied_bundle"
    )
    repository = models.CharField(max_length=300, blank=True, default="")
    commit = models.CharField(max_length=80, blank=True, default="")
    ref = models.CharField(max_length=200, blank=True, default="")
    keys = models.JSONField(default=list)
    applied_by = models.CharField(max_length=200, blank=True, default="")
    applied_at = models.DateTimeField(db_default=ClockTimestamp())

    def __str__(self) -> str:
        return f"{self.repository} {self.commit}".strip()
