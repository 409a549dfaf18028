"""The fields of an annotated value, by their names in Python and in JSON."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from pydantic import BaseModel
from typing_extensions import is_typeddict

_PLAIN = (str, int, float, bool, NoneType)


@dataclass(frozen=True, slots=True)
class ShapeMember:
    """One field: its key in JSON, its annotation, and its default if it is `optional`."""

    key: str
    shape: Any = Any
    optional: bool = False
    default: Any = None


def member(shape: Any, name: str, *, by_key: bool = False) -> ShapeMember | None:
    """Return the field with this name, or None if there is no such field.

    If the annotation's fields are unknown, every name is a field of type Any. With `by_key`, the
    name is the JSON key; otherwise, it may also be another attribute of the class.
    """
    fields = described(_bare(shape))
    if fields is None:
        return ShapeMember(name)
    if by_key:
        return next((one for one in fields.values() if one.key == name), None)
    return fields.get(name) or (None if not hasattr(_bare(shape), name) else ShapeMember(name))


def names(shape: Any) -> list[str]:
    """Return the names of an annotation's fields; [] if the annotation has no known fields."""
    return list(described(_bare(shape)) or ())


def _bare(shape: Any) -> Any:
    """Return an annotation without `Annotated` and without `| None`."""
    if get_origin(shape) is Annotated:
        return _bare(get_args(shape)[0])
    if get_origin(shape) in (Union, UnionType):
        parts = [one for one in get_args(shape) if one is not NoneType]
        return _bare(parts[0]) if len(parts) == 1 else Any
    return shape


@lru_cache(maxsize=1024)
def described(shape: Any) -> dict[str, ShapeMember] | None:
    """Return the fields of a model, dataclass or TypedDict, keyed by name; None for other types."""
    if not isinstance(shape, type) or shape in _PLAIN:
        return None
    if issubclass(shape, BaseModel):
        return dict(_of_model(shape))
    if dataclasses.is_dataclass(shape):
        return dict(_of_dataclass(shape))
    if is_typeddict(shape):
        return {name: ShapeMember(name, hint) for name, hint in get_type_hints(shape).items()}
    return None


def _of_model(model: type[BaseModel]) -> Iterator[tuple[str, ShapeMember]]:
    for name, one in model.model_fields.items():
        key = one.serialization_alias or one.alias or name
        takes_data = one.default_factory_takes_validated_data
        given = (
            one.get_default()
            if takes_data
            else one.get_default(call_default_factory=True, validated_data={})
        )
        yield (
            name,
            ShapeMember(
                key, one.annotation, not one.is_required(), None if one.is_required() else given
            ),
        )
    for name, computed in model.model_computed_fields.items():
        yield name, ShapeMember(computed.alias or name, computed.return_type)


def _of_dataclass(shape: Any) -> Iterator[tuple[str, ShapeMember]]:
    hints = get_type_hints(shape)
    for one in dataclasses.fields(shape):
        if one.default is not dataclasses.MISSING:
            yield one.name, ShapeMember(one.name, hints[one.name], True, one.default)
        elif one.default_factory is not dataclasses.MISSING:
            yield one.name, ShapeMember(one.name, hints[one.name], True, one.default_factory())
        else:
            yield one.name, ShapeMember(one.name, hints[one.name])


def plain(value: Any) -> Any:  # noqa: PLR0911 - one a kind
    """Convert a value to JSON types; a dataclass's fields and other types remain unchanged."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Decimal | UUID):
        return str(value)
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value
