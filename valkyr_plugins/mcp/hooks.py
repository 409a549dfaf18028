"""Let retention delete old decided proposals."""

from datetime import datetime

from django.db.models import QuerySet

from dlq.public.retention import Aged, add_kind
from executions.public.configuration import read
from valkyr_plugins.mcp.conf import McpSettings
from valkyr_plugins.mcp.models import Proposal, ProposalState


def keep_days() -> float:
    """Return the retention of decided proposals, in days."""
    return read(McpSettings).keep_proposals_days


def _over(before: datetime) -> QuerySet[Proposal]:
    rows = Proposal.objects.exclude(state=ProposalState.PENDING)
    return rows.filter(decided_at__lt=before)


add_kind(Aged("proposals", keep_days, _over, "decided_at", "pk", "workspace_id"))
