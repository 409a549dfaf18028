"""What operators do with dead letters: requeue, fix, skip, discard one or many."""

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from dlq.api.entries import LARGE, TAG, entries, shown
from dlq.api.entry_shapes import DeadLetterQueue, Discard, DiscardMany, FixBody, SkipBody
from dlq.models import DeadLetterEntry
from dlq.resolve.fix import fix
from dlq.resolve.requeue import requeue
from dlq.resolve.skip import skip
from dlq.resolve.triage import discard
from executions.access import obtain
from executions.api.bulk import ManyDone, each
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.states import Permission
from runners.api.run_shapes import RunShape
from runners.time_travel.fork_permissions import check_repair


class Requeue(Endpoint):
    """Try again."""

    @operation(
        "requeueDeadLetterEntry",
        TAG,
        {200: RunShape},
        request=OpenApiTypes.OBJECT,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """A new run of the step in the same execution; the body is merged into its inputs.

        Other inputs after an approval was given need *author* as well.
        """
        overrides = request.data
        needed = Permission.REDRIVE_CHANGED if overrides else Permission.REDRIVE
        entry, may = obtain(self.user, entries().defer(*LARGE), id, needed)
        if not isinstance(overrides, dict):
            raise ValidationError("Expected an object: input overrides.", code="object")
        if overrides:
            check_repair(may, entry.execution_id)
        run = requeue(id, actor=self.actor, overrides=overrides or None)
        return Response(RunShape(run, context={"may": may}).data)


class Fix(Endpoint):
    """Give the result by hand."""

    @operation("fixDeadLetterEntry", TAG, {200: RunShape}, request=FixBody, errors=[403, 404, 409])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """The step is done with these outputs, without being executed; its execution goes on.

        After an approval was given this needs *author* as well. An approval itself is not given by
        hand: requeue it, and it is asked again.
        """
        entry, may = obtain(self.user, entries().defer(*LARGE), id, Permission.REDRIVE_CHANGED)
        given = self.body(FixBody)
        check_repair(may, entry.execution_id)
        run = fix(
            id,
            given["outputs"],
            outcome=given.get("outcome"),
            actor=self.actor,
            notes=given["notes"],
        )
        return Response(RunShape(run, context={"may": may}).data)


class Skip(Endpoint):
    """Go on without the step."""

    @operation(
        "skipDeadLetterEntry", TAG, {200: RunShape}, request=SkipBody, errors=[403, 404, 409]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """The step is recorded as skipped, and so is what depends on it alone."""
        _, may = obtain(self.user, entries().defer(*LARGE), id, Permission.REDRIVE_CHANGED)
        run = skip(id, actor=self.actor, reason=self.body(SkipBody)["notes"])
        return Response(RunShape(run, context={"may": may}).data)


class DiscardEntry(Endpoint):
    """Give up."""

    @operation(
        "discardDeadLetterEntry",
        TAG,
        {200: DeadLetterQueue},
        request=Discard,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Resolve a dead letter as given up."""
        _, may = obtain(self.user, entries().defer(*LARGE), id, Permission.DISCARD)
        return shown(discard(id, actor=self.actor, notes=self.body(Discard)["notes"]), may)


class DiscardEntries(Endpoint):
    """Give up many."""

    @operation("discardDeadLetterEntries", TAG, {200: ManyDone}, request=DiscardMany)
    def post(self, request: Request) -> Response:
        """Resolve dead letters as given up; one that is resolved is refused and stops no other."""
        given = self.body(DiscardMany)
        actor = self.actor

        def act(pk: UUID) -> Any:
            return discard(pk, actor=actor, notes=given["notes"])

        rows = DeadLetterEntry.objects.all()
        return each(self.user, rows, given["ids"], Permission.DISCARD, act)
