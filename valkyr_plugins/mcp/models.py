"""Proposals of agents, which wait for a user's approval, and workflows that agents may start.

If the plugin is removed, its tables remain. So they refer to the engine's rows by ID, without
foreign keys. Only the workspace has a foreign key, because it is never deleted.
"""

from django.db import models
from django.db.models import Q

from executions.public.database import ClockTimestamp, uuid7
from executions.public.language import lazy
from executions.public.models import Workspace


class ProposalState(models.TextChoices):
    """A proposal's state. Only `proposals` writes it."""

    PENDING = "PENDING", lazy("waits for approval")
    APPROVED = "APPROVED", lazy("approved and applied")
    REJECTED = "REJECTED", lazy("rejected")
    EXPIRED = "EXPIRED", lazy("expired")


_S = ProposalState

# For each state: the states that may follow it.
MOVES: dict[str, frozenset[str]] = {
    _S.PENDING: frozenset({_S.APPROVED, _S.REJECTED, _S.EXPIRED}),
    _S.APPROVED: frozenset(),
    _S.REJECTED: frozenset(),
    _S.EXPIRED: frozenset(),
}


class ProposalKind(models.TextChoices):
    """The kind of change that a proposal makes."""

    REDRIVE = "redrive", lazy("redrive dead letters")
    WORKFLOW = "workflow", lazy("change a workflow")
    RESOLUTION = "resolution", lazy("resolve a dead letter")
    GROUP = "group", lazy("change a failure group")
    EXECUTION = "execution", lazy("control an execution")
    START = "start", lazy("start an execution")


class Proposal(models.Model):
    """A change that an agent proposed; nothing happens before it is approved.

    `arguments` are the tool's arguments. `seen` is the object's state, if any, that the agent saw;
    if it has changed since, the change is rejected. `result` is the result of the approval.
    """

    AUDITED_AS = "Proposal"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=12, choices=ProposalKind.choices)
    title = models.CharField(max_length=300)
    rationale = models.TextField(blank=True, default="")
    object_type = models.CharField(max_length=60)
    object_id = models.UUIDField(null=True, blank=True)
    arguments = models.JSONField()
    seen = models.CharField(max_length=200, blank=True, default="")
    state = models.CharField(
        max_length=8, choices=ProposalState.choices, default=ProposalState.PENDING
    )
    unattended = models.BooleanField(
        default=False, help_text="Applied at once, by a token with the scope unattended."
    )
    created_by_name = models.CharField(max_length=200)
    created_via = models.CharField(max_length=120)
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    expires_at = models.DateTimeField()
    decided_by_name = models.CharField(max_length=200, blank=True, default="")
    decided_at = models.DateTimeField(null=True, blank=True)
    decision_reason = models.TextField(blank=True, default="")
    result = models.JSONField(null=True, blank=True)

    class Meta:
        verbose_name = "proposal"
        constraints = [
            models.CheckConstraint(
                condition=Q(state=_S.PENDING, decided_at=None)
                | (~Q(state=_S.PENDING) & Q(decided_at__isnull=False)),
                name="proposal_decided",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="proposal_list"),
            models.Index(fields=["-created_at", "-id"], name="proposal_newest"),
            # For open proposals, which are few.
            models.Index(
                fields=["expires_at"], condition=Q(state=_S.PENDING), name="proposal_open"
            ),
        ]

    def __str__(self) -> str:
        return self.title


class WorkflowTool(models.Model):
    """A workflow that the MCP server offers as a tool.

    Without `direct`, a call creates a proposal to start an execution. With `direct`, a token with
    the scope `trigger` starts the execution.
    """

    AUDITED_AS = "WorkflowTool"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    workflow_id = models.UUIDField(unique=True)
    direct = models.BooleanField(default=False)
    created_by_name = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        verbose_name = "workflow tool"
        indexes = [models.Index(fields=["workspace", "id"], name="workflow_tool_list")]

    def __str__(self) -> str:
        return str(self.workflow_id)
