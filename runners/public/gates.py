"""Hold steps back before their modules run, and let them go on."""

from runners.conf import config
from runners.failures.classification import Failure
from runners.failures.failure_text import LONGEST_TARGET, storable_text
from runners.modules.base import Wait
from runners.pipeline.gates import Asked, Permit, Stage, register
from runners.waits.wake_runs import wake_all

__all__ = [
    "LONGEST_TARGET",
    "Asked",
    "Failure",
    "Permit",
    "Stage",
    "Wait",
    "config",
    "register",
    "storable_text",
    "wake_all",
]
