"""Which published workflows name a credential."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import F, TextField
from django.db.models.functions import Cast

from executions.models import Credential, WorkflowVersion

MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class CredentialReference:
    """A workflow whose latest version names the credential."""

    workflow_id: UUID
    workflow: str
    version: int


def naming(credential: Credential) -> list[CredentialReference]:
    """The workflows that are not put away and name it, by name, one more than are listed.

    Reads the latest versions of the workspace as text, so a text that only looks like a reference
    counts too: better one question too many than a workflow that fails.
    """
    latest = (
        WorkflowVersion.objects.filter(
            workflow__workspace_id=credential.workspace_id,
            workflow__archived_at=None,
            pk=F("workflow__latest_version"),
        )
        .annotate(text=Cast("definition", TextField()))
        .filter(text__regex=_pattern(credential.name))
        .order_by("workflow__name", "pk")
    )
    rows = latest.values_list("workflow_id", "workflow__name", "number")
    return [CredentialReference(*row) for row in rows[: MOST_LISTED + 1]]


def _pattern(name: str) -> str:
    """PostgreSQL's regular expression for `secrets.<name>` and `"credential": "<name>"` in JSON."""
    quote = r"""\\?["']"""
    member = rf"""\msecrets\s*(\.\s*{name}\M|\[\s*{quote}{name}{quote}\s*\])"""
    return rf"""{member}|"credential":\s*"{name}\""""
