"""The keys of workspaces that seal their payloads; a process keeps opened keys for 5 minutes.

A key is 32 random bytes, sealed with the data keys like a credential, and never changes. The key
with `seals` is the workspace's current key.
"""

import hmac
import os
import time
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.db import ProgrammingError
from django.db.models import OuterRef, QuerySet, Subquery

from executions.database import alias, connection, transaction
from executions.models import PayloadKey, WorkflowExecution
from executions.sealing import store
from executions.sealing.errors import KeyUnknown, SealingError
from executions.sealing.installation_key import KEY_BYTES, Aead, aes_gcm
from executions.sealing.values import place_of, seal, unseal

KEPT_SECONDS = 300
MOST_KEPT = 1_000
# Seconds for which a segment uses the key with which it began.
CURRENT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class OpenedKey:
    """A workspace's payload key, opened in this process at the monotonic time `opened_at`."""

    workspace_id: UUID
    aead: Aead = field(repr=False)
    material: bytes = field(repr=False)
    opened_at: float = field(default_factory=time.monotonic)

    def derived(self, context: bytes) -> Aead:
        """Return the AEAD for a file; HMAC-SHA-256 derives its key from this key and the header."""
        made = hmac.digest(self.material, b"valkyr.payload.file|" + context, "sha256")
        return aes_gcm(made)


class _Opened:
    """The opened keys of this process, the most recently used last."""

    # By database alias and key ID, because each database numbers its own keys.
    keys: OrderedDict[tuple[str, int], OpenedKey] = OrderedDict()
    lock = Lock()
    # The databases whose data keys this process has tried to open before it took database locks. No
    # thread lock guards the set, because a fork could leave it locked; so several threads may try.
    tried: set[str] = set()


def prepare() -> None:
    """Open the data keys if any workspace seals payloads.

    This function runs before each transaction, so that no lock is held while a KMS is called. A
    process asks each database only once. If no workspace sealed payloads at that time and one does
    later, `load_segment` opens the keys in workers, and other processes open them when they need
    them. Errors are ignored here; the code that needs the keys raises them.
    """
    if alias() in _Opened.tried or store.kept() is not None:
        return
    try:
        with suppress(SealingError, ImproperlyConfigured):
            if _any_seals():
                store.present()
    except ProgrammingError:  # the tables do not exist yet: the next transaction asks
        return
    _Opened.tried.add(alias())


def _any_seals() -> bool:
    rows = PayloadKey.objects.filter(seals=True)
    if not connection.in_atomic_block:
        return rows.exists()
    with transaction.unprepared():  # an error must not end the outer block
        return rows.exists()


def opened(key: int) -> OpenedKey:
    """Return an opened key by its ID.

    Reads the database unless this process opened the key in the last 5 minutes. Raises KeyUnknown,
    and the errors of `unseal`.
    """
    place = alias(), key
    with _Opened.lock:
        known = _Opened.keys.get(place)
        if known is not None and time.monotonic() - known.opened_at < KEPT_SECONDS:
            _Opened.keys.move_to_end(place)
            return known
    row = PayloadKey.objects.filter(pk=key).first()
    if row is None:
        raise KeyUnknown(f"The payload is sealed with key {key}, which the database does not have.")
    material = unseal(row.sealed, place_of(row))
    found = OpenedKey(row.workspace_id, aes_gcm(material), material)
    with _Opened.lock:
        _Opened.keys[place] = found
        _Opened.keys.move_to_end(place)
        while len(_Opened.keys) > MOST_KEPT:
            _Opened.keys.popitem(last=False)
    return found


def forget() -> None:
    """Forget the keys that this process holds."""
    with _Opened.lock:
        _Opened.keys.clear()
        _Opened.tried.clear()


def current(workspace_id: UUID) -> int | None:
    """Return the ID of the key that seals the workspace's payloads; None if none does.

    Uses one query.
    """
    rows = PayloadKey.objects.filter(workspace_id=workspace_id, seals=True)
    return rows.values_list("pk", flat=True).first()


def with_key(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Annotate rows with the ID of their workspace's current key, as `sealing_key`.

    Uses no query.
    """
    keys = PayloadKey.objects.filter(workspace_id=OuterRef("workspace_id"), seals=True)
    found: QuerySet[Any] = rows.annotate(sealing_key=Subquery(keys.values("pk")[:1]))
    return found


def of_executions(execution_ids: Iterable[UUID]) -> dict[UUID, int]:
    """Return the current keys' IDs, keyed by execution ID, for workspaces that seal payloads.

    Uses one query.
    """
    rows = WorkflowExecution.objects.filter(
        pk__in=list(execution_ids), workspace__payload_keys__seals=True
    )
    return dict(rows.order_by().values_list("pk", "workspace__payload_keys"))


def sealing(workspace_ids: Iterable[UUID] | None = None) -> set[UUID]:
    """Return the IDs of the given workspaces (by default: all) that have keys for payloads."""
    rows = PayloadKey.objects.all()
    if workspace_ids is not None:
        rows = rows.filter(workspace_id__in=list(workspace_ids))
    return set(rows.values_list("workspace_id", flat=True))


def make(workspace_id: UUID) -> int:
    """Add a key, which seals the workspace's payloads from now on, and return its ID.

    Raises the errors of `values.prepare`.
    """
    with transaction.atomic():
        PayloadKey.objects.filter(workspace_id=workspace_id, seals=True).update(seals=False)
        row = PayloadKey.objects.create(workspace_id=workspace_id, seals=True, sealed=b"", key_id=0)
        sealed = seal(os.urandom(KEY_BYTES), place_of(row))
        row.sealed, row.key_id = sealed.value, sealed.key_id
        row.save(update_fields=["sealed", "key_id"])
    return int(row.pk)


def stop(workspace_id: UUID) -> bool:
    """Stop sealing the workspace's payloads; keep its keys.

    Returns whether the workspace sealed payloads before.
    """
    rows = PayloadKey.objects.filter(workspace_id=workspace_id, seals=True)
    return bool(rows.update(seals=False, marks={}))


def newest(workspace_id: UUID) -> PayloadKey | None:
    """Return the workspace's newest key, whether it seals or not; None if there is none."""
    return PayloadKey.objects.filter(workspace_id=workspace_id).order_by("-pk").first()


@dataclass(frozen=True, slots=True)
class KeyState:
    """The key that seals a workspace's payloads (None: no sealing), and the number of old keys."""

    current: PayloadKey | None
    old: int


def state(workspace_id: UUID) -> KeyState:
    """Return the state of a workspace's keys. Uses one query."""
    keys = list(PayloadKey.objects.filter(workspace_id=workspace_id).defer("sealed", "marks"))
    current = next((key for key in keys if key.seals), None)
    return KeyState(current, len(keys) - (current is not None))


def remove_old(workspace_id: UUID) -> list[int]:
    """Delete the workspace's keys that no longer seal new values, and return their IDs.

    Values sealed with these keys can no longer be opened.
    """
    rows = PayloadKey.objects.filter(workspace_id=workspace_id, seals=False)
    found = list(rows.values_list("pk", flat=True))
    rows.filter(pk__in=found).delete()
    return found
