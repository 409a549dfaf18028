"""Permissions on individual workflows, in addition to roles; each is a row with foreign keys.

The permissions are `Workflow.Meta.permissions`, and Django's own permission to delete. A permission
on a workflow applies to its executions, their runs and their dead letters.
"""

from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.db import models

from executions.database.accounts import cascade
from executions.models.workflow import Workflow


class WorkflowUserPermission(models.Model):
    """One permission of one user on one workflow."""

    permission = models.ForeignKey(Permission, on_delete=models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=cascade)
    content_object = models.ForeignKey(
        Workflow, on_delete=models.CASCADE, related_name="user_permissions"
    )

    class Meta:
        unique_together = ("user", "permission", "content_object")
        verbose_name = "workflow shared with a person"
        verbose_name_plural = "workflows shared with people"

    def __str__(self) -> str:
        return f"{self.content_object} | {self.user} | {self.permission.codename}"


class WorkflowGroupPermission(models.Model):
    """One permission of a group's members on one workflow."""

    permission = models.ForeignKey(Permission, on_delete=models.CASCADE)
    group = models.ForeignKey(Group, on_delete=cascade)
    content_object = models.ForeignKey(
        Workflow, on_delete=models.CASCADE, related_name="group_permissions"
    )

    class Meta:
        unique_together = ("group", "permission", "content_object")
        verbose_name = "workflow shared with a group"
        verbose_name_plural = "workflows shared with groups"

    def __str__(self) -> str:
        return f"{self.content_object} | {self.group} | {self.permission.codename}"
