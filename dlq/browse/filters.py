"""One syntax for filters of dead letters: in the API, the command line, the admin and redrives.

A filter is a JSON object; each field narrows the selection. `inputs` is a list of conditions on
values in the original inputs: {"path": "order.country", "op": "eq" | "contains", "value": …}.
`label` is an object of the execution's labels: {"order": "4711"}.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import F, JSONField, Q, QuerySet, Value
from django.db.models.fields.json import KeyTransform
from django.db.models.lookups import Exact

from dlq.browse.path_conditions import Condition, several
from dlq.models import DeadLetterEntry
from executions.errors import SearchSealed

# Fields that are compared directly: name → lookup.
PLAIN: dict[str, str] = {
    "ids": "pk__in",
    "workspaceId": "workspace_id",
    "workflowId": "workflow_id",
    "executionId": "execution_id",
    "groupId": "group_id",
    "fingerprint": "fingerprint",
    "resolution": "resolution",
    "failureType": "failure_type",
    "errorType": "error_type",
    "exception": "exception",
    "module": "module",
    "stepPath": "step_path",
    "httpStatus": "http_status",
    "target": "target",
    "worker": "worker",
    "version": "version_number",
    "attemptsFrom": "attempts__gte",
    "quarantinedAfter": "quarantined_at__gt",
    "quarantinedBefore": "quarantined_at__lt",
    "text": "failure_reason__icontains",
}
# Fields that search payloads.
SEARCHES = ("inputs", "text")
# Boolean fields.
FLAGS: dict[str, Callable[[bool], Q]] = {
    "pinned": lambda yes: Q(pinned=yes),
    "redriven": lambda yes: Q(redrives__gt=0) if yes else Q(redrives=0),
    "seen": lambda yes: Q(seen_at__isnull=not yes),
}


def chosen(rows: QuerySet[DeadLetterEntry], wanted: Mapping[str, Any]) -> QuerySet[DeadLetterEntry]:
    """Return the rows that match a validated filter. Raises KeyError for an unknown field.

    Raises SearchSealed if a search of payloads would miss sealed payloads.
    """
    for name, value in wanted.items():
        if name in FLAGS:
            rows = rows.filter(FLAGS[name](value))
        elif name == "label":
            rows = rows.filter(labels__contains=dict(value))
        elif name not in SEARCHES:
            rows = rows.filter(**{PLAIN[name]: value})
    if any(wanted.get(name) for name in SEARCHES):
        _refuse_sealed(rows)
    if wanted.get("text"):
        rows = rows.filter(**{PLAIN["text"]: wanted["text"]})
    return _by_inputs(rows, wanted.get("inputs") or [])


def _refuse_sealed(rows: QuerySet[DeadLetterEntry]) -> None:
    """Raise SearchSealed if a row belongs to a workspace with sealed payloads. Uses one query."""
    sealed = rows.order_by().filter(workspace__payload_keys__isnull=False)
    slug = sealed.values_list("workspace__slug", flat=True).first()
    if slug is not None:
        raise SearchSealed(
            f"The payloads of the workspace {slug!r} are sealed, so the database cannot search "
            "inputs and messages. Leave out `inputs` and `text`, or restrict the search to another "
            "workspace (`workspaceId`)."
        )


def _by_inputs(
    rows: QuerySet[DeadLetterEntry], conditions: list[Mapping[str, Any]]
) -> QuerySet[DeadLetterEntry]:
    """Return the rows whose inputs match every condition.

    Rows whose inputs are not indexed (too large or sealed) do not match.
    """
    for condition in several(conditions):
        rows = rows.filter(_passes(condition), inputs_indexed=True)
    return rows


def _passes(condition: Condition) -> Q:
    contained = Q()
    for document in condition.documents:
        contained |= Q(original_inputs__contains=document)
    if not condition.exact_path:
        return contained
    there: Any = F("original_inputs")
    for key in condition.exact_path:
        there = KeyTransform(key, there)
    return contained & Q(Exact(there, Value(condition.value, output_field=JSONField())))
