"""Labels: the field that selects rows by labels, and the counts of rows by a label's values."""

# ruff: noqa: N815 - the names are the JSON's
import json
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions import replica
from executions.access import User, visible
from executions.access.scoping import sees_all
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCaseSerializer
from executions.api.paging import narrowed
from executions.database.by_state import in_states
from executions.labels import counting
from executions.labels.naming import EXAMPLE, BadLabel, check_all, check_name, parsed
from executions.models import WorkflowExecution
from executions.states import ExecutionState

ABOUT_LABEL = (
    f"Only those with this label, as name:value (`{EXAMPLE}`), or with several labels, as a JSON "
    'object ({"order": "4711", "country": "DE"}).'
)


@extend_schema_field(OpenApiTypes.STR)
class LabelsField(serializers.Field[Any, Any, Any, Any]):
    """Labels to select by: `name:value`, or an object with several labels."""

    def to_internal_value(self, data: Any) -> dict[str, str]:
        """Return the labels' values by name. Raises ValidationError for invalid labels."""
        try:
            return _labels(data)
        except BadLabel as error:
            raise serializers.ValidationError(str(error), code="label") from None

    def to_representation(self, value: Any) -> Any:
        """Return the value unchanged."""
        return value


def _labels(data: Any) -> dict[str, str]:
    if isinstance(data, str) and data.lstrip().startswith("{"):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError):
            raise BadLabel("The value is not valid JSON.") from None
    if isinstance(data, dict) and data and all(isinstance(one, str) for one in data.values()):
        check_all(data)
        return data
    if isinstance(data, str):
        return dict([parsed(data)])
    raise BadLabel(f"Expected name:value, such as {EXAMPLE}, or an object of texts by name.")


class LabelCountQuery(Body):
    """The label to count by, and the rows to count."""

    name = serializers.CharField(max_length=200, help_text="The name of the label.")
    workspaceId = serializers.UUIDField(required=False, help_text="Only objects of this workspace.")
    workflowId = serializers.UUIDField(required=False)
    createdAfter = serializers.DateTimeField(required=False)
    createdBefore = serializers.DateTimeField(required=False)

    def validate_name(self, value: str) -> str:
        """Return the label's name. Raises ValidationError if it is not valid."""
        try:
            check_name(value)
        except BadLabel as error:
            raise serializers.ValidationError(str(error), code="label") from None
        return value


class ExecutionLabelQuery(LabelCountQuery):
    """The label to count by, and the executions to count."""

    state = serializers.ChoiceField(ExecutionState.choices, required=False)


class LabelValueShape(CamelCaseSerializer):
    """A value of a label, and the number of rows that have it, in total and by state."""

    value = serializers.CharField()
    count = serializers.IntegerField()
    by_state = serializers.DictField(child=serializers.IntegerField())


class LabelCountsShape(CamelCaseSerializer):
    """The most frequent values of a label, and how many rows were read to find them."""

    rows = serializers.IntegerField(
        help_text=f"How many rows were read: the newest that match, at most {counting.MOST_ROWS:,}."
    )
    complete = serializers.BooleanField(help_text="Whether no other row matches.")
    values = LabelValueShape(many=True)


FILTERS = {
    "workflowId": "workflow_id",
    "createdAfter": "created_at__gt",
    "createdBefore": "created_at__lt",
}


# Maximum number of executions that are searched for a state if no index orders the executions of
# that state.
MOST_LOOKED_AT = 100_000


def _oldest_looked_at(
    user: User, rows: QuerySet[WorkflowExecution], query: dict[str, Any]
) -> UUID | None:
    """Return the ID of the newest execution that the query does not count; None if it counts all.

    Only a superuser's query of all workspaces is limited: to the newest 100,000, because the index
    of failed executions is ordered within a workspace.
    """
    if not sees_all(user) or "workspaceId" in query:
        return None
    newest = rows.order_by("-id").values_list("pk", flat=True)
    return newest[MOST_LOOKED_AT : MOST_LOOKED_AT + 1].first()


class ExecutionLabelCounts(Endpoint):
    """The endpoint that counts executions by the value of a label."""

    @operation(
        "countExecutionsByLabel",
        "WorkflowExecution",
        {200: LabelCountsShape},
        parameters=[ExecutionLabelQuery],
    )
    def get(self, request: Request) -> Response:
        """Count matching executions by the value of a label and by state, among the newest 10,000.

        `values` has the 100 most frequent values. With `state` but without `workspaceId`, a
        superuser's query searches only the newest 100,000 executions. For an exact count, narrow
        the query by workflow, state or time until `complete` is true.
        """
        query = self.query(ExecutionLabelQuery)
        rows: QuerySet[WorkflowExecution] = narrowed(
            visible(self.user, WorkflowExecution.objects.all()), query, FILTERS
        )
        order: tuple[str, ...] = ("-created_at", "-id")
        name, since = query["name"], None
        if "state" in query:
            since = _oldest_looked_at(self.user, rows, query)
            rows, order = rows.filter(in_states(query["state"])), ("-id",)

        def read() -> counting.LabelCounts:
            return counting.counts(rows, name, "state", order=order, since=since)

        found = replica.read(request, read)
        return Response(LabelCountsShape(found).data)
