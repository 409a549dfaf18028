"""Run steps again with other inputs."""

from runners.modules.registry import UnknownModule
from runners.modules.registry import get as module_of
from runners.repair.changed_inputs import put as put_changes
from runners.repair.forks import names_of
from runners.repair.permissions import APPROVAL, given_in
from runners.segment.inputs import merged

__all__ = [
    "APPROVAL",
    "UnknownModule",
    "given_in",
    "merged",
    "module_of",
    "names_of",
    "put_changes",
]
