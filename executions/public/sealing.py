"""Encrypt columns with the installation's keys."""

from executions import sealing
from executions.models.sealed_columns import SealedJSON, SealedObject
from executions.payload_sealing.switch import KEY_HOLDERS
from executions.payloads import SEALED
from executions.sealing import KeyUnknown, Sealed, SealingError, place_of, seal, unseal
from executions.sealing.columns import rebind, share_key, stored
from executions.sealing.payloads import TEXT as ENVELOPE
from executions.sealing.payloads import is_sealed, place
from executions.sealing.sealer import PayloadSealer, opened, opened_text
from executions.sealing.store import SealedColumn, register

__all__ = [
    "ENVELOPE",
    "KEY_HOLDERS",
    "SEALED",
    "KeyUnknown",
    "PayloadSealer",
    "Sealed",
    "SealedColumn",
    "SealedJSON",
    "SealedObject",
    "SealingError",
    "is_sealed",
    "opened",
    "opened_text",
    "place",
    "place_of",
    "rebind",
    "register",
    "seal",
    "sealing",
    "share_key",
    "stored",
    "unseal",
]
