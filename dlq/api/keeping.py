"""Taking a discard back, and keeping dead letters past their time."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from dlq.api.entries import LARGE, TAG, entries, shown
from dlq.api.entry_shapes import DeadLetterQueue, Why
from dlq.resolve.operations import PIN, RESTORE, UNPIN
from executions.access.operation import Operation
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint


def _described(name: str) -> Callable[[Any], Any]:
    return operation(
        f"{name}DeadLetterEntry",
        TAG,
        {200: DeadLetterQueue},
        request=Why,
        errors=[403, 404, 409],
    )


class _Kept(Endpoint):
    def _done(self, operation: Operation, pk: UUID) -> Response:
        entry, may = self.perform(operation, entries().defer(*LARGE), pk, Why)
        return shown(entry, may)


class RestoreEntry(_Kept):
    """Take a discard back."""

    @_described("restore")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """A discarded dead letter is open again, as long as it is kept."""
        return self._done(RESTORE, id)


class PinEntry(_Kept):
    """Keep it."""

    @_described("pin")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Retention never deletes a pinned dead letter; what is pinned already stays so."""
        return self._done(PIN, id)


class UnpinEntry(_Kept):
    """Keep it no longer than others."""

    @_described("unpin")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Retention deletes it when its time is over, as any other."""
        return self._done(UNPIN, id)
