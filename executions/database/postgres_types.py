"""Indexes and fields of `django.contrib.postgres` in a project that does not install that app.

Since Django 6.0 they ask for it among `INSTALLED_APPS`. What it does there (lookups, validators'
templates) is not used here. Migrations keep the names of Django's own classes.
"""

from typing import Any

from django.contrib.postgres import fields, indexes
from django.core.checks import CheckMessage
from django.db.models import Index

NOT_INSTALLED = "postgres.E005"


class _WithoutTheApp:
    """Does not ask for the app, and is Django's own class to migrations."""

    def check(self, *args: Any, **named: Any) -> list[CheckMessage]:
        """Its other mistakes."""
        found: list[CheckMessage] = super().check(*args, **named)  # type: ignore[misc]
        return [message for message in found if message.id != NOT_INSTALLED]


class _Index(_WithoutTheApp):
    """The same index as one of Django's own class, where migrations compare them."""

    deconstruct: Any

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Index):
            return bool(self.deconstruct() == other.deconstruct())
        return NotImplemented

    __hash__: Any = object.__hash__


class HashIndex(_Index, indexes.HashIndex):
    """For equality alone."""

    def deconstruct(self) -> Any:
        """As Django's own."""
        _, arguments, named = super().deconstruct()
        return "django.contrib.postgres.indexes.HashIndex", arguments, named


class GinIndex(_Index, indexes.GinIndex):
    """For what is in a document."""

    def deconstruct(self) -> Any:
        """As Django's own."""
        _, arguments, named = super().deconstruct()
        return "django.contrib.postgres.indexes.GinIndex", arguments, named


class ArrayField(_WithoutTheApp, fields.ArrayField):  # type: ignore[type-arg]
    """A list of values."""

    def deconstruct(self) -> Any:
        """As Django's own."""
        name, _, arguments, named = super().deconstruct()
        return name, "django.contrib.postgres.fields.ArrayField", arguments, named
