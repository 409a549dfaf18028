"""Dead letters over HTTP: list, read and reveal them; quarantine a live run."""

# ruff: noqa: N815 - the names are the JSON's
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from dlq.api.entry_query import DeadLetterQuery, in_time, passing, power

# ruff: noqa: N815 - the names are the JSON's
from dlq.browse import bounded_list
from dlq.browse.entry_reads import REVEALED_FIELDS
from dlq.intake.quarantine import quarantine
from dlq.models import DeadLetterEntry, FailureType, Resolution
from executions import replica
from executions.access import Action, Powers, obtain, visible
from executions.api import merged_lists
from executions.api.bulk import Many
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCase, CamelCaseSerializer, Json, Payload, Text
from executions.api.labels import LabelCountQuery, LabelCountsShape
from executions.api.paging import KeysetPage, end_of, narrowed, next_link, page, position
from executions.api.reveal import Reveal, RevealReason
from executions.labels.counting import counts
from runners.models import Run


class DeadLetterSummary(CamelCase, serializers.ModelSerializer[DeadLetterEntry]):
    """A dead letter in a list, without inputs and config."""

    run_id = serializers.UUIDField()
    execution_id = serializers.UUIDField()
    workflow_id = serializers.UUIDField()
    task_id = serializers.UUIDField()
    step_path = serializers.CharField()
    failure_reason = serializers.CharField()
    failure_type = serializers.ChoiceField(FailureType.choices)
    resolution = serializers.ChoiceField(Resolution.choices)
    occurrences = serializers.SerializerMethodField()
    quarantined_at = serializers.DateTimeField()
    resolved_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    reviewedBy = serializers.SerializerMethodField()
    requeued_run_id = serializers.UUIDField(allow_null=True)
    requeued_execution_id = serializers.UUIDField(allow_null=True)
    group_id = serializers.UUIDField()
    version = serializers.IntegerField(
        source="version_number", help_text="The number of the workflow's version that ran."
    )
    error_type = serializers.CharField(allow_blank=True)
    http_status = serializers.IntegerField(allow_null=True)
    follows = serializers.UUIDField(
        source="follows_id",
        allow_null=True,
        help_text="The previous dead letter of the same step, which was requeued.",
    )
    labels = serializers.SerializerMethodField()
    seen_at = serializers.DateTimeField(
        allow_null=True, help_text="When a user first opened its page."
    )

    class Meta:
        model = DeadLetterEntry
        fields = [
            "id", "run_id", "execution_id", "workflow_id", "task_id", "step_path", "failure_reason",
            "failure_type", "fingerprint", "occurrences", "quarantined_at", "expires_at",
            "resolution", "resolved_at", "reviewedBy", "requeued_run_id", "requeued_execution_id",
            "notes", "group_id", "version", "module", "error_type", "exception", "http_status",
            "target", "worker", "attempts", "redrives", "follows", "pinned", "labels", "seen_at",
        ]  # fmt: skip

    @extend_schema_field(serializers.DictField(child=serializers.CharField()))
    def get_labels(self, entry: DeadLetterEntry) -> dict[str, str]:
        """Return the values of the execution's labels, keyed by name."""
        return entry.labels or {}

    def get_occurrences(self, entry: DeadLetterEntry) -> int:
        """Return the number of dead letters in the workspace that have the same fingerprint."""
        counted: int = self.context["occurrences"].get((entry.workspace_id, entry.fingerprint), 1)
        return counted

    def get_reviewedBy(  # noqa: N802 - the JSON's name
        self, entry: DeadLetterEntry
    ) -> str | None:
        """Return the name of the user who resolved the dead letter; null if no user has."""
        return entry.reviewed_by.get_username() if entry.reviewed_by else None


class DeadLetterQueue(DeadLetterSummary):
    """A dead letter with all its fields."""

    original_inputs = Payload(allow_null=True)
    original_config = Payload(allow_null=True)

    class Meta(DeadLetterSummary.Meta):
        fields = [*DeadLetterSummary.Meta.fields, "original_inputs", "original_config"]


class Discard(Body):
    """The reason for discarding the dead letter, stored with it."""

    notes = Text(max_length=10_000)


class DiscardMany(Many):
    """The dead letters to discard, and the reason for discarding them."""

    notes = Text(max_length=10_000)


class SkipBody(Body):
    """The reason for skipping the dead letter's step, stored with the dead letter."""

    notes = Text(required=False, default="", allow_blank=True, max_length=10_000)


class Why(Body):
    """The reason for an operation, which the audit trail records."""

    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class FixBody(Body):
    """The result to record for the failed step."""

    outputs = Json(
        allow_null=True,
        help_text="The step's result; it must match the module's output schema.",
    )
    outcome = Text(
        required=False,
        max_length=100,
        help_text="The step's outcome; required for branching steps.",
    )
    notes = Text(required=False, default="", allow_blank=True, max_length=10_000)


class Quarantine(Body):
    """The reason for quarantining a live run."""

    reason = Text(max_length=2000)


def occurrences(entries: Iterable[DeadLetterEntry]) -> dict[tuple[UUID, str], int]:
    """Count dead letters per workspace and fingerprint of `entries`, in one query."""
    entries = list(entries)
    rows = (
        DeadLetterEntry.objects.filter(
            workspace_id__in={entry.workspace_id for entry in entries},
            fingerprint__in={entry.fingerprint for entry in entries},
        )
        .order_by()
        .values_list("workspace_id", "fingerprint")
        .annotate(n=Count("id"))
    )
    return {(workspace, fingerprint): n for workspace, fingerprint, n in rows}


