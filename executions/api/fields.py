"""Fields that accept only their own JSON type, and bodies that accept only known keys."""

from collections.abc import Mapping
from copy import copy
from datetime import UTC, datetime
from functools import cache
from typing import Any, ClassVar
from uuid import UUID

from django.db import models
from rest_framework import ISO_8601, serializers

from executions.access import Powers
from executions.access.people import key_field
from executions.states import Permission

# Serializers declare fields in snake_case, as usual in Python, and use camelCase in JSON.
#
# class WorkflowShape(CamelCaseSerializer):
#     created_at = serializers.DateTimeField()      # "createdAt" in JSON, in errors, in OpenAPI
#     workspaceId = serializers.UUIDField(source="workspace.pk")       # another name: as written


Field = serializers.Field[Any, Any, Any, Any]


class CamelCase:
    """Renames a serializer's fields to camel case, except those in `as_declared`.

    List this class before the serializer among the base classes.
    """

    as_declared: ClassVar[frozenset[str]] = frozenset()

    def get_fields(self) -> dict[str, Field]:
        """Return the fields by their names in JSON."""
        declared: dict[str, Field] = super().get_fields()  # type: ignore[misc]
        return dict(
            (name, _pin(field)) if name in self.as_declared else _renamed(name, field)
            for name, field in declared.items()
        )


class CamelCaseSerializer(CamelCase, serializers.Serializer[Any]):
    """A serializer whose fields are declared in snake case and sent in camel case."""


@cache
def camel_case(name: str) -> str:
    """Return a name in camel case: `createdAt` for `created_at`."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _renamed(name: str, field: Field) -> tuple[str, Field]:
    """Return the field's name in JSON, and the field, which keeps its source or its method."""
    _pin(field)
    sent_as = camel_case(name)
    if isinstance(field, serializers.SerializerMethodField):
        field.method_name = field.method_name or f"get_{name}"
    elif field.source is None and sent_as != name:
        field.source = name
    return sent_as, field


def _pin(field: Field) -> Field:
    """Set the arguments that a project's settings would otherwise decide; return the field."""
    pinned = next((named for kind, named in _PINNED if isinstance(field, kind)), None)
    if pinned:
        # The field's own arguments take precedence.
        vars(field).update({name: value for name, value in pinned if name not in vars(field)})
    elif isinstance(field, serializers.ListField | serializers.DictField):
        _pin(field.child)
    return field


_TEXTS = (("format", ISO_8601), ("input_formats", [ISO_8601]))
_PINNED: tuple[tuple[Any, tuple[tuple[str, Any], ...]], ...] = (
    (serializers.DateTimeField, (*_TEXTS, ("timezone", UTC))),
    (serializers.DateField | serializers.TimeField, _TEXTS),
    (serializers.DurationField, (("format", "django"),)),
    (serializers.DecimalField, (("coerce_to_string", True),)),
    (serializers.BigIntegerField, (("coerce_to_string", False),)),
)


def time_text(value: datetime) -> str:
    """Return a time as serializers send it: ISO 8601 in UTC."""
    field = _pin(serializers.DateTimeField())
    return str(field.to_representation(value))


# Replaces a value that the caller may not see.
HIDDEN = {"$hidden": "Seeing this needs the permission view_payloads."}


class Body(CamelCaseSerializer):
    """A request's body or query, which rejects unknown names; one error lists all problems."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the validated values. Raises ValidationError, also for unknown names."""
        if not isinstance(data, Mapping):
            return super().to_internal_value(data)
        problems: dict[str, Any] = {
            str(name): serializers.ErrorDetail(self._unknown(), code="unknown_field")
            for name in data
            if name not in self.fields
        }
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            problems |= dict(error.detail)  # type: ignore[arg-type]
        if problems:
            raise serializers.ValidationError({k: _listed(v) for k, v in problems.items()})
        return values

    def _unknown(self) -> str:
        known = ", ".join(name for name, field in self.fields.items() if not field.read_only)
        return f"Unknown field; known fields: {known or 'none'}."


class Flat(CamelCaseSerializer):
    """A serializer without nested lists or serializers, whose plain fields are created once.

    DRF would create them for each response, which takes longer than rendering the response. Each
    response gets its own copies, because a field refers to its serializer.
    """

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return copies of the fields by name, not yet bound to a serializer."""
        return {name: copy(field) for name, field in _made(type(self)).items()}


@cache
def _made(shape: type[Flat]) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    return super(Flat, shape()).get_fields()


class Text(serializers.CharField):
    """A JSON string, without conversion of other types."""

    def to_internal_value(self, data: Any) -> str:
        """Return the string. Raises ValidationError for another type or an invalid string."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class Id(serializers.UUIDField):
    """A UUID as a JSON string, not a number."""

    def to_internal_value(self, data: Any) -> UUID:
        """Return the UUID. Raises ValidationError for another type or an invalid string."""
        if not isinstance(data, str | UUID):
            self.fail("invalid", value=data)
        return UUID(str(super().to_internal_value(data)))


class Flag(serializers.BooleanField):
    """A JSON boolean, not "yes" or 1."""

    def to_internal_value(self, data: Any) -> bool:
        """Return the boolean. Raises ValidationError for another type."""
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class Whole(serializers.IntegerField):
    """A JSON integer, not "5" or true."""

    def to_internal_value(self, data: Any) -> int:
        """Return the number. Raises ValidationError for another type."""
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return data


LARGEST_KEY = {True: 2**63 - 1, False: 2**31 - 1}


def shown_user_id(**options: Any) -> Field:
    """Return a field that shows an account's key, in the type of the project's account keys."""
    key = key_field()
    if isinstance(key, models.IntegerField):
        return serializers.IntegerField(**options)
    if isinstance(key, models.UUIDField):
        return serializers.UUIDField(**options)
    return serializers.CharField(**options)


def asked_user_id(*, strict: bool = False, **options: Any) -> Field:
    """Return the field for an account's key in a request.

    If `strict`, a number must be a JSON integer.
    """
    key = key_field()
    if isinstance(key, models.IntegerField):
        most = LARGEST_KEY[isinstance(key, models.BigIntegerField | models.BigAutoField)]
        field = Whole if strict else serializers.IntegerField
        return field(min_value=1, max_value=most, **options)
    if isinstance(key, models.UUIDField):
        return Id(**options)
    return Text(max_length=254, **options)


class Json(serializers.JSONField):
    """Any JSON value; the parser has checked that it can be stored."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the value unchanged."""
        return data


class Payload(Json):
    """Business data: inputs, outputs or variables.

    Users with the permission view_payloads on the object (`may` in the serializer's context) see
    the data; other users get `HIDDEN` in its place.
    """

    def to_representation(self, value: Any) -> Any:
        """Return the value, or `HIDDEN` in its place."""
        may: Powers | None = self.context.get("may")
        if may is not None and may.allows(Permission.VIEW_PAYLOADS):
            return super().to_representation(value)
        return dict(HIDDEN)


class JsonObject(Json):
    """A JSON object."""

    default_error_messages = {"object": "Expected an object."}

    def to_internal_value(self, data: Any) -> Any:
        """Return the object unchanged. Raises ValidationError for another type."""
        if not isinstance(data, dict):
            self.fail("object")
        return data


def _listed(details: Any) -> Any:
    return details if isinstance(details, list | dict) else [details]
