"""Who may do what with one workflow, beyond roles: django-guardian's rows, with real keys.

The permissions are `Workflow.Meta.permissions`, and Django's own to delete. What is allowed on a
workflow is allowed on its executions, their runs and their dead letters.
"""

from django.db import models
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from executions.models.workflow import Workflow


class WorkflowUserPermission(UserObjectPermissionBase):
    """One permission of one person on one workflow."""

    content_object = models.ForeignKey(
        Workflow, on_delete=models.CASCADE, related_name="user_permissions"
    )

    class Meta(UserObjectPermissionBase.Meta):
        abstract = False
        verbose_name = "workflow shared with a person"
        verbose_name_plural = "workflows shared with people"


class WorkflowGroupPermission(GroupObjectPermissionBase):
    """One permission of a group's members on one workflow."""

    content_object = models.ForeignKey(
        Workflow, on_delete=models.CASCADE, related_name="group_permissions"
    )

    class Meta(GroupObjectPermissionBase.Meta):
        abstract = False
        verbose_name = "workflow shared with a group"
        verbose_name_plural = "workflows shared with groups"
