"""Dead letters: list, read, requeue, discard; and a live run quarantined by hand."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from dlq.api.entry_shapes import (
    DeadLetterQuery,
    DeadLetterQueue,
    DeadLetterSummary,
    Discard,
    Quarantine,
    occurrences,
)
from dlq.models import DeadLetterEntry
from dlq.quarantine import quarantine
from dlq.requeue import requeue
from dlq.triage import discard
from executions.access import Action, obtain, visible
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import page
from runners.api.run_shapes import RunShape
from runners.models import Run

TAG = "DeadLetterQueue"
LARGE = ("original_inputs", "original_config")
FILTERS = {
    "resolution": "resolution",
    "failureType": "failure_type",
    "workflowId": "workflow_id",
    "executionId": "execution_id",
    "fingerprint": "fingerprint",
    "quarantinedAfter": "quarantined_at__gt",
    "quarantinedBefore": "quarantined_at__lt",
}


def entries() -> QuerySet[DeadLetterEntry]:
    """Dead letters with who reviewed them."""
    return DeadLetterEntry.objects.select_related("reviewed_by")


def shown(entry: DeadLetterEntry) -> Response:
    """One dead letter in full."""
    return Response(DeadLetterQueue(entry, context={"occurrences": occurrences([entry])}).data)


class Entries(Endpoint):
    """All dead letters."""

    @operation(
        "listDeadLetterQueue",
        TAG,
        {200: DeadLetterSummary(many=True)},
        parameters=[DeadLetterQuery],
    )
    def get(self, request: Request) -> Response:
        """The dead letters of your workspaces, newest first, without inputs and config."""
        query = self.query(DeadLetterQuery)
        filters = {path: query[name] for name, path in FILTERS.items() if name in query}
        rows = visible(self.user, entries()).filter(**filters).defer(*LARGE)
        found = page(request, rows, query, order=("quarantined_at", "id"))
        context = {"occurrences": occurrences(found.rows)}
        shape = DeadLetterSummary(found.rows, many=True, context=context)
        return Response(shape.data, headers=found.headers)


class OneEntry(Endpoint):
    """One dead letter."""

    @operation("getDeadLetterEntry", TAG, {200: DeadLetterQueue}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One dead letter in full."""
        entry, _ = obtain(self.user, entries(), id, Action.VIEW)
        return shown(entry)


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
        """A new run of the step in the same execution; the body is merged into its inputs."""
        obtain(self.user, entries().defer(*LARGE), id, Action.TRIAGE)
        overrides = request.data
        if not isinstance(overrides, dict):
            raise ValidationError("Expected an object: input overrides.", code="object")
        run = requeue(id, actor=self.actor, overrides=overrides or None)
        return Response(RunShape(run).data)


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
        obtain(self.user, entries().defer(*LARGE), id, Action.TRIAGE)
        return shown(discard(id, actor=self.actor, notes=self.body(Discard)["notes"]))


class QuarantineRun(Endpoint):
    """Take a live run out."""

    @operation(
        "quarantineRun", "Run", {200: DeadLetterQueue}, request=Quarantine, errors=[403, 404, 409]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """A live run goes to the dead-letter queue by hand (failureType MANUAL)."""
        rows = Run.objects.select_related("execution").only(
            "id", "execution", "execution__workspace_id"
        )
        obtain(self.user, rows, id, Action.TRIAGE)
        reason = self.body(Quarantine)["reason"]
        return shown(quarantine(id, actor=self.actor, reason=reason))
