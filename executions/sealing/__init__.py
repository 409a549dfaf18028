"""Sealing of what must not be read in the database: AES-256-GCM under keys of our own.

The data keys are a Tink keyset in one row, itself sealed with the installation's key (a file, the
environment, a KMS). A sealed value begins with its key's id, and opens only in the place it is
bound to.
"""

from executions.sealing.errors import (
    KeyUnavailable,
    KeyUnknown,
    NoInstallationKey,
    SealBroken,
    SealingError,
    WrongInstallationKey,
)
from executions.sealing.values import Sealed, place_of, prepare, seal, unseal

__all__ = [
    "KeyUnavailable",
    "KeyUnknown",
    "NoInstallationKey",
    "SealBroken",
    "Sealed",
    "SealingError",
    "WrongInstallationKey",
    "place_of",
    "prepare",
    "seal",
    "unseal",
]
