"""Short-lived values, which another server issues when a step needs them.

Credentials of a type with an issuer store how to get their values. Each process requests the values
and caches them for its steps until shortly before they expire. Concurrent steps of a process wait
for one request. If the request fails, the cached values are used as long as they are valid.

    issued(source, issuer)       the values, and whether this call requested them
    forget(source, the_values)   after the receiver rejected them
"""

import logging
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any
from uuid import UUID

log = logging.getLogger(__name__)

MOST_KEPT = 1_000
# Values are replaced before they expire, so that a step that gets them can still use them: at most
# 300 s earlier, or a third of their lifetime.
LONGEST_MARGIN, SHARE = 300.0, 1 / 3
AGAIN_SECONDS = 5.0  # pause after a failed attempt to replace values that are still valid
WAIT_SECONDS = 8.0  # maximum wait for another step's request; the lease is not renewed meanwhile


class IssuerBusy(Exception):
    """Another step or process is still requesting the values."""


@dataclass(frozen=True, slots=True, repr=False)
class CredentialSource:
    """A credential as stored, from which values are issued.

    `rejected` are values that a receiver did not accept.
    """

    id: UUID
    name: str
    version: int
    workspace_id: UUID
    fields: dict[str, str]
    rejected: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class Issued:
    """Values that expire after `seconds`; `state` is data that the issuer needs to replace them.

    `store` contains new values for fields of the credential, such as a rotated refresh token.
    """

    fields: dict[str, str]
    seconds: float
    state: Any = None
    store: Mapping[str, str] = field(default_factory=dict)


Issuer = Callable[[CredentialSource, Issued | None], Issued]
"""Returns new values; its second argument is the expiring values, or None. May raise any error."""


@dataclass(slots=True)
class _Slot:
    lock: Lock = field(default_factory=Lock)
    kept: Issued | None = None
    rejected: Mapping[str, str] = field(default_factory=dict)
    until: float = 0.0  # when to replace the values, on time.monotonic()
    ends: float = 0.0


# Keyed by process, so that a forked child requests its own values and inherits no lock.
_Key = tuple[int, UUID, int]
_slots: "OrderedDict[_Key, _Slot]" = OrderedDict()
_lock = Lock()


def issued(
    source: CredentialSource, issuer: Issuer, wait: float = WAIT_SECONDS
) -> tuple[Issued, bool]:
    """Return the cached or newly requested values, and whether this call requested them.

    Raises IssuerBusy and, if no cached value is still valid, the issuer's errors.
    """
    slot = _slot(source)
    kept = slot.kept
    if kept is not None and time.monotonic() < slot.until:
        return kept, False
    if not slot.lock.acquire(timeout=wait):
        raise IssuerBusy
    try:
        kept, now = slot.kept, time.monotonic()
        if kept is not None and now < slot.until:
            return kept, False
        try:
            found = issuer(replace(source, rejected=slot.rejected), kept)
        except Exception as error:
            if kept is None or time.monotonic() >= slot.ends:
                raise
            log.warning(
                "credential %s: its values could not be renewed and are used until they expire: %s",
                source.name,
                type(error).__name__,
            )
            slot.until = min(slot.ends, time.monotonic() + AGAIN_SECONDS)
            return kept, False
        margin = min(LONGEST_MARGIN, found.seconds * SHARE)
        slot.until, slot.ends = now + found.seconds - margin, now + found.seconds
        slot.kept = found
        return found, True
    finally:
        slot.lock.release()


def forget(source: CredentialSource, rejected: Issued) -> None:
    """Drop rejected values, so that the next use requests new ones; keep any newer values."""
    slot = _slot(source)
    with slot.lock:
        if slot.kept is rejected:
            slot.kept, slot.rejected = None, rejected.fields


def _slot(source: CredentialSource) -> _Slot:
    key = (os.getpid(), source.id, source.version)
    with _lock:
        found = _slots.setdefault(key, _Slot())
        _slots.move_to_end(key)
        while len(_slots) > MOST_KEPT:
            _slots.popitem(last=False)
    return found
