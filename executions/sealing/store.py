"""The one keyset row, opened once per process and kept while it is current.

A transaction that seals holds a shared lock until it ends, and one that adds or removes keys holds
an exclusive lock. So no value is sealed with a key that is being removed. Both are advisory locks
of PostgreSQL, which are granted in the order of requests and cost no write.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Model

from executions.database import alias, connection
from executions.database.advisory_locks import AdvisoryLock
from executions.database.clock import ClockTimestamp
from executions.models import Credential, KeptAnswer, Keyset, PayloadKey
from executions.sealing import installation_key
from executions.sealing.errors import (
    KeysetChanged,
    KeyUnavailable,
    StillSealing,
    WrongInstallationKey,
)
from executions.sealing.installation_key import KeySource
from executions.sealing.keys import Keys, new_keys, opened_keys, sealed_keys, with_more

# The columns with sealed values. The values are resealed when keys change; until then, they keep
# their keys in use.


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column of values sealed for `place_of(row, value)`, and the column with their key IDs."""

    model: type[Model]
    value: str = "sealed"
    key: str = "key_id"

    @property
    def label(self) -> str:
        """Return the column's name for display, such as `executions.Credential.sealed`."""
        return f"{self.model._meta.label}.{self.value}"

    def count(self) -> Counter[int]:
        """Return the number of values that each key seals, keyed by key ID. Uses one query."""
        rows = self.model._default_manager.values_list(self.key).annotate(many=Count("*"))
        return Counter(dict(rows.order_by()))

    def holds(self, ids: Collection[int]) -> bool:
        """Return whether any value is sealed with one of the keys `ids`. Uses one query."""
        return self.model._default_manager.filter(**{f"{self.key}__in": ids}).exists()


_columns = [SealedColumn(Credential), SealedColumn(KeptAnswer), SealedColumn(PayloadKey)]


def register(column: SealedColumn) -> None:
    """Register a column. Call this in `AppConfig.ready`, or keys in use may be removed."""
    if column not in _columns:
        _columns.append(column)


def columns() -> tuple[SealedColumn, ...]:
    """Return every registered column that holds sealed values."""
    return tuple(_columns)


Stamp = tuple[int, datetime]


@dataclass(frozen=True, slots=True)
class Opened:
    """The opened keyset at `stamp`, which is its version and the time of its last change."""

    stamp: Stamp
    keys: Keys


# The opened keyset of each database, by alias. Each keyset is replaced as a whole, so threads need
# no lock.
_opened: dict[str, Opened] = {}


def forget() -> None:
    """Forget the keysets that this process holds."""
    _opened.clear()


def hold_shared() -> None:
    """Prevent keys from being added or removed until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [AdvisoryLock.SEALING_KEYS])


def hold_alone() -> None:
    """Prevent sealing until the transaction ends; wait for transactions that are sealing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [AdvisoryLock.SEALING_KEYS])


def present() -> Keys | None:
    """Return the current keyset; None before the first secret. Uses one query, or two to load it.

    Opening the keyset raises NoInstallationKey, WrongInstallationKey or KeyUnavailable.
    """
    rows = Keyset.objects.values_list("version", "updated_at")
    stamp = rows.first()
    if stamp is None:
        return None
    kept = _opened.get(alias())
    if kept is None or kept.stamp != stamp:
        kept = _load()
    return kept.keys if kept else None


def kept() -> Keys | None:
    """Return this process's keyset, even if outdated; None if it holds none. Uses no query."""
    found = _opened.get(alias())
    return found.keys if found else None


def make() -> Keys:
    """Return the current keyset; create it if there is none. Raises the errors of `present`.

    If two processes create one at the same time, both get the same keyset.
    """
    source = installation_key.required()
    sealed = sealed_keys(new_keys(), installation_key.aead_of(source))
    Keyset.objects.bulk_create([Keyset(sealed=sealed, key_uri=source.uri)], ignore_conflicts=True)
    made = present()
    assert made is not None
    return made


def opened(row: Keyset) -> tuple[Keys, KeySource]:
    """Return the keys of a row, and the installation key that opened them.

    Raises the errors of `present`.
    """
    reasons = []
    sources = list(installation_key.openers())
    # Try the source with the stored name first, and then the others, because the key may have
    # moved.
    for source in sorted(sources, key=lambda source: source.uri != row.key_uri):
        try:
            return opened_keys(bytes(row.sealed), installation_key.aead_of(source)), source
        except WrongInstallationKey:
            reasons.append(f"{source.variable} ({source.uri}) cannot open them.")
        except KeyUnavailable as error:
            if source.uri == row.key_uri:
                raise
            reasons.append(error.message)
    raise WrongInstallationKey(
        f"The data keys are sealed with another installation key ({row.key_uri}). "
        f"{' '.join(reasons)} Set the installation key that sealed them."
    )


def replace(row: Keyset, sealed: bytes, key_uri: str, removed: Collection[int] = ()) -> None:
    """Replace the row's sealed keyset; call it in a transaction.

    Raises KeysetChanged if the row is not current, and StillSealing if a value is sealed with a
    `removed` key.
    """
    hold_alone()
    still = [column.label for column in columns() if removed and column.holds(removed)]
    if still:
        raise StillSealing(
            f"{_keys(removed)} still {'seals' if len(removed) == 1 else 'seal'} values of "
            f"{' and '.join(still)}. Run `manage.py keys reseal` first; no key was removed."
        )
    changed = Keyset.objects.filter(version=row.version, updated_at=row.updated_at).update(
        sealed=sealed,
        key_uri=key_uri,
        version=row.version + 1,
        updated_at=ClockTimestamp(),
    )
    if not changed:
        raise KeysetChanged


def adopt(theirs: Keys) -> None:
    """Add another database's data keys, which then open values but seal none.

    Call it in a transaction. Raises KeysetChanged, and the errors of `opened`.
    """
    row = Keyset.objects.first()
    if row is None:
        make()
        row = Keyset.objects.get()
    ours, source = opened(row)
    if set(theirs.ids) <= set(ours.ids):
        return
    sealed = sealed_keys(with_more(ours, theirs), installation_key.aead_of(source))
    replace(row, sealed, source.uri)


def _keys(ids: Collection[int]) -> str:
    return f"{'Key' if len(ids) == 1 else 'Keys'} {', '.join(map(str, sorted(ids)))}"


def _load() -> Opened | None:
    row = Keyset.objects.first()
    if row is None:
        return None
    _opened[alias()] = found = Opened((row.version, row.updated_at), opened(row)[0])
    return found
