"""Start executions, also such as repeat another or branch off from it."""

from executions.triggers.request import Branch
from executions.triggers.start import start_execution

__all__ = [
    "Branch",
    "start_execution",
]
