"""Encrypt columns with the installation's keys."""

from executions import sealing
from executions.sealing import KeyUnknown, Sealed, SealingError, place_of, seal, unseal
from executions.sealing.store import SealedColumn, register

__all__ = [
    "KeyUnknown",
    "Sealed",
    "SealedColumn",
    "SealingError",
    "place_of",
    "register",
    "seal",
    "sealing",
    "unseal",
]
