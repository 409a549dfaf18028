"""Serializers whose fields are declared in snake_case, as Python has them, and sent in camelCase.

class WorkflowShape(CamelCaseSerializer):
    created_at = serializers.DateTimeField()      # "createdAt" in JSON, in errors, in OpenAPI
    workspaceId = serializers.UUIDField(source="workspace.pk")       # another name: as written
"""

from functools import cache
from typing import Any, ClassVar

from rest_framework import serializers

Field = serializers.Field[Any, Any, Any, Any]


class CamelCase:
    """Mix in before a serializer class: renames its fields, except those `as_declared`."""

    as_declared: ClassVar[frozenset[str]] = frozenset()

    def get_fields(self) -> dict[str, Field]:
        """Return the fields by their names in JSON."""
        declared: dict[str, Field] = super().get_fields()  # type: ignore[misc]
        return dict(
            (name, field) if name in self.as_declared else _renamed(name, field)
            for name, field in declared.items()
        )


class CamelCaseSerializer(CamelCase, serializers.Serializer[Any]):
    """A serializer of plain fields."""


@cache
def camel_case(name: str) -> str:
    """Return `created_at` as `createdAt`."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _renamed(name: str, field: Field) -> tuple[str, Field]:
    """Return the name in JSON and the field, which reads and writes the attribute `name`."""
    sent_as = camel_case(name)
    if isinstance(field, serializers.SerializerMethodField):
        field.method_name = field.method_name or f"get_{name}"
    elif field.source is None and sent_as != name:
        field.source = name
    return sent_as, field