TAG = "DeadLetterQueue"
LARGE = ("original_inputs", "original_config")


def entries() -> QuerySet[DeadLetterEntry]:
    """Return all dead letters, each with its reviewer."""
    return DeadLetterEntry.objects.select_related("reviewed_by")


def shown(entry: DeadLetterEntry, may: Powers) -> Response:
    """Return a response with all fields of a dead letter."""
    context = {"occurrences": occurrences([entry]), "may": may}
    return Response(DeadLetterQueue(entry, context=context).data)


class Entries(Endpoint):
    """The endpoint that lists dead letters."""

    @operation(
        "listDeadLetterQueue",
        TAG,
        {200: DeadLetterSummary(many=True)},
        parameters=[DeadLetterQuery],
    )
    def get(self, request: Request) -> Response:
        """List the dead letters of your workspaces, newest first, without inputs and config."""
        query = self.query(DeadLetterQuery)
        rows = passing(visible(self.user, entries(), power(query)), query).defer(*LARGE)
        if "label" in query:
            found = _labelled(request, rows, query)
        else:
            found = page(request, rows, query, order=("quarantined_at", "id"))
        context = {"occurrences": occurrences(found.rows)}
        shape = DeadLetterSummary(found.rows, many=True, context=context)
        return Response(shape.data, headers=found.headers)


def _labelled(
    request: Request, rows: QuerySet[DeadLetterEntry], query: dict[str, Any]
) -> KeysetPage:
    """Return one page of the dead letters that have the labels, in the order of their IDs.

    Raises ValidationError (422) if the search takes too long.
    """
    keyset, _ = position(rows, query)
    limit = query["limit"]

    def read() -> KeysetPage:
        after = keyset.rows(rows, query.get("cursor"))
        with in_time():
            ids = bounded_list.first(after, limit + 1, limit + 1).ids
        listed = list(keyset.rows(rows.filter(pk__in=ids[:limit]), None))
        more = ids[limit - 1] if len(ids) > limit else None
        merged_lists.note(keyset, listed, end_of(more), limit)
        return KeysetPage(listed, next_link(request, keyset, more))

    return replica.read(request, read)


class DeadLetterLabelQuery(LabelCountQuery):
    """The query parameters that select the dead letters to count for each value of a label."""

    resolution = serializers.ChoiceField(Resolution.choices, required=False)


COUNT_FILTERS = {
    "workflowId": "workflow_id",
    "resolution": "resolution",
    "createdAfter": "quarantined_at__gt",
    "createdBefore": "quarantined_at__lt",
}


class DeadLetterLabelCounts(Endpoint):
    """The endpoint that counts dead letters for each value of a label."""

    @operation(
        "countDeadLettersByLabel", TAG, {200: LabelCountsShape}, parameters=[DeadLetterLabelQuery]
    )
    def get(self, request: Request) -> Response:
        """Count matching dead letters by the value of a label, among the newest 10,000.

        `byState` counts them per resolution; `createdAfter` and `createdBefore` are compared with
        `quarantinedAt`. `values` has the 100 most frequent values.
        """
        query = self.query(DeadLetterLabelQuery)
        seen = visible(self.user, DeadLetterEntry.objects.all())
        rows = narrowed(seen, query, COUNT_FILTERS)
        found = replica.read(request, lambda: counts(rows, query["name"], "resolution"))
        return Response(LabelCountsShape(found).data)


class OneEntry(Endpoint):
    """The endpoint that returns one dead letter."""

    @operation("getDeadLetterEntry", TAG, {200: DeadLetterQueue}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one dead letter in full."""
        entry, may = obtain(self.user, entries(), id, Action.VIEW)
        return shown(entry, may)


class QuarantineRun(Endpoint):
    """The endpoint that quarantines a live run."""

    @operation(
        "quarantineRun", "Run", {200: DeadLetterQueue}, request=Quarantine, errors=[403, 404, 409]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Move a live run to the dead-letter queue manually (failureType MANUAL)."""
        rows = Run.objects.select_related("execution").only(
            "id", "execution", "execution__workspace_id", "execution__workflow_id"
        )
        _, may = obtain(self.user, rows, id, Action.OPERATE)
        reason = self.body(Quarantine)["reason"]
        return shown(quarantine(id, actor=self.actor, reason=reason), may)


# Reveal a dead letter's inputs and config to users with the permission, for a recorded reason.


class RevealedDeadLetter(CamelCaseSerializer):
    """The payloads of a dead letter, unmasked."""

    id = serializers.UUIDField()
    originalInputs = Json(allow_null=True)
    originalConfig = Json(allow_null=True)


class RevealEntry(Reveal):
    """The endpoint that reveals the payloads of a dead letter."""

    @operation(
        "revealDeadLetterEntry",
        "DeadLetterQueue",
        {200: RevealedDeadLetter},
        request=RevealReason,
        errors=[403, 404],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return the original inputs and config, unmasked. Requires the permission `reveal`.

        Each use is recorded with its reason.
        """
        rows = DeadLetterEntry.objects.only("id", "workspace_id", "workflow_id")
        return self.revealed(rows, id, REVEALED_FIELDS, RevealedDeadLetter)
