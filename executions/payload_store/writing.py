"""Store a value: declare its use, write its file, return the reference for the row.

The use commits before the file is written, and the row that holds the reference commits after it.
So every value to which a row refers has a file, and the collection knows the use before the file
exists.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

from executions import payloads
from executions.database import transaction
from executions.database.clock import ClockTimestamp
from executions.models import StoredPayload, StoredPayloadUse
from executions.payload_store import files
from executions.payload_store.errors import PayloadStoreUnavailable
from executions.payload_store.references import facts, reference
from executions.sealing import frames, payload_keys

TRIES = 5
# The JSON of a value up to this size is kept in memory from its digest to its file. A larger value
# is encoded twice.
KEPT = 4 * payloads.PART


@dataclass(frozen=True, slots=True)
class Encoded:
    """A value's JSON, with its digest and size; each read produces the JSON in parts."""

    value: Any
    digest: str
    size: int
    kept: tuple[bytes, ...] | None = None

    def parts(self) -> Iterator[bytes]:
        """Yield the JSON in parts."""
        return payloads.parts(self.value, limit=self.size) if self.kept is None else iter(self.kept)


def encoded(value: Any, what: str, limit: int) -> Encoded:
    """Return a value with the digest of its JSON. Raises PayloadError, also above the limit."""
    made, size, kept = sha256(), 0, []
    for part in payloads.parts(value, what, limit):
        made.update(part)
        size += len(part)
        kept.append(part)
        if size > KEPT:
            kept.clear()
    return Encoded(value, made.hexdigest(), size, tuple(kept) if size <= KEPT else None)


def file_name(workspace_id: UUID, digest: str, payload_id: UUID | str) -> str:
    """Return the name of a value's file, below the store's address."""
    return f"{workspace_id}/{digest[:2]}/{digest}-{payload_id}"


def declare(
    workspace_id: UUID, execution_id: UUID, digest: str, size: int, key: int
) -> StoredPayload:
    """Record that the execution may refer to the value, commit, and return the value's row."""
    for _ in range(TRIES):
        with transaction.atomic():
            same = {"workspace_id": workspace_id, "digest": digest, "sealing_key": key}
            made = StoredPayload(**same, size=size)
            StoredPayload.objects.bulk_create([made], ignore_conflicts=True)
            # Waits for a collector that deletes it; then there is none, and the next try makes one.
            rows = StoredPayload.objects.filter(**same, deleting_at=None)
            row = rows.select_for_update(no_key=True).first()
            if row is None:
                continue
            rows.filter(pk=row.pk).update(checked_at=ClockTimestamp())
            use = StoredPayloadUse(payload=row, execution_id=execution_id)
            StoredPayloadUse.objects.bulk_create([use], ignore_conflicts=True)
        return row
    raise PayloadStoreUnavailable(
        "The value was deleted from the store while it was stored. The engine tries again."
    )


def write(workspace_id: UUID, row: StoredPayload, parts: Iterable[bytes]) -> None:
    """Write the file of a declared value, unless it exists. Call it outside any transaction.

    At most a few parts are in memory. Raises PayloadStoreUnavailable, the errors of sealing, and
    what `parts` raises.
    """
    if row.stored_at is not None:
        return
    name = file_name(workspace_id, row.digest, row.pk)
    if row.sealing_key:
        parts = frames.seal(parts, name, row.sealing_key)
    files.write_parts(name, parts)


def written(row: StoredPayload) -> None:
    """Record that the file is complete, so that an equal value is not written again."""
    if row.stored_at is None:
        StoredPayload.objects.filter(pk=row.pk).update(stored_at=ClockTimestamp())


def note(workspace_id: UUID, execution_id: UUID, found: Encoded, key: int | None) -> StoredPayload:
    """Declare a value and return its row; open its sealing key first."""
    if key is not None:
        payload_keys.opened(key)
    return declare(workspace_id, execution_id, found.digest, found.size, key or 0)


def refer(row: StoredPayload, value: Any) -> payloads.StoredReference:
    """Return the reference to a stored value."""
    return reference(row.pk, row.digest, row.size, row.sealing_key, value)


def keep(execution_id: UUID, value: Any) -> None:
    """Let an execution refer to the stored values in a value of another execution.

    Call it in the transaction that writes the value. The lock excludes the collector, which may
    have deleted the other execution's use.
    """
    ids = {found[0] for found in map(facts, payloads.references_in(value)) if found}
    if not ids:
        return
    rows = StoredPayload.objects.filter(pk__in=ids, deleting_at=None).order_by("pk")
    StoredPayloadUse.objects.bulk_create(
        [
            StoredPayloadUse(payload=row, execution_id=execution_id)
            for row in rows.select_for_update(no_key=True)
        ],
        ignore_conflicts=True,
    )


def share(origin_id: UUID, execution_id: UUID) -> None:
    """Let an execution refer to all values of its origin, whose rows it copies."""
    ids = StoredPayloadUse.objects.filter(execution_id=origin_id).values_list(
        "payload_id", flat=True
    )
    StoredPayloadUse.objects.bulk_create(
        [StoredPayloadUse(payload_id=pk, execution_id=execution_id) for pk in ids],
        ignore_conflicts=True,
        batch_size=1_000,
    )
