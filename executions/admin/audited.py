"""Forms of the admin leave their line in the audit trail, with what each field was and is.

An admin that writes through functions that record (it overrides `save_model`, or `delete_model`)
is left alone: nothing is told twice.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.contrib.admin import ModelAdmin as DjangoModelAdmin
from django.db.models import Model, QuerySet
from django.forms import ModelChoiceField, ModelMultipleChoiceField
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from executions.access import workspace_id_of
from executions.access.actor import Actor, record
from executions.audit.changes import told
from executions.audit.subjects import name_of

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class AuditedAdmin(ModelAdmin):
    """Records what is added, changed and deleted through its forms and lists."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """As Django's, and one line for the object and each row of an inline form."""
        super().save_related(request, form, formsets, change)
        if not _overrides(self, "save_model"):
            actor = Actor.of_request(request)
            if not change:
                note(actor, "create", form.instance, after=_values(form, form.cleaned_data))
            elif form.changed_data:
                before = {name: _initial(form, name) for name in form.changed_data}
                after = _values(form, form.cleaned_data)
                note(actor, "update", form.instance, before=_values(form, before), after=after)
        for formset in formsets:
            _note_inlines(Actor.of_request(request), formset)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """As Django's, recorded."""
        note(Actor.of_request(request), "delete", obj, before=_row(obj))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """As Django's, each row recorded."""
        for obj in queryset:
            note(Actor.of_request(request), "delete", obj, before=_row(obj))
        super().delete_queryset(request, queryset)


def note(
    actor: Actor,
    verb: str,
    row: Model,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """One line: somebody did `verb` to a row by hand."""
    name = name_of(type(row))
    record(
        actor,
        f"{_WORD.sub('_', name).lower()}.{verb}",
        workspace_id=_workspace(row),
        object_type=name,
        object_id=row.pk,
        before=None if before is None else told(before),
        after=None if after is None else told(after),
    )


def _overrides(admin: ModelAdmin, method: str) -> bool:
    ours: Any = getattr(type(admin), method)
    return ours not in (getattr(ModelAdmin, method), getattr(DjangoModelAdmin, method))


def _values(form: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that were changed, as they are told: other rows by what they are called."""
    return {name: _called(values.get(name)) for name in form.changed_data}


def _initial(form: Any, name: str) -> Any:
    """What the field was; of a reference the row itself, which the form knows by its key."""
    value, field = form.initial.get(name), form.fields.get(name)
    single = isinstance(field, ModelChoiceField) and not isinstance(field, ModelMultipleChoiceField)
    if single and value is not None:
        return field.queryset.filter(pk=value).first() or value
    return value


def _called(value: Any) -> Any:
    if isinstance(value, bytes | memoryview):
        return f"({len(value):,} bytes)"
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        return [_called(inner) for inner in value]
    return str(value) if isinstance(value, Model | UUID) else value


def _row(row: Model) -> dict[str, Any]:
    return {field.name: _called(field.value_from_object(row)) for field in row._meta.fields}


def _workspace(row: Model) -> UUID | None:
    try:
        return workspace_id_of(row)
    except TypeError:
        return None


def _note_inlines(actor: Actor, formset: Any) -> None:
    for row in formset.new_objects:
        note(actor, "create", row, after=_row(row))
    for row, fields in formset.changed_objects:
        note(actor, "update", row, after={name: _called(getattr(row, name)) for name in fields})
    for row in formset.deleted_objects:
        note(actor, "delete", row, before=_row(row))
