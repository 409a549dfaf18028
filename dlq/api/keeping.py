"""Taking a discard back, and keeping dead letters past their time."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from dlq.api.entries import LARGE, TAG, entries, shown
from dlq.api.entry_shapes import DeadLetterQueue, Why
from dlq.models import DeadLetterEntry
from dlq.resolve import triage
from executions.access import Action, obtain
from executions.access.table import Power
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.states import Permission


def _described(name: str) -> Callable[[Any], Any]:
    return operation(
        f"{name}DeadLetterEntry",
        TAG,
        {200: DeadLetterQueue},
        request=Why,
        errors=[403, 404, 409],
    )


class _Kept(Endpoint):
    def _done(self, id: UUID, power: Power, act: Callable[..., DeadLetterEntry]) -> Response:  # noqa: A002
        _, may = obtain(self.user, entries().defer(*LARGE), id, power)
        return shown(act(id, actor=self.actor, reason=self.body(Why)["reason"]), may)


class RestoreEntry(_Kept):
    """Take a discard back."""

    @_described("restore")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """A discarded dead letter is open again, as long as it is kept."""
        return self._done(id, Permission.DISCARD, triage.restore)


class PinEntry(_Kept):
    """Keep it."""

    @_described("pin")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Retention never deletes a pinned dead letter; what is pinned already stays so."""
        return self._done(id, Action.OPERATE, triage.pin)


class UnpinEntry(_Kept):
    """Keep it no longer than others."""

    @_described("unpin")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Retention deletes it when its time is over, as any other."""
        return self._done(id, Action.OPERATE, triage.unpin)
