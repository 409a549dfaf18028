"""Store a value: declare its use, write its file, and return the reference for the row.

The use commits before the file is written, and the row that holds the reference commits afterwards.
So every value to which a row refers has a file, and the collector knows the use before the file
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
# Maximum bytes of a value's JSON that are kept in memory after computing the digest, until they are
# written to the file. A larger value is encoded twice.
KEPT = 4 * payloads.PART
# Maximum bytes of JSON for one byte that `payloads.longer_than` counts.
ESCAPED = 6
COLLECTED = "The value was deleted from the store while it was stored. Try again."


@dataclass(frozen=True, slots=True)
class Encoded:
    """A value, with its JSON's digest and size; each call of `parts` yields the JSON in parts."""

    value: Any
    digest: str
    size: int
    kept: tuple[bytes, ...] | None = None

    def parts(self) -> Iterator[bytes]:
        """Yield the JSON of the value in parts."""
        return payloads.parts(self.value, limit=self.size) if self.kept is None else iter(self.kept)


def is_above(value: Any, above: int) -> bool:
    """Return whether the JSON of a value has more bytes than `above`. Raises PayloadError.

    Returns False for a value that is nested too deeply, which `payloads.dump` reports.
    """
    try:
        if payloads.longer_than(value, above):
            return True
        if not payloads.longer_than(value, above // ESCAPED):
            return False
    except RecursionError:
        return False
    return len(payloads.dump(value, limit=ESCAPED * above).encode()) > above


def encoded(value: Any, what: str, limit: int) -> Encoded:
    """Return a value with the digest and the size of its JSON.

    Raises PayloadError, also if the JSON exceeds the limit.
    """
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
    workspace_id: UUID,
    execution_id: UUID | None,
    digest: str,
    size: int,
    key: int,
    refers_to: Iterable[UUID] = (),
) -> StoredPayload:
    """Declare that an execution may refer to a value; commit, and return the value's row.

    `refers_to` are the stored values inside the value, which the execution uses as well. Without an
    execution, the grace period alone protects the value. Raises PayloadStoreUnavailable if the
    collector interferes repeatedly.
    """
    inside = sorted(refers_to)
    for _ in range(TRIES):
        with transaction.atomic():
            same = {"workspace_id": workspace_id, "digest": digest, "sealing_key": key}
            made = StoredPayload(**same, size=size, refers_to=inside or None)
            StoredPayload.objects.bulk_create([made], ignore_conflicts=True)
            # Waits for a collector that deletes the row; then the row is missing, and the next
            # attempt creates it.
            rows = StoredPayload.objects.filter(**same, deleting_at=None)
            row = rows.select_for_update(no_key=True).first()
            if row is None:
                continue
            rows.filter(pk=row.pk).update(checked_at=ClockTimestamp())
            if execution_id is not None:
                _use([(pk, execution_id) for pk in (row.pk, *inside)])
        return row
    raise PayloadStoreUnavailable(COLLECTED)


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


def note(
    workspace_id: UUID, execution_id: UUID | None, found: Encoded, key: int | None
) -> StoredPayload:
    """Open the key that seals a value, declare the use of the value, and return its row."""
    if key is not None:
        payload_keys.opened(key)
    inside = everything_in(found.value)
    return declare(workspace_id, execution_id, found.digest, found.size, key or 0, inside)


def refer(row: StoredPayload, value: Any) -> payloads.StoredReference:
    """Return the reference to a stored value."""
    return reference(row.pk, row.digest, row.size, row.sealing_key, value)


def everything_in(value: Any) -> set[UUID]:
    """Return the IDs of stored values that a value refers to, and of those inside them.

    Uses at most one query: a stored value's row lists the values inside it at any depth.
    """
    ids = _direct(value)
    return ids.union(*_inside(ids).values())


def keep_each(given: Iterable[tuple[UUID, Any]], *, all_there: bool = False) -> None:
    """Declare that each execution or event uses the stored values inside its value.

    Call it in the transaction that writes the values. This locks the stored values, so the
    collector cannot delete them meanwhile. Values that the collector has already marked are
    skipped; with `all_there`, they raise PayloadStoreUnavailable.
    """
    _keep({execution_id: _direct(value) for execution_id, value in given}, all_there=all_there)


def keep_all(execution_ids: Iterable[UUID], value: Any) -> None:
    """Declare that all these executions use the stored values inside `value`; see `keep_each`."""
    ids = _direct(value)
    _keep(dict.fromkeys(execution_ids, ids) if ids else {}, all_there=False)


def _keep(direct: dict[UUID, set[UUID]], *, all_there: bool) -> None:
    ids = set().union(*direct.values())
    if not ids:
        return
    inside = _inside(ids)
    rows = StoredPayload.objects.filter(pk__in=ids.union(*inside.values()), deleting_at=None)
    locked = rows.order_by("pk").select_for_update(no_key=True)
    there = set(locked.values_list("pk", flat=True))
    if all_there and not ids <= there:
        raise PayloadStoreUnavailable(COLLECTED)
    _use(
        [
            (pk, execution_id)
            for execution_id, own in direct.items()
            for pk in own.union(*(inside.get(one, ()) for one in own)) & there
        ]
    )


def share(origin_id: UUID, execution_id: UUID) -> None:
    """Declare that an execution uses all stored values of its origin, whose rows it copies."""
    ids = StoredPayloadUse.objects.filter(holder_id=origin_id).values_list("payload_id", flat=True)
    _use([(pk, execution_id) for pk in ids])


def _use(pairs: Iterable[tuple[UUID, UUID]]) -> None:
    StoredPayloadUse.objects.bulk_create(
        [StoredPayloadUse(payload_id=pk, holder_id=holder) for pk, holder in pairs],
        ignore_conflicts=True,
        batch_size=1_000,
    )


def _direct(value: Any) -> set[UUID]:
    return {UUID(found[0]) for found in map(facts, payloads.references_in(value)) if found}


def _inside(ids: set[UUID]) -> dict[UUID, list[UUID]]:
    if not ids:
        return {}
    rows = StoredPayload.objects.filter(pk__in=ids, refers_to__isnull=False)
    return {pk: inside or [] for pk, inside in rows.values_list("pk", "refers_to")}
