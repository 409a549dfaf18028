"""Content in the payload store, which modules pass on as references in inputs and outputs."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Annotated, Any, BinaryIO, Protocol, get_args

from pydantic import AfterValidator, BaseModel, WithJsonSchema

from executions.payload_store.references import CONTENT, is_content
from executions.payloads import STORED, StoredReference, is_reference

PART = 1024 * 1024


def _checked(value: dict[str, Any]) -> dict[str, Any]:
    if not is_content(value):
        raise ValueError("expected stored content, as a step returns it")
    return value


_CHECK = AfterValidator(_checked)
# The type of an input that accepts a stored content.
StoredContent = Annotated[
    dict[str, Any],
    _CHECK,
    WithJsonSchema(
        {
            "type": "object",
            "title": "StoredContent",
            "required": [STORED],
            "properties": {STORED: {"type": "string"}, "type": {"const": CONTENT}},
        }
    ),
]


class _Passes:
    """Marks an input that a module passes on and does not read."""


_PASSES = _Passes()
# The type of an input that may be a reference to any stored value or content.
PassedOn = Annotated[Any, _PASSES]


class ContentStore(Protocol):
    """The store for the content that a step writes and reads."""

    def store(self, parts: Iterable[bytes], media_type: str) -> StoredReference:
        """Write content to the store, and return a reference to it."""

    def open(self, reference: dict[str, Any]) -> AbstractContextManager[BinaryIO]:
        """Open stored content for reading."""


@lru_cache(maxsize=256)
def stored_inputs(inputs: type[BaseModel]) -> tuple[str, ...]:
    """Return the keys of `with` whose type contains `StoredContent` or `PassedOn`."""
    fields = inputs.model_fields.items()
    return tuple(
        field.alias or name
        for name, field in fields
        if _takes((field.annotation, *field.metadata), {inputs})
    )


def _takes(kinds: Iterable[Any], seen: set[Any]) -> bool:
    """Return whether one of these types is or contains `StoredContent` or `PassedOn`."""
    for kind in kinds:
        if kind is _CHECK or kind is _PASSES or _takes(get_args(kind), seen):
            return True
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in seen:
            seen.add(kind)
            fields = kind.model_fields.values()
            if any(_takes((field.annotation, *field.metadata), seen) for field in fields):
                return True
    return False


def marked(value: Any, known: list[dict[str, Any]]) -> Any:
    """Return the value; copies of known references in it are replaced with trusted references."""
    if is_reference(value):
        return StoredReference(value) if value in known else value
    if isinstance(value, dict):
        return {name: marked(item, known) for name, item in value.items()}
    return [marked(item, known) for item in value] if isinstance(value, list) else value


def parts_of(content: BinaryIO | Iterable[bytes]) -> Iterator[bytes]:
    """Yield the content of an open file in parts, or the parts of an iterable."""
    read = getattr(content, "read", None)
    if read is None:
        yield from content
        return
    while part := read(PART):
        yield part
