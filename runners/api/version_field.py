"""Which version a new execution runs: its origin's, the latest, or one by its number."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

MAX_VERSION = 2**31 - 1


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": ["pinned", "latest"]},
            {"type": "integer", "minimum": 1, "maximum": MAX_VERSION},
        ]
    }
)
class VersionField(serializers.Field[Any, Any, Any, Any]):
    """`pinned`, `latest`, or a version's number."""

    default_error_messages = {"version": 'Expected "pinned", "latest" or a number from 1 up.'}

    def to_internal_value(self, data: Any) -> str | int:
        """The word or the number; raises ValidationError."""
        number = isinstance(data, int) and not isinstance(data, bool) and 1 <= data <= MAX_VERSION
        if not number and data not in ("pinned", "latest"):
            self.fail("version")
        known: str | int = data
        return known

    def to_representation(self, value: Any) -> Any:
        """Itself."""
        return value
