"""Cancel executions, reopen failed ones for new runs, and read executions from an archive."""

from executions.lifecycle import announce, cancel, reopen
from executions.ports import archived_execution, archived_page

__all__ = [
    "announce",
    "archived_execution",
    "archived_page",
    "cancel",
    "reopen",
]
