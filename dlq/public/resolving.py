"""Requeue and discard dead letters, and mark failure groups as being redriven."""

from dlq.groups.status import begin_redrive, end_redrive
from dlq.resolve.discard import discard
from dlq.resolve.requeue import (
    DeadStep,
    RequeuedTogether,
    goes_alone,
    requeue,
    requeue_together,
    yielding,
)
from dlq.resolve.transitions import GoneHome, requeue_many

__all__ = [
    "DeadStep",
    "GoneHome",
    "RequeuedTogether",
    "begin_redrive",
    "discard",
    "end_redrive",
    "goes_alone",
    "requeue",
    "requeue_many",
    "requeue_together",
    "yielding",
]
