"""Find the rows of the audit trail that a user may read, and apply the filters of requests.

Administrators can read all rows about their workspaces. Users who may view a workflow or one of its
objects can read the rows about that object. Superusers who use no token can read all rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import Model, Q, QuerySet

from executions.access import (
    Action,
    Forbidden,
    User,
    obtain,
    visible,
    workspace_id_of,
    workspaces_of,
)
from executions.access.scoping import sees_all, workflow_path, workspace_path
from executions.database.clock import first_id_at
from executions.errors import NotFound
from executions.models import Activity

# Convert the name in a row's `object_type` to the model, and back.


def name_of(model: type[Model]) -> str:
    """Return the trail's name for a model: its name in the API, or otherwise its class name."""
    return str(getattr(model, "AUDITED_AS", model.__name__))


def model_of(name: str) -> type[Model] | None:
    """Return the model with this name in the trail; None if there is none."""
    return _models().get(name)


@cache
def _models() -> dict[str, type[Model]]:
    return {name_of(model): model for model in apps.get_models()}


FILTERS = {
    "workspaceId": "workspace_id",
    "actor": "actor_name",
    "objectType": "object_type",
    "objectId": "object_id",
    "via": "via",
    "createdAfter": "created_at__gt",
    "createdBefore": "created_at__lt",
}
# Maximum difference between the time in a row's ID and `created_at`: the ID is generated before the
# row is stored, and by another clock.
AT_MOST_APART = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Readable:
    """Rows of the trail that a user may read.

    `workspaces` are the workspaces of the rows; None means all workspaces and the installation.
    """

    rows: QuerySet[Activity]
    workspaces: list[UUID] | None


def administered(user: User) -> Readable:
    """Return the rows of the workspaces that the user administers, or all rows if `sees_all`."""
    rows = visible(user, Activity.objects.all(), Action.ADMINISTER)
    return Readable(rows, None if sees_all(user) else workspaces_of(user, Action.ADMINISTER))


def readable(user: User, object_id: str = "") -> Readable:
    """Return the rows that the user may read.

    If the user may view but not administer the object `object_id`, these are the object's rows.
    """
    own = administered(user)
    if own.workspaces is None or not object_id:
        return own
    seen = _seen(user, object_id)
    if seen is None or workspace_id_of(seen) in own.workspaces:
        return own
    workspace_id = workspace_id_of(seen)
    about = Activity.objects.filter(workspace_id=workspace_id, object_id=object_id)
    return Readable(about, [workspace_id])


def one(user: User, pk: UUID) -> Activity:
    """Return one row of the audit trail. Raises NotFound if the user may not read it."""
    about = Activity.objects.filter(pk=pk).values_list("object_id", flat=True).first()
    row = None if about is None else readable(user, about).rows.filter(pk=pk).first()
    if row is None:
        raise NotFound(f"There is no activity {pk} that you may read.")
    return row


def narrowed(rows: QuerySet[Activity], wanted: Mapping[str, Any]) -> QuerySet[Activity]:
    """Return the matching rows (see FILTERS); an `action` with a final dot is a prefix."""
    conditions = Q(**{path: wanted[name] for name, path in FILTERS.items() if wanted.get(name)})
    if action := wanted.get("action"):
        look_up = "action__startswith" if action.endswith(".") else "action"
        conditions &= Q(**{look_up: action})
    # The primary key is ordered by time, so a list without other filters can use its index.
    if after := wanted.get("createdAfter"):
        conditions &= Q(pk__gte=first_id_at(after, -AT_MOST_APART))
    return rows.filter(conditions)


def _seen(user: User, object_id: str) -> Model | None:
    """Return the visible object with this ID; None if there is none, or if it has no workflow."""
    about = Activity.objects.filter(object_id=object_id).order_by("created_at")
    model = model_of(about.values_list("object_type", flat=True).first() or "")
    if model is None or not _has_workflow(model):
        return None
    try:
        row: Model = obtain(user, _identities(model), UUID(object_id), Action.VIEW)[0]
    except (ValueError, NotFound, Forbidden):
        return None
    return row


def _has_workflow(model: type[Model]) -> bool:
    try:
        return bool(workflow_path(model) and workspace_path(model))
    except TypeError:
        return False


def _identities(model: type[Model]) -> QuerySet[Any]:
    """Return the model's rows with only the columns that lead to their workspace and workflow."""
    relations: set[str] = set()
    columns = {"pk"}
    for path in (workspace_path(model), workflow_path(model)):
        *around, _ = path.split("__")
        relations |= {"__".join(around)} if around else set()
        columns |= {path, *("__".join(around[: n + 1]) for n in range(len(around)))}
    return model._default_manager.select_related(*sorted(relations)).only(*columns)
