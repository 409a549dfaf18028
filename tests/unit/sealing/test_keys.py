"""Sets of data keys are created, changed, sealed and opened, without a database."""

import pytest

from executions.sealing import WrongInstallationKey
from executions.sealing.installation_key import Aead, KeySource, aead_of
from executions.sealing.keys import (
    ids_in,
    new_keys,
    opened_keys,
    sealed_keys,
    with_new_primary,
    without,
)


def installation(byte: int = 1) -> Aead:
    return aead_of(KeySource("VALKYR_KEY", "env", bytes([byte]) * 32))


def test_a_fresh_set_has_one_key_that_seals() -> None:
    keys = new_keys()

    assert keys.ids == (keys.primary,)
    assert keys.aead.decrypt(keys.aead.encrypt(b"x", b"here"), b"here") == b"x"


def test_a_new_primary_seals_and_the_old_keys_still_open() -> None:
    first = new_keys()
    sealed = first.aead.encrypt(b"x", b"here")

    second = with_new_primary(first)

    assert second.ids == (first.primary, second.primary)
    assert second.primary != first.primary
    assert second.aead.decrypt(sealed, b"here") == b"x"
    assert int.from_bytes(second.aead.encrypt(b"x", b"")[1:5], "big") == second.primary


def test_a_removed_key_opens_nothing_and_the_primary_stays() -> None:
    import tink

    first = new_keys()
    sealed = first.aead.encrypt(b"x", b"here")
    second = with_new_primary(first)

    fewer = without(second, {first.primary})

    assert fewer.ids == (second.primary,)
    with pytest.raises(tink.TinkError):
        fewer.aead.decrypt(sealed, b"here")
    with pytest.raises(ValueError, match="cannot be removed"):
        without(second, {second.primary})


def test_a_sealed_set_opens_with_its_installation_key_alone() -> None:
    keys = new_keys()
    sealed = sealed_keys(keys, installation(1))

    assert opened_keys(sealed, installation(1)).ids == keys.ids
    assert ids_in(sealed) == (keys.ids, keys.primary)
    with pytest.raises(WrongInstallationKey):
        opened_keys(sealed, installation(2))


@pytest.mark.parametrize("sealed", [b"", b"nonsense", bytes(100)])
def test_what_is_no_sealed_set_is_refused(sealed: bytes) -> None:
    with pytest.raises(WrongInstallationKey):
        opened_keys(sealed, installation())


def test_neither_form_of_a_set_shows_a_key() -> None:
    from tink import proto_keyset_format, secret_key_access

    keys = new_keys()
    clear = proto_keyset_format.serialize(keys.handle, secret_key_access.TOKEN)
    secret = clear[clear.index(b"\x1a\x20") + 2 :][:32]

    assert len(secret) == 32
    assert secret not in sealed_keys(keys, installation())
    assert repr(keys) == "Keys()"
