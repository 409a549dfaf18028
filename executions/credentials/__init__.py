"""Named secrets of a workspace: stored sealed, passed to steps, and never shown again.

Only the functions of this package write or open them.
"""

from executions.credentials.boundary import Boundary
from executions.credentials.issuing import CredentialSource, Issued, IssuerBusy, forget, issued
from executions.credentials.kinds import (
    KINDS,
    CredentialInUse,
    CredentialType,
    InvalidCredential,
    NameTaken,
    register,
)
from executions.credentials.opening import (
    OpenedCredential,
    UsingStep,
    boundaries_of,
    note_refused,
    opened_for,
    opened_of,
    refuse,
    values_of,
)
from executions.credentials.writing import (
    connect,
    create,
    delete,
    is_taken,
    naming,
    source_of,
    update,
)

__all__ = [
    "KINDS",
    "Boundary",
    "CredentialInUse",
    "CredentialSource",
    "CredentialType",
    "InvalidCredential",
    "Issued",
    "IssuerBusy",
    "NameTaken",
    "OpenedCredential",
    "UsingStep",
    "boundaries_of",
    "connect",
    "create",
    "delete",
    "forget",
    "is_taken",
    "issued",
    "naming",
    "note_refused",
    "opened_for",
    "opened_of",
    "refuse",
    "register",
    "source_of",
    "update",
    "values_of",
]
