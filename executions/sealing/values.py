"""Seal and open one value."""

from dataclasses import dataclass, field

from django.db.models import Model

from executions.database import connection
from executions.sealing import store
from executions.sealing.errors import KeyUnknown, SealBroken
from executions.sealing.keys import Keys

# A sealed value of Tink begins with this byte and the four bytes of its key's id.
_START = 1
_PREFIX_BYTES = 5


@dataclass(frozen=True, slots=True)
class Sealed:
    """A sealed value and the ID of its key, which is stored with the value."""

    value: bytes = field(repr=False)
    key_id: int


def place_of(row: Model, column: str = "sealed") -> str:
    """Return the binding of a row's sealed column, such as `executions.Credential.sealed:<id>`."""
    return f"{row._meta.label}.{column}:{row.pk}"


def prepare() -> None:
    """Open the data keys; create them if there are none.

    Call it before a transaction that seals, so that no lock is held while a KMS is called. Raises
    NoInstallationKey, WrongInstallationKey, or KeyUnavailable.
    """
    if store.present() is None:
        store.make()


def seal(data: bytes, bound_to: str) -> Sealed:
    """Return `data`, sealed so that it opens only for `bound_to` (see `place_of`).

    Call it in the transaction that stores the value: until the transaction ends, no key is removed.
    Raises the errors of `Sealer`.
    """
    return Sealer().seal(data, bound_to)


class Sealer:
    """Seals values of one transaction; reads the keyset once for all of them.

    Raises RuntimeError if no transaction is open, and the errors of `prepare`.
    """

    def __init__(self) -> None:
        if not connection.in_atomic_block:
            raise RuntimeError(
                "Seal the value in the transaction that stores it: no transaction is open."
            )
        store.hold_shared()
        self._keys = store.present() or store.make()

    def seal(self, data: bytes, bound_to: str) -> Sealed:
        """Seal one value, as the function `seal` does."""
        value = self._keys.aead.encrypt(data, bound_to.encode())
        return Sealed(value, self._keys.primary)


def unseal(value: bytes | memoryview, bound_to: str) -> bytes:
    """Return the value that was sealed for `bound_to`. Uses no query if this process has the key.

    Raises SealBroken, or KeyUnknown if the value was resealed and its old key was removed since the
    caller read it: read the value again. Raises the errors of `prepare` if the keyset must be
    opened.
    """
    import tink

    sealed = bytes(value)
    keys = _holding(_key_id(sealed, bound_to), bound_to)
    try:
        return keys.aead.decrypt(sealed, bound_to.encode())
    except tink.TinkError:
        # The cause adds no information, and a chain of errors could show content in a log.
        raise SealBroken(
            f"The sealed value of {bound_to} cannot be opened: it was changed, or belongs to "
            "another row. Store it again."
        ) from None


def _key_id(sealed: bytes, bound_to: str) -> int:
    if len(sealed) <= _PREFIX_BYTES or sealed[0] != _START:
        raise SealBroken(f"The value stored for {bound_to} is not sealed. Store it again.")
    return int.from_bytes(sealed[1:_PREFIX_BYTES], "big")


def _holding(key_id: int, bound_to: str) -> Keys:
    """Return a keyset with the key of this ID: the process's own keyset, or the current one.

    Raises KeyUnknown, and the errors of `prepare` if the keyset must be opened.
    """
    keys = store.kept()
    if keys is None or key_id not in keys.ids:
        keys = store.present()
    if keys is None or key_id not in keys.ids:
        raise KeyUnknown(
            f"The value of {bound_to} is sealed with key {key_id}, which the keyset does not have."
        )
    return keys
