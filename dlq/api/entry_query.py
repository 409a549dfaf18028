"""The filters of dead letters, as query parameters of the API."""
# ruff: noqa: N815 - the names are the JSON's

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dlq.browse.bounded_list import TooManyRows
from dlq.browse.filters import FLAGS, PLAIN, chosen
from dlq.browse.path_conditions import MAX_CONDITIONS, BadCondition, several
from dlq.models import DeadLetterEntry, FailureType, Resolution
from executions.access import Action
from executions.access.powers import Power
from executions.api.fields import Body
from executions.api.labels import ABOUT_LABEL, LabelsField
from executions.api.paging import ListQuery
from executions.states import Permission
from runners.states import ErrorType

GRAMMAR = frozenset({*PLAIN, *FLAGS, "label", "inputs"})
ERROR_TYPES = [(kind.value, kind.value) for kind in ErrorType]


@extend_schema_field(OpenApiTypes.ANY)
class Conditions(serializers.Field[Any, Any, Any, Any]):
    """A JSON array of conditions on the original inputs."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the list of conditions. Raises ValidationError for an invalid condition."""
        try:
            found = json.loads(data) if isinstance(data, str) else data
            if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
                raise BadCondition('Expected [{"path": …, "op": "eq" | "contains", "value": …}].')
            several(found)
        except (ValueError, RecursionError) as error:
            text = str(error) if isinstance(error, BadCondition) else "The value is not valid JSON."
            raise serializers.ValidationError(text, code="conditions") from None
        return found

    def to_representation(self, value: Any) -> Any:
        """Return the value unchanged."""
        return value


class EntryFilters(Body):
    """Filters of dead letters; a dead letter must match all filters that are given."""

    workspaceId = serializers.UUIDField(
        required=False, help_text="Only dead letters of this workspace."
    )
    resolution = serializers.ChoiceField(Resolution.choices, required=False)
    failureType = serializers.ChoiceField(FailureType.choices, required=False)
    errorType = serializers.ChoiceField(ERROR_TYPES, required=False)
    workflowId = serializers.UUIDField(required=False)
    executionId = serializers.UUIDField(required=False)
    groupId = serializers.UUIDField(required=False)
    fingerprint = serializers.CharField(required=False, max_length=64)
    exception = serializers.CharField(required=False, max_length=200)
    module = serializers.CharField(required=False, max_length=100)
    stepPath = serializers.CharField(required=False, max_length=1_000)
    httpStatus = serializers.IntegerField(required=False, min_value=100, max_value=999)
    target = serializers.CharField(required=False, max_length=300)
    worker = serializers.CharField(required=False, max_length=200)
    version = serializers.IntegerField(required=False, min_value=0, max_value=2**31 - 1)
    attemptsFrom = serializers.IntegerField(required=False, min_value=0, max_value=2**31 - 1)
    quarantinedAfter = serializers.DateTimeField(required=False)
    quarantinedBefore = serializers.DateTimeField(required=False)
    text = serializers.CharField(
        required=False, max_length=200, help_text="A part of the failure's reason."
    )
    pinned = serializers.BooleanField(required=False)
    redriven = serializers.BooleanField(
        required=False, help_text="Whether the step was requeued before it failed this time."
    )
    seen = serializers.BooleanField(required=False, help_text="Whether a user has opened its page.")
    label = LabelsField(  # type: ignore[assignment] # a field, not its own label
        required=False, help_text=ABOUT_LABEL
    )
    inputs = Conditions(
        required=False,
        help_text=f"At most {MAX_CONDITIONS} conditions on the original inputs, as JSON: "
        '[{"path": "order.country", "op": "eq", "value": "DE"}]; op is eq or contains. Only dead '
        "letters whose payloads you may see are compared.",
    )


class DeadLetterQuery(EntryFilters, ListQuery):
    """The filters of the list of dead letters."""


@contextmanager
def in_time() -> Iterator[None]:
    """Raise ValidationError (422) if the search in the block does not finish in time."""
    try:
        yield
    except TooManyRows:
        told = "Too many dead letters have it to search them in time. Add filters."
        raise serializers.ValidationError({"label": told}, code="too_many_rows") from None


def power(query: Mapping[str, Any]) -> Power:
    """Return the action or permission that the caller needs to search rows with this query.

    A condition on inputs searches only rows whose payloads the caller may see; otherwise a caller
    could guess values.
    """
    return Permission.VIEW_PAYLOADS if query.get("inputs") else Action.VIEW


def passing(rows: QuerySet[DeadLetterEntry], query: Mapping[str, Any]) -> QuerySet[DeadLetterEntry]:
    """Return the rows that match; the caller passes only rows that the query's `power` allows."""
    return chosen(rows, {name: value for name, value in query.items() if name in GRAMMAR})
