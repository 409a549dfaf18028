"""Who may do what in which workspace, and who does it."""

from executions.access import Action, Forbidden, User, obtain, visible, workspace_for
from executions.access.actor import Actor, record
from executions.access.powers import limits_of

__all__ = [
    "Action",
    "Actor",
    "Forbidden",
    "User",
    "limits_of",
    "obtain",
    "record",
    "visible",
    "workspace_for",
]
