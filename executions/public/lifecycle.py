"""End executions, and let those go on that were under way, or that had failed."""

from executions.lifecycle import announce, cancel, reopen

__all__ = [
    "announce",
    "cancel",
    "reopen",
]
