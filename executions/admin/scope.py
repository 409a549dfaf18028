"""Which rows a person sees in the admin: those of their workspaces, as everywhere else."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from executions import access
from executions.access import Action


def scoped(
    request: HttpRequest, queryset: QuerySet[Any], action: Action = Action.VIEW, path: str = ""
) -> QuerySet[Any]:
    """The part of `queryset` in whose workspaces the signed-in person may do `action`.

    `path` is the look-up to the workspace's id where the model's own foreign keys do not tell.
    Superusers see everything, without a comparison that would cost a big list its index.
    """
    user: Any = request.user
    if user.is_active and user.is_superuser:
        return queryset
    if path:
        return queryset.filter(**{f"{path}__in": access.workspaces_of(user, action)})
    return access.visible(user, queryset, action)
