"""Columns of payloads: sealed when a row is saved, opened when an attribute is read.

A model with such columns names the workspace of a row (`sealed_workspace`) and the place to which a
column's envelope is bound (`sealed_place`). Rows read by `values` and statements of `sql/` hold
envelopes: open these with `executions.sealing.payloads`.
"""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.query_utils import DeferredAttribute

from executions import ports

if TYPE_CHECKING:
    Column = models.Field[Any, Any]
    PlainText = models.TextField[Any, Any]
    ShortText = models.CharField[Any, Any]
else:
    Column, PlainText, ShortText = object, models.TextField, models.CharField


PLAIN = {"text": "TextField", "blank": "CharField"}


class SealedAttribute(DeferredAttribute):
    """The attribute of a sealed column, opened at its first use."""

    field: "SealedColumnMixin"

    def __get__(self, instance: Any, cls: type[Any] | None = None) -> Any:
        """Return the opened value. Raises SealBroken."""
        value = super().__get__(instance, cls)
        if instance is None or not value:
            return value
        opened = ports.open_payload(instance, self.field.attname, self.field.form, value)
        if opened is not value:
            instance.__dict__[self.field.attname] = opened
        return opened

    def __set__(self, instance: Any, value: Any) -> None:
        """Set the value; without this method, a stored value would hide `__get__`."""
        instance.__dict__[self.field.attname] = value


class SealedColumnMixin(Column):
    """A column that holds envelopes in a workspace that seals its payloads.

    `form` says how a value is sealed. `json` and `text` are sealed as a whole, `each` seals every
    value of an object, and `lines` seals a list of lines together. `facts` seals only the payloads
    among an object's values. `blank` stores an empty string instead of the value.
    """

    descriptor_class = SealedAttribute
    form = "json"

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        """Return the value to store, sealed if the row's workspace seals its payloads."""
        value = super().pre_save(model_instance, add)
        if value is None or value == "" or hasattr(value, "resolve_expression"):
            return value
        return ports.seal_payload(model_instance, self.attname, self.form, value)

    def deconstruct(self) -> Any:
        """Return the plain field: sealing does not change the column."""
        name, _, args, kwargs = super().deconstruct()
        return name, f"django.db.models.{PLAIN.get(self.form, 'JSONField')}", args, kwargs


class SealedJSON(SealedColumnMixin, models.JSONField):
    """A JSON column, sealed as a whole."""


class SealedObject(SealedColumnMixin, models.JSONField):
    """A JSON object whose values are sealed separately."""

    form = "each"


class SealedLines(SealedColumnMixin, models.JSONField):
    """A JSON list of lines, sealed together; SQL may append to it."""

    form = "lines"


class SealedFacts(SealedColumnMixin, models.JSONField):
    """The facts of a wait, of which only the payloads are sealed (`sealing.payloads.PRIVATE`).

    SQL reads the other facts.
    """

    form = "facts"


class SealedText(SealedColumnMixin, PlainText):
    """A text column, sealed as a whole."""

    form = "text"


class BlankedText(SealedColumnMixin, ShortText):
    """A text column whose values SQL compares and many rows share; empty if payloads are sealed."""

    form = "blank"
