"""Start new executions from the middle of others: the request, and the port that serves it."""

from runners.planning.plan_execution import insert_first
from runners.repair.changed_inputs import keep as keep_changes
from runners.repair.forks import (
    LATEST,
    PINNED,
    ForkRequest,
    Overrides,
    fork_execution,
    merged_payload,
    with_stored_steps,
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
    "keep_changes",
    "merged_payload",
    "refuse_other_inputs",
    "with_stored_steps",
]
