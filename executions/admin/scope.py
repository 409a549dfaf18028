"""What a person sees and may do in the admin: as everywhere else, by powers in workspaces."""

from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from executions import access
from executions.access import Action, Reach
from executions.access.actor import Actor
from executions.access.powers import Power


def reach(request: HttpRequest) -> Reach:
    """How far the signed-in person's powers reach; read once a request."""
    found: Reach | None = getattr(request, "reach", None)
    if found is None:
        found = request.reach = access.reach_of(request.user)  # type: ignore[attr-defined]
    return found


def holds(request: HttpRequest, power: Power) -> bool:
    """Whether there is anything to which the person may do `power`."""
    return is_superuser(request) or reach(request).anywhere(power)


def may(request: HttpRequest, row: Model, power: Power) -> bool:
    """Whether the person may do `power` to this row."""
    return is_superuser(request) or access.powers_on_row(request.user, row).allows(power)


def user_of(actor: Actor) -> Any:
    """The signed-in person behind an actor; raises DoesNotExist where it is no person."""
    return get_user_model()._default_manager.get(pk=actor.user_id)


def is_superuser(request: HttpRequest) -> bool:
    """Whether the person may do everything."""
    user: Any = request.user
    return bool(user.is_active and getattr(user, "is_superuser", False))


def scoped(
    request: HttpRequest, queryset: QuerySet[Any], action: Power = Action.VIEW, path: str = ""
) -> QuerySet[Any]:
    """The part of `queryset` to which the signed-in person may do `action`.

    `path` is the look-up to the workspace's id where the model's own foreign keys do not tell.
    Superusers see everything, without a comparison that would cost a big list its index.
    """
    if is_superuser(request):
        return queryset
    return access.visible(request.user, queryset, action, path=path, reach=reach(request))
