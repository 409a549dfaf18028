"""New executions that go on from the middle of others: what is asked for, and by whom provided."""

from runners.planning.plan_execution import insert_first
from runners.repair.approvals import APPROVAL, refuse_other_inputs
from runners.repair.forks import LATEST, PINNED, ForkRequest, Overrides, fork_execution

__all__ = [
    "APPROVAL",
    "LATEST",
    "PINNED",
    "ForkRequest",
    "Overrides",
    "fork_execution",
    "insert_first",
    "refuse_other_inputs",
]
