"""Signals that are sent inside the transaction of a change, with `send`.

A failing receiver fails the transaction, so that state and its consequences stay consistent. Only
`execution_ended` is sent after the transaction.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.dispatch import Signal

# executions, workflow, number - new rows of one version of a workflow, admitted or not
executions_started = Signal()
# executions: list[Admitted] - inserted or admitted RUNNING in this transaction
execution_admitted = Signal()
# execution_id - moved from PAUSED back to RUNNING; the row is locked
execution_resumed = Signal()
# execution_ids - RUNNING, woke without a capacity slot and have one again; the rows are locked
execution_roused = Signal()
# execution_id, epoch
execution_rolled_back = Signal()
# execution: WorkflowExecution - FAILED or TIMEOUT, without its large columns; the row is locked
execution_failed = Signal()
# execution_id, state, parent_run_id, trigger_id; the row is locked. Only for receivers that must
# commit together with the end: a single receiver costs each successful execution another round trip
# and two statements
execution_finished = Signal()
# the same, after the commit and without a lock; not sent if the process dies in between
execution_ended = Signal()
# workflow_id, version_id, actor, reason - another change of the workflow ended its canary version;
# the workflow's row is locked
canary_ended = Signal()
# event_id - the row of an event that was just stored, before the transaction commits
event_received = Signal()
# workspace_id, user_id - a user (None: a trigger) requests executions that are not inserted yet; a
# receiver rejects them by raising QuotaExceeded
executions_asked = Signal()


@dataclass(frozen=True, slots=True)
class ReportedCondition:
    """A condition of an object; users may request notifications of conditions of its `kind`.

    The code that detects the start of the condition reports it in the same transaction. The code
    that notifies users listens, and later queries which conditions persist. Neither module imports
    the other.

    `noun` is a word for the object, and `path` is the path of its page. `sentence` is for users and
    contains no payload; `details` are for programs.
    """

    kind: str
    noun: str
    object_id: UUID
    workspace_id: UUID
    sentence: str
    path: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


# condition - begins in this transaction
condition_began = Signal()

Lasting = Callable[[Collection[UUID]], set[UUID]]
"""Returns the IDs of those objects whose condition persists."""

LASTING: dict[str, Lasting] = {}
"""The functions by kind of condition. Plugins add their functions in `ready`."""
