"""Operators' actions on dead letters: requeue, fix, skip, discard, restore and pin."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from dlq.api.entries import (
    LARGE,
    TAG,
    DeadLetterQueue,
    Discard,
    DiscardMany,
    FixBody,
    SkipBody,
    Why,
    entries,
    shown,
)
from dlq.models import DeadLetterEntry
from dlq.resolve.operations import DISCARD, FIX, PIN, REQUEUE, REQUEUE_WITH, RESTORE, SKIP, UNPIN
from executions.access import obtain
from executions.access.operation import Operation
from executions.api.bulk import ManyDone, each
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from runners.api.run_shapes import RunShape
from runners.repair.permissions import check_repair


class Requeue(Endpoint):
    """The endpoint that requeues a dead letter."""

    @operation(
        "requeueDeadLetterEntry",
        TAG,
        {200: RunShape},
        request=OpenApiTypes.OBJECT,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Start a new run of the step in its execution; the body is merged into the step's inputs.

        Changed inputs after an approval also require the permission *author*.
        """
        overrides = request.data
        requeue = REQUEUE_WITH if overrides else REQUEUE
        entry, may = obtain(self.user, entries().defer(*LARGE), id, requeue.needs)
        if not isinstance(overrides, dict):
            raise ValidationError("Expected an object with input overrides.", code="object")
        if overrides:
            check_repair(may, entry.execution_id)
        run = requeue.apply(id, self.actor, {"overrides": overrides})
        return Response(RunShape(run, context={"may": may}).data)


class Fix(Endpoint):
    """The endpoint that sets the failed step's result manually."""

    @operation("fixDeadLetterEntry", TAG, {200: RunShape}, request=FixBody, errors=[403, 404, 409])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Complete the step with these outputs, without executing it; the execution continues.

        After an approval, this also requires the permission *author*. The result of an approval
        itself cannot be set: requeue the approval to request it again.
        """
        entry, may = obtain(self.user, entries().defer(*LARGE), id, FIX.needs)
        given = self.body(FixBody)
        check_repair(may, entry.execution_id)
        run = FIX.apply(id, self.actor, given)
        return Response(RunShape(run, context={"may": may}).data)


class Skip(Endpoint):
    """The endpoint that skips the failed step."""

    @operation(
        "skipDeadLetterEntry", TAG, {200: RunShape}, request=SkipBody, errors=[403, 404, 409]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Skip the step and the rest of its task, and continue the execution.

        A task that follows a skipped task is skipped too, unless it has `join: any` (the default)
        and another edge into it is taken.
        """
        run, may = self.perform(SKIP, entries().defer(*LARGE), id, SkipBody)
        return Response(RunShape(run, context={"may": may}).data)


class DiscardEntry(Endpoint):
    """The endpoint that discards a dead letter."""

    @operation(
        "discardDeadLetterEntry",
        TAG,
        {200: DeadLetterQueue},
        request=Discard,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Discard a dead letter, and store the reason in its notes."""
        entry, may = self.perform(DISCARD, entries().defer(*LARGE), id, Discard)
        return shown(entry, may)


class DiscardEntries(Endpoint):
    """The endpoint that discards many dead letters."""

    @operation("discardDeadLetterEntries", TAG, {200: ManyDone}, request=DiscardMany)
    def post(self, request: Request) -> Response:
        """Discard dead letters. Those that are already resolved do not stop the others."""
        given = self.body(DiscardMany)
        return each(self.user, DeadLetterEntry.objects.all(), DISCARD, self.actor, given)


# Undo a discard, and pin dead letters.


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
    """The endpoint that restores a discarded dead letter."""

    @_described("restore")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Reopen a discarded dead letter that retention has not deleted."""
        return self._done(RESTORE, id)


class PinEntry(_Kept):
    """The endpoint that pins a dead letter."""

    @_described("pin")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Exclude a dead letter from retention. This has no effect if it is already pinned."""
        return self._done(PIN, id)


class UnpinEntry(_Kept):
    """The endpoint that unpins a dead letter."""

    @_described("unpin")
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Unpin a dead letter. Retention then applies to it again."""
        return self._done(UNPIN, id)
