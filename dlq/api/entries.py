"""Dead letters: list, read; and a live run quarantined by hand."""

from uuid import UUID

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from dlq.api.entry_query import DeadLetterQuery, passing, power
from dlq.api.entry_shapes import (
    DeadLetterQueue,
    DeadLetterSummary,
    Quarantine,
    occurrences,
)
from dlq.intake.quarantine import quarantine
from dlq.models import DeadLetterEntry
from executions.access import Action, Powers, obtain, visible
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import page
from runners.models import Run

TAG = "DeadLetterQueue"
LARGE = ("original_inputs", "original_config")


def entries() -> QuerySet[DeadLetterEntry]:
    """Dead letters with who reviewed them."""
    return DeadLetterEntry.objects.select_related("reviewed_by")


def shown(entry: DeadLetterEntry, may: Powers) -> Response:
    """One dead letter in full."""
    context = {"occurrences": occurrences([entry]), "may": may}
    return Response(DeadLetterQueue(entry, context=context).data)


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
        rows = passing(visible(self.user, entries(), power(query)), query).defer(*LARGE)
        found = page(request, rows, query, order=("quarantined_at", "id"))
        context = {"occurrences": occurrences(found.rows)}
        shape = DeadLetterSummary(found.rows, many=True, context=context)
        return Response(shape.data, headers=found.headers)


class OneEntry(Endpoint):
    """One dead letter."""

    @operation("getDeadLetterEntry", TAG, {200: DeadLetterQueue}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One dead letter in full."""
        entry, may = obtain(self.user, entries(), id, Action.VIEW)
        return shown(entry, may)


class QuarantineRun(Endpoint):
    """Take a live run out."""

    @operation(
        "quarantineRun", "Run", {200: DeadLetterQueue}, request=Quarantine, errors=[403, 404, 409]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """A live run goes to the dead-letter queue by hand (failureType MANUAL)."""
        rows = Run.objects.select_related("execution").only(
            "id", "execution", "execution__workspace_id", "execution__workflow_id"
        )
        _, may = obtain(self.user, rows, id, Action.OPERATE)
        reason = self.body(Quarantine)["reason"]
        return shown(quarantine(id, actor=self.actor, reason=reason), may)
