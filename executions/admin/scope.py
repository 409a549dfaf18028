"""The rows that a user sees and may change in the admin, according to powers in workspaces."""

from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from executions import access
from executions.access import Action, Reach
from executions.access.actor import Actor
from executions.access.powers import Power


def reach(request: HttpRequest) -> Reach:
    """Return the signed-in user's powers (`Reach`), read once per request."""
    found: Reach | None = getattr(request, "reach", None)
    if found is None:
        found = request.reach = access.reach_of(request.user)  # type: ignore[attr-defined]
    return found


def holds(request: HttpRequest, power: Power) -> bool:
    """Return whether the user has `power` on any object."""
    return is_superuser(request) or reach(request).anywhere(power)


def may(request: HttpRequest, row: Model, power: Power) -> bool:
    """Return whether the user has `power` on this row."""
    return is_superuser(request) or access.powers_on_row(request.user, row).allows(power)


def user_of(actor: Actor) -> Any:
    """Return the user behind an actor. Raises DoesNotExist if the actor is not a user."""
    return get_user_model()._default_manager.get(pk=actor.user_id)


def is_superuser(request: HttpRequest) -> bool:
    """Return whether the user is an active superuser, who may do everything."""
    user: Any = request.user
    return bool(user.is_active and getattr(user, "is_superuser", False))


def scoped(
    request: HttpRequest, queryset: QuerySet[Any], action: Power = Action.VIEW, path: str = ""
) -> QuerySet[Any]:
    """Return the rows of `queryset` on which the user has the power `action`.

    `path` is the lookup to the workspace's ID if the model's own foreign keys do not show it.
    Superusers see everything, without a comparison that would prevent the use of an index for a
    large list.
    """
    if is_superuser(request):
        return queryset
    return access.visible(request.user, queryset, action, path=path, reach=reach(request))
