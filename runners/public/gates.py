"""Hold steps before their modules run, and resume these steps."""

from runners.conf import config
from runners.failures.classification import Failure
from runners.failures.failure_text import LONGEST_TARGET, storable_text
from runners.gates.gates import Asked, LeaseAnswer, LeaseGate, LeasePermit, Permit, Stage, register
from runners.modules.base import Wait
from runners.waits.wake_runs import wake_all

__all__ = [
    "LONGEST_TARGET",
    "Asked",
    "Failure",
    "LeaseAnswer",
    "LeaseGate",
    "LeasePermit",
    "Permit",
    "Stage",
    "Wait",
    "config",
    "register",
    "storable_text",
    "wake_all",
]
