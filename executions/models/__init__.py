"""The tables of this app, one family a file."""

from executions.models.activity import Activity
from executions.models.checkpoint import Checkpoint
from executions.models.execution import WorkflowExecution
from executions.models.trigger import (
    CronTick,
    Event,
    RefusedMessage,
    Trigger,
    WebhookDelivery,
)
from executions.models.workflow import Workflow, WorkflowVersion
from executions.models.workspace import Membership, Tier, Workspace

__all__ = [
    "Activity",
    "Checkpoint",
    "CronTick",
    "Event",
    "Membership",
    "RefusedMessage",
    "Tier",
    "Trigger",
    "WebhookDelivery",
    "Workflow",
    "WorkflowExecution",
    "WorkflowVersion",
    "Workspace",
]
