"""Named secrets of a workspace: kept sealed, given to steps, never shown again.

These functions are the only ones that write or open them.
"""

from executions.credentials.errors import CredentialInUse, InvalidCredential, NameTaken
from executions.credentials.kinds import KINDS, Kind, register
from executions.credentials.naming import naming
from executions.credentials.opening import values_of
from executions.credentials.writing import create, delete, is_taken, update

__all__ = [
    "KINDS",
    "CredentialInUse",
    "InvalidCredential",
    "Kind",
    "NameTaken",
    "create",
    "delete",
    "is_taken",
    "naming",
    "register",
    "update",
    "values_of",
]
