"""The tables of workflows, and their states."""

from executions.models import Workflow, Workspace
from executions.states import ExecutionState, Permission

__all__ = [
    "ExecutionState",
    "Permission",
    "Workflow",
    "Workspace",
]
