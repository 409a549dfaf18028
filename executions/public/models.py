"""The tables of workflows, and their states."""

from executions.models import (
    Membership,
    QuotaUse,
    ServiceAccount,
    Workflow,
    WorkflowExecution,
    WorkflowVersion,
    Workspace,
)
from executions.states import ACTIVE, FINAL, ExecutionState, Permission, VersionKind

__all__ = [
    "ACTIVE",
    "FINAL",
    "ExecutionState",
    "Membership",
    "Permission",
    "QuotaUse",
    "ServiceAccount",
    "VersionKind",
    "Workflow",
    "WorkflowExecution",
    "WorkflowVersion",
    "Workspace",
]
