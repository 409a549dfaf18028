"""A set of data keys: create it, add and remove keys, and seal and open the set.

This module uses no database. Tink's keysets for Python are immutable, so a changed keyset is built
from its keys.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from executions.sealing.errors import KeyUnavailable, WrongInstallationKey
from executions.sealing.installation_key import Aead

# Binds a sealed keyset to its row.
PLACE = b"executions.Keyset.sealed"


@dataclass(frozen=True)
class Keys:
    """An opened set of AES-256-GCM keys; `primary` is the ID of the key that seals new values."""

    handle: Any = field(repr=False)

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """Return the IDs of all keys, in the order in which they were added to the set."""
        return tuple(info.key_id for info in self.handle.keyset_info().key_info)

    @cached_property
    def primary(self) -> int:
        """Return the ID of the primary key, which seals new values."""
        return int(self.handle.keyset_info().primary_key_id)

    @cached_property
    def aead(self) -> Aead:
        """Return the AEAD that seals and opens values; each sealed value contains its key's ID."""
        from tink import aead

        aead.register()
        made: Aead = self.handle.primitive(aead.Aead)
        return made


def new_keys() -> Keys:
    """Return a set with one new key, which is the primary key."""
    import tink
    from tink import aead

    aead.register()
    return Keys(tink.new_keyset_handle(aead.aead_key_templates.AES256_GCM))


def with_new_primary(keys: Keys) -> Keys:
    """Return the keys with a new primary key, which seals all later values."""
    fresh = new_keys()
    while fresh.primary in keys.ids:
        fresh = new_keys()
    keyset, more = _proto(keys), _proto(fresh)
    keyset.key.extend(more.key)
    keyset.primary_key_id = more.primary_key_id
    return _of(keyset)


def with_more(keys: Keys, others: Keys) -> Keys:
    """Return the keys together with those of another set; the primary key does not change."""
    keyset = _proto(keys)
    keyset.key.extend(key for key in _proto(others).key if key.key_id not in keys.ids)
    return _of(keyset)


def without(keys: Keys, ids: Collection[int]) -> Keys:
    """Return the set without the keys with these IDs. Raises ValueError for the primary key."""
    keyset = _proto(keys)
    if keyset.primary_key_id in ids:
        raise ValueError(
            f"Key {keyset.primary_key_id} is the primary, so it cannot be removed. Run `manage.py "
            "keys rotate` first."
        )
    kept = [key for key in keyset.key if key.key_id not in ids]
    del keyset.key[:]
    keyset.key.extend(kept)
    return _of(keyset)


def sealed_keys(keys: Keys, by: Aead) -> bytes:
    """Return the sealed set of keys, with their IDs unsealed for `ids_in`.

    Raises KeyUnavailable.
    """
    import tink
    from tink import proto_keyset_format
    from tink.proto import tink_pb2

    try:
        sealed = proto_keyset_format.serialize_encrypted(keys.handle, by, PLACE)
    except tink.TinkError as error:
        raise KeyUnavailable("The data keys could not be sealed.") from error
    told = tink_pb2.EncryptedKeyset.FromString(sealed)
    told.keyset_info.CopyFrom(keys.handle.keyset_info())
    text: bytes = told.SerializeToString()
    return text


def opened_keys(sealed: bytes, by: Aead) -> Keys:
    """Return the opened keys. Raises WrongInstallationKey, or KeyUnavailable if the KMS fails."""
    import tink
    from google.protobuf.message import DecodeError
    from tink import aead, proto_keyset_format

    aead.register()
    try:
        return Keys(proto_keyset_format.parse_encrypted(sealed, by, PLACE))
    except (tink.TinkError, DecodeError) as error:
        raise WrongInstallationKey from error


def ids_in(sealed: bytes) -> tuple[tuple[int, ...], int]:
    """Return the IDs of the keys in a sealed set, and the primary key's ID, without opening it."""
    from tink.proto import tink_pb2

    info = tink_pb2.EncryptedKeyset.FromString(sealed).keyset_info
    return tuple(key.key_id for key in info.key_info), int(info.primary_key_id)


def _proto(keys: Keys) -> Any:
    from tink import proto_keyset_format, secret_key_access
    from tink.proto import tink_pb2

    return tink_pb2.Keyset.FromString(
        proto_keyset_format.serialize(keys.handle, secret_key_access.TOKEN)
    )


def _of(keyset: Any) -> Keys:
    from tink import proto_keyset_format, secret_key_access

    return Keys(proto_keyset_format.parse(keyset.SerializeToString(), secret_key_access.TOKEN))
