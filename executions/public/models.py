"""The tables of workflows, and their states."""

from executions.models import (
    Credential,
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
    "Credential",
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
