"""Stored content that a step writes, reads and passes on.

Templates pass on references to stored content, so an input can contain a reference. Only inputs of
the type `StoredContent` may contain one, because a module would mistake a reference in another
input for a value.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, BinaryIO

from executions.definition.templates import TemplateError
from executions.payload_store import reading
from executions.payload_store.contents import Contents
from executions.payload_store.reading import too_large
from executions.payload_store.references import is_content
from executions.payloads import StoredReference, references_in
from runners.modules.base import Module, Result
from runners.modules.stored_content import marked, stored_inputs
from runners.segment.context import SegmentContext
from runners.segment.inputs import Prepared
from runners.segment.step_context import Context
from runners.segment.stored_results import release_connection


class StepContents:
    """The stored content of a step. A thread holds no connection while it waits for the store."""

    def __init__(self, context: SegmentContext) -> None:
        self._context = context

    def store(self, parts: Iterable[bytes], media_type: str) -> StoredReference:
        """Write content to the store, and return a reference to it."""
        try:
            return self._contents().store(_released(parts), media_type)
        finally:
            release_connection()

    @contextmanager
    def open(self, reference: dict[str, Any]) -> Iterator[BinaryIO]:
        """Open stored content for reading."""
        with self._contents().open(reference) as file:
            release_connection()
            yield file

    def _contents(self) -> Contents:
        context = self._context
        return Contents(context.version.workspace_id, context.execution_id, context.sealer.key)


def _released(parts: Iterable[bytes]) -> Iterator[bytes]:
    release_connection()
    yield from parts


def passed_to(module: Module[Any], prepared: Prepared) -> list[dict[str, Any]]:
    """Return the references in a step's inputs.

    Raises TemplateError for a reference in an input that does not accept one.
    """
    if not prepared.refers or not isinstance(prepared.value, dict):
        return []
    taken = stored_inputs(module.Inputs)
    for name, value in prepared.value.items():
        found = None if name in taken else next(references_in(value), None)
        if found is not None:
            takes = ", ".join(taken) or "none"
            raise TemplateError(
                f"with.{name} refers to {_kind(found)}, which {module.type} does not read there "
                f"(inputs that take one: {takes}). {_advice(found)}"
            )
    return list(references_in(prepared.value))


def _kind(found: dict[str, Any]) -> str:
    if is_content(found):
        return "stored content"
    return f"a stored value of {found.get('bytes', 0):,} bytes, too large to be loaded"


def _advice(found: dict[str, Any]) -> str:
    if is_content(found):
        return "Pass it to a step that reads it, such as file.write or data.csv_parse"
    return str(too_large(reading.size_of(found)))


def kept_in(result: Result, context: Context, passed: list[dict[str, Any]]) -> Result:
    """Return the result with trusted references to content that the step stored or received.

    Copies of these references, such as those made by pydantic, are replaced.
    """
    known = [*passed, *context.stored]
    if not known:
        return result
    return replace(
        result, outputs=marked(result.outputs, known), variables=marked(result.variables, known)
    )
