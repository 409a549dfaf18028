"""The tables of this app, one family a file."""

from executions.models.activity import Activity
from executions.models.execution import WorkflowExecution
from executions.models.trigger import CronTick, Trigger
from executions.models.workflow import Workflow, WorkflowVersion
from executions.models.workspace import Membership, Tier, Workspace

__all__ = [
    "Activity",
    "CronTick",
    "Membership",
    "Tier",
    "Trigger",
    "Workflow",
    "WorkflowExecution",
    "WorkflowVersion",
    "Workspace",
]
