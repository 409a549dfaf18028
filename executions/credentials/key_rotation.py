"""Rotate keys during operation: add a data key, reseal values, and remove old keys.

All values stay readable: a key is removed only when it seals nothing and no process can still be
sealing with it. Each change adds a row to the audit trail.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from executions.access.actor import Actor, record
from executions.database import transaction
from executions.errors import ValkyrError
from executions.models import Keyset
from executions.sealing import SealBroken, place_of, store, unseal
from executions.sealing.installation_key import aead_of, required
from executions.sealing.keys import ids_in, sealed_keys, with_new_primary, without
from executions.sealing.store import SealedColumn, columns
from executions.sealing.values import Sealer

BATCH = 100


class NoKeyset(ValkyrError):
    """There are no data keys yet; they are created when the first secret is stored."""

    code = "no_keyset"


class CannotRetire(ValkyrError):
    """The key cannot be removed."""

    code = "cannot_retire"


@dataclass(frozen=True, slots=True)
class KeyUse:
    """The keyset, and for each column the number of values that each key seals."""

    keyset: Keyset
    ids: tuple[int, ...]
    primary: int
    counts: dict[str, Counter[int]]

    @property
    def unknown(self) -> set[int]:
        """Return the IDs of keys that seal values but are missing from the keyset."""
        return {key for count in self.counts.values() for key in count} - set(self.ids)


def standing() -> KeyUse:
    """Return how many values each data key seals; needs no installation key. Raises NoKeyset."""
    row = _row()
    ids, primary = ids_in(bytes(row.sealed))
    return KeyUse(row, ids, primary, {column.label: column.count() for column in columns()})


def rotate(actor: Actor) -> int:
    """Add a new primary data key; return its ID. Raises NoKeyset, KeysetChanged or SealingError."""
    row = _row()
    keys, source = store.opened(row)
    more = with_new_primary(keys)
    sealed = sealed_keys(more, aead_of(source))
    with transaction.atomic():
        store.replace(row, sealed, source.uri)
        _audit(actor, "keys.rotate", {"primary": keys.primary}, {"primary": more.primary})
    return more.primary


def retire(actor: Actor, ids: Collection[int] = ()) -> tuple[int, ...]:
    """Remove the keys with these IDs or, if none are given, all except the primary; return the IDs.

    If one key cannot be removed, none is removed. Raises StillSealing if one of them seals a value,
    CannotRetire for the primary and for an unknown key, and the errors of `rotate`.
    """
    row = _row()
    keys, source = store.opened(row)
    removed = tuple(ids) or tuple(key for key in keys.ids if key != keys.primary)
    if keys.primary in removed:
        raise CannotRetire(
            f"Key {keys.primary} is the primary, so it cannot be removed. Run `manage.py keys "
            "rotate` first."
        )
    if unknown := sorted(set(removed) - set(keys.ids)):
        raise CannotRetire(f"There is no key {unknown[0]}. `manage.py keys show` lists the keys.")
    if not removed:
        return ()
    fewer = without(keys, removed)
    sealed = sealed_keys(fewer, aead_of(source))
    with transaction.atomic():
        store.replace(row, sealed, source.uri, removed)
        _audit(actor, "keys.retire", {"keys": list(keys.ids)}, {"keys": list(fewer.ids)})
    return removed


def rewrap(actor: Actor) -> str:
    """Seal the keyset with the current installation key; return the earlier key's URI.

    A setting `KEY_OLD…` gives the old key, which is needed unless the current key opens the keyset.
    Raises NoKeyset, KeysetChanged, or SealingError.
    """
    row = _row()
    keys, _ = store.opened(row)
    present = required()
    sealed = sealed_keys(keys, aead_of(present))
    with transaction.atomic():
        store.replace(row, sealed, present.uri)
        _audit(actor, "keys.rewrap", {"key": row.key_uri}, {"key": present.uri})
    return row.key_uri


@dataclass(slots=True)
class RotationProgress:
    """Progress of resealing a column: the number of resealed values, and unreadable rows' IDs."""

    column: str
    done: int
    broken: list[str]


def reseal(
    actor: Actor, tell: Callable[[RotationProgress], None] = lambda progress: None
) -> list[RotationProgress]:
    """Reseal every value that the primary key does not seal; return each column's progress.

    `tell` is called after each batch. An unreadable value is reported and not changed. You can stop
    the resealing and run it again at any time. Raises NoKeyset or SealingError.
    """
    primary = standing().primary
    found = []
    for column in columns():
        progress = RotationProgress(column.label, 0, [])
        for done, broken in _batches(column, primary):
            progress.done += done
            progress.broken += broken
            tell(progress)
        found.append(progress)
    sealed = {progress.column: progress.done for progress in found}
    _audit(actor, "keys.reseal", {}, {"primary": primary, "sealed": sealed})
    return found


def _batches(column: SealedColumn, primary: int) -> Iterator[tuple[int, list[str]]]:
    """Reseal values in ID order; per batch, yield the number resealed and unreadable rows' IDs."""
    last: Any = None
    while True:
        with transaction.atomic():
            rows = column.model._default_manager.exclude(**{column.key: primary}).order_by("pk")
            if last is not None:
                rows = rows.filter(pk__gt=last)
            # Lock rows before keys, in the same order as every change of a sealed value does.
            batch = list(rows.select_for_update(no_key=True).only(column.value, column.key)[:BATCH])
            if not batch:
                return
            sealer = Sealer()
            broken = [str(row.pk) for row in batch if not _resealed(column, row, sealer)]
        last = batch[-1].pk
        yield len(batch) - len(broken), broken


def _resealed(column: SealedColumn, row: Model, sealer: Sealer) -> bool:
    """Reseal one locked row's value; return False if it cannot be opened."""
    place = place_of(row, column.value)
    try:
        data = unseal(getattr(row, column.value), place)
    except SealBroken:
        return False
    sealed = sealer.seal(data, place)
    setattr(row, column.value, sealed.value)
    setattr(row, column.key, sealed.key_id)
    row.save(update_fields=[column.value, column.key])
    return True


def _row() -> Keyset:
    row = Keyset.objects.first()
    if row is None:
        raise NoKeyset
    return row


def _audit(actor: Actor, action: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    record(
        actor,
        action,
        workspace_id=None,
        object_type="Keyset",
        object_id=1,
        before=before,
        after=after,
    )
