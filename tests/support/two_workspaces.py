"""Rows in every table that has a policy, in each of two workspaces."""

from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import models
from django.utils import timezone

from executions.database.ids import uuid7
from executions.database.routing import is_ours
from executions.database.row_policies import policy_of
from executions.models import Membership, Workspace
from tests.support import admin_rows as rows

# A value of each kind of field.
MADE: dict[Any, Any] = {
    models.UUIDField: uuid7,
    models.DateTimeField: timezone.now,
    models.JSONField: dict,
    models.BinaryField: lambda: b"sealed",
    (models.IntegerField, models.FloatField, models.DecimalField): lambda: 1,
}
Pks = dict[type[models.Model], set[Any]]


def limited_models() -> list[type[models.Model]]:
    """Return the models whose tables have a policy."""
    ours = (one for one in apps.get_models() if is_ours(one) and not one._meta.proxy)
    return sorted((one for one in ours if policy_of(one)), key=lambda one: one._meta.label)


def planted(slug: str) -> tuple[Workspace, Any, Pks]:
    """Create rows in every such table; return the workspace, its administrator, and the rows'
    keys.
    """
    before = pks()
    place = rows.workspace(slug)
    boss = get_user_model().objects.create(username=f"boss-of-{slug}", is_staff=True)
    Membership.objects.create(user=boss, workspace=place, role="ADMIN")
    rows.one_of_each(rows.workflow(f"order-{slug}", owner=place))
    known: dict[type[models.Model], Any] = {Workspace: place}
    for model in limited_models():
        _fill(model, known, before)
    after = pks()
    return place, boss, {model: after[model] - before[model] for model in after}


def pks() -> Pks:
    """Return the keys of all visible rows, by model, read without any filter."""
    return {
        model: set(model._base_manager.values_list("pk", flat=True)) for model in limited_models()
    }


def _fill(model: Any, known: dict[Any, Any], before: Pks) -> Any:
    """Return a row of this model that was created now; create one if there is none."""
    if model in known:
        return known[model]
    new = model._base_manager.exclude(pk__in=list(before[model]))
    if any(one.name == "workspace" for one in model._meta.concrete_fields):
        new = new.exclude(workspace=None)
    found = new.first()
    if found is None:
        values = {
            field.attname: _value(field, known, before)
            for field in model._meta.concrete_fields
            if not _may_stay(field)
        }
        found = model._base_manager.create(**values)
    known[model] = found
    return found


def _may_stay(field: Any) -> bool:
    if isinstance(field, models.ForeignKey) and field.related_model is Workspace:
        return False
    return bool(field.primary_key and not field.is_relation) or field.null or field.has_default()


def _value(field: Any, known: dict[Any, Any], before: Pks) -> Any:
    declared = dict(getattr(field.model, "rows_belong_to", ()))
    if field.name in declared:
        return _fill(apps.get_model(declared[field.name]), known, before).pk
    if isinstance(field, models.ForeignKey):
        if field.related_model in before:
            return _fill(field.related_model, known, before).pk
        return field.related_model._base_manager.first().pk
    if field.choices:
        return field.choices[0][0]
    found = (made() for kind, made in MADE.items() if isinstance(field, kind))
    return next(found, uuid7().hex[: field.max_length or 32])
