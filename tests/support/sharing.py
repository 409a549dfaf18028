"""Share a workflow with a user or a group, as an administrator does."""

from django.contrib.auth.models import AbstractBaseUser, Group, Permission

from executions.models import Workflow, WorkflowGroupPermission, WorkflowUserPermission


def assign_perm(name: str, whom: AbstractBaseUser | Group, workflow: Workflow) -> None:
    """Give `whom` the permission with that codename on the workflow; a second call changes
    nothing.
    """
    permission = Permission.objects.get(
        content_type__app_label="executions",
        content_type__model="workflow",
        codename=name.removeprefix("executions."),
    )
    if isinstance(whom, Group):
        WorkflowGroupPermission.objects.get_or_create(
            permission=permission, group=whom, content_object=workflow
        )
    else:
        WorkflowUserPermission.objects.get_or_create(
            permission=permission, user=whom, content_object=workflow
        )
