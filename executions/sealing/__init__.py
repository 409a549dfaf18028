"""Seal values that must not be readable in the database.

The cipher is AES-256-GCM, with the installation's own keys. The data keys are a Tink keyset in one
row, which the installation's key (from a file, the environment or a KMS) seals. A sealed value's
prefix names its key, and the value opens only in its own row and column.
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
