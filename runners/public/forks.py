"""Start new executions from the middle of others: the request, and the port that serves it."""

from runners.planning.plan_execution import insert_first
from runners.repair.forks import (
    LATEST,
    PINNED,
    ForkRequest,
    Overrides,
    fork_execution,
    merged_payload,
)
from runners.repair.permissions import APPROVAL, refuse_other_inputs

__all__ = [
    "APPROVAL",
    "LATEST",
    "PINNED",
    "ForkRequest",
    "Overrides",
    "fork_execution",
    "insert_first",
    "merged_payload",
    "refuse_other_inputs",
]
