"""End executions, and continue those that were paused or failed."""

from executions.lifecycle import announce, cancel, reopen

__all__ = [
    "announce",
    "cancel",
    "reopen",
]
