"""Read the newest uses of a credential, grouped by workflow, and its refused uses."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Max, Q, QuerySet

from executions.models import Credential, CredentialUse, Workflow

MOST_LISTED = 20
# Number of newest uses that a page summarises, so that it also loads fast for a credential with
# many uses.
SUMMARISED = 1_000


@dataclass(frozen=True, slots=True)
class WorkflowUses:
    """A credential's newest uses by one workflow; `name` is empty if the workflow was deleted."""

    workflow_id: UUID
    name: str
    many: int
    refused: int
    last: datetime


def by_workflow(credential: Credential) -> list[WorkflowUses]:
    """Return the credential's newest 1,000 uses, counted for each workflow.

    Returns at most 20 workflows, ordered by their latest use. Uses two queries.
    """
    newest = _of(credential).order_by("-created_at", "-id")[:SUMMARISED]
    rows = list(
        CredentialUse.objects.filter(pk__in=newest.values("pk"))
        .order_by()
        .values("workflow_id")
        .annotate(many=Count("pk"), refused=Count("pk", Q(allowed=False)), last=Max("created_at"))
        .order_by("-last")[:MOST_LISTED]
    )
    named = Workflow.objects.filter(
        workspace_id=credential.workspace_id, pk__in=[row["workflow_id"] for row in rows]
    )
    names = dict(named.values_list("pk", "name"))
    return [
        WorkflowUses(
            row["workflow_id"],
            names.get(row["workflow_id"], ""),
            row["many"],
            row["refused"],
            row["last"],
        )
        for row in rows
    ]


def refused(credential: Credential) -> list[CredentialUse]:
    """Return the credential's refused uses, at most 20, the newest first."""
    # Uses the index of refused uses, of which a workspace has few.
    rows = _of(credential).filter(allowed=False)
    return list(rows.order_by("-created_at", "-id")[:MOST_LISTED])


def _of(credential: Credential) -> QuerySet[CredentialUse]:
    return CredentialUse.objects.filter(
        workspace_id=credential.workspace_id, credential_id=credential.pk
    )
