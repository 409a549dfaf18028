"""What this app says upwards: signals sent inside the transaction, with `send`.

A failing receiver fails the transaction, so that state and its consequences never part. One signal
is sent after it: `execution_ended`.
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
# execution_id - PAUSED went back to RUNNING; the row is locked
execution_resumed = Signal()
# execution_ids - RUNNING, woke without a place and have one again; the rows are locked
execution_roused = Signal()
# execution_id, epoch
execution_rolled_back = Signal()
# execution_id, state - FAILED or TIMEOUT; the row is locked
execution_failed = Signal()
# execution_id, state, parent_run_id, trigger_id; the row is locked. For who must commit with the
# end: one listener makes each end as SUCCESS cost a round trip and two statements more
execution_finished = Signal()
# the same, after the commit and without a lock; never, where the process dies between the two
execution_ended = Signal()
# event_id - the row of an event that was just stored, before the transaction commits
event_received = Signal()
# workspace_id, user_id - somebody (None: a trigger) wants executions that are not inserted yet; a
# receiver that raises QuotaExceeded refuses them
executions_asked = Signal()


@dataclass(frozen=True, slots=True)
class ReportedCondition:
    """A condition of an object, whose `kind` is one of those that people may ask to be told of.

    Who notices that one begins reports it in that transaction. Who tells people listens, and asks
    later which of them last. Neither knows the other.

    `noun` is the object's in a word, `path` its page; `sentence` is for people and holds no
    payload, `details` is for programs.
    """

    kind: str
    noun: str
    object_id: UUID
    workspace_id: UUID
    sentence: str
    path: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


# condition - it begins in this transaction
condition_began = Signal()

Lasting = Callable[[Collection[UUID]], set[UUID]]
"""Returns those of some objects whose condition lasts."""

LASTING: dict[str, Lasting] = {}
"""By the kind of condition. Plugins add theirs in `ready`."""
