"""One value is sealed and opened, with the keyset in the database."""

import base64

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from executions import sealing
from executions.models import Keyset
from executions.sealing import store

pytestmark = pytest.mark.django_db
PLACE = "executions.Credential.sealed:1"


def another_key(byte: int) -> str:
    return base64.b64encode(bytes([byte]) * 32).decode()


@pytest.fixture(autouse=True)
def _nothing_is_known() -> None:
    as_after_a_start()


def as_after_a_start() -> None:
    store.forget()


def test_what_is_sealed_opens_in_its_place_alone() -> None:
    sealed = sealing.seal(b"secret", PLACE)

    assert sealing.unseal(sealed.value, PLACE) == b"secret"
    assert sealing.unseal(memoryview(sealed.value), PLACE) == b"secret"
    assert b"secret" not in sealed.value
    with pytest.raises(sealing.SealBroken, match="belongs to another row"):
        sealing.unseal(sealed.value, "executions.Credential.sealed:2")


def test_equal_values_look_different() -> None:
    assert sealing.seal(b"x", PLACE).value != sealing.seal(b"x", PLACE).value


def test_a_value_changed_in_any_byte_does_not_open() -> None:
    value = sealing.seal(b"secret", PLACE).value

    for i in range(len(value)):
        changed = value[:i] + bytes([value[i] ^ 1]) + value[i + 1 :]
        with pytest.raises(sealing.SealBroken) as error:
            sealing.unseal(changed, PLACE)
        assert "secret" not in str(error.value).replace("secret value", "")


@pytest.mark.parametrize("value", [b"", b"\x01", b"plain text", b"\x01" + bytes(40)])
def test_what_is_no_sealed_value_is_refused(value: bytes) -> None:
    sealing.seal(b"x", PLACE)

    with pytest.raises(sealing.SealBroken):
        sealing.unseal(value, PLACE)


def test_opening_costs_no_query_once_the_key_is_known_and_sealing_two() -> None:
    value = sealing.seal(b"x", PLACE).value

    with CaptureQueriesContext(connection) as opening:
        sealing.unseal(value, PLACE)
    with CaptureQueriesContext(connection) as closing:
        sealing.seal(b"x", PLACE)

    assert (len(opening), len(closing)) == (0, 2)


def test_another_process_opens_it_with_the_same_installation_key() -> None:
    value = sealing.seal(b"x", PLACE).value
    as_after_a_start()

    assert sealing.unseal(value, PLACE) == b"x"


def test_another_installation_key_opens_nothing_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    value = sealing.seal(b"x", PLACE).value
    as_after_a_start()
    monkeypatch.setenv("VALKYR_KEY", another_key(9))

    with pytest.raises(sealing.WrongInstallationKey, match=r"another installation key \(env\)"):
        sealing.unseal(value, PLACE)
    with pytest.raises(sealing.WrongInstallationKey):
        sealing.seal(b"x", PLACE)
    assert Keyset.objects.count() == 1


def test_the_old_installation_key_opens_what_the_new_one_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    value = sealing.seal(b"x", PLACE).value
    as_after_a_start()
    monkeypatch.setenv("VALKYR_KEY_OLD", base64.b64encode(b"k" * 32).decode())
    monkeypatch.setenv("VALKYR_KEY", another_key(9))

    assert sealing.unseal(value, PLACE) == b"x"


def test_a_keyset_that_somebody_replaced_is_noticed() -> None:
    sealing.seal(b"x", PLACE)
    Keyset.objects.all().delete()

    sealed = sealing.seal(b"y", PLACE)

    assert sealing.unseal(sealed.value, PLACE) == b"y"
    assert Keyset.objects.count() == 1


def test_a_lost_keyset_is_said_by_the_keys_number() -> None:
    sealed = sealing.seal(b"x", PLACE)
    Keyset.objects.all().delete()
    as_after_a_start()

    with pytest.raises(sealing.KeyUnknown, match=str(sealed.key_id)):
        sealing.unseal(sealed.value, PLACE)


def test_preparing_makes_the_keys_once() -> None:
    sealing.prepare()
    sealing.prepare()

    assert Keyset.objects.get().version == 1


@pytest.mark.django_db(transaction=True)
def test_sealing_outside_the_storing_transaction_is_a_mistake() -> None:
    with pytest.raises(RuntimeError, match="transaction"):
        sealing.seal(b"x", PLACE)
