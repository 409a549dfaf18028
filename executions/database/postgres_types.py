"""Indexes and fields of `django.contrib.postgres` in a project that does not install that app.

Since Django 6.0, these classes require the app in `INSTALLED_APPS`. Valkyr does not use the app's
lookups or templates. Migrations keep the names of Django's own classes.
"""

from typing import Any

from django.contrib.postgres import fields, indexes
from django.core.checks import CheckMessage
from django.db.models import Index

NOT_INSTALLED = "postgres.E005"


class _WithoutTheApp:
    """A mixin for classes that work if `django.contrib.postgres` is not installed."""

    def check(self, *args: Any, **named: Any) -> list[CheckMessage]:
        """Run Django's checks, except the check that requires the app."""
        found: list[CheckMessage] = super().check(*args, **named)  # type: ignore[misc]
        return [message for message in found if message.id != NOT_INSTALLED]


class _Index(_WithoutTheApp):
    """An index that equals one of Django's own indexes with the same deconstructed form."""

    deconstruct: Any

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Index):
            return bool(self.deconstruct() == other.deconstruct())
        return NotImplemented

    __hash__: Any = object.__hash__


class HashIndex(_Index, indexes.HashIndex):
    """A hash index, which serves only comparisons for equality."""

    def deconstruct(self) -> Any:
        """Return the deconstructed form of Django's own class."""
        _, arguments, named = super().deconstruct()
        return "django.contrib.postgres.indexes.HashIndex", arguments, named


class GinIndex(_Index, indexes.GinIndex):
    """A GIN index, for searching the contents of arrays or JSON documents."""

    def deconstruct(self) -> Any:
        """Return the deconstructed form of Django's own class."""
        _, arguments, named = super().deconstruct()
        return "django.contrib.postgres.indexes.GinIndex", arguments, named


class ArrayField(_WithoutTheApp, fields.ArrayField):  # type: ignore[type-arg]
    """An array field that works if `django.contrib.postgres` is not installed."""

    def deconstruct(self) -> Any:
        """Return the deconstructed form of Django's own class."""
        name, _, arguments, named = super().deconstruct()
        return name, "django.contrib.postgres.fields.ArrayField", arguments, named
