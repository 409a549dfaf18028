"""`manage.py keys`: each action, its output, and its errors."""

import base64
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from executions import credentials, sealing
from executions.access.actor import Actor
from executions.models import Activity, Credential, KeptAnswer, Keyset
from executions.sealing import store
from executions.sealing.keys import ids_in
from tests.support.workflows import default_workspace

pytestmark = pytest.mark.django_db
ANN = Actor(None, "ann", "test")


def keys(*arguments: Any) -> str:
    out = StringIO()
    call_command("keys", *map(str, arguments), stdout=out)
    return out.getvalue()


def made(name: str) -> Credential:
    workspace = default_workspace()
    return credentials.create(
        workspace, name=name, type="secret", fields={"value": f"of {name}"}, hosts=["*"], actor=ANN
    )


def kept_answer() -> KeptAnswer:
    row = KeptAnswer(user_id=1, key="k", operation="POST /", request_hash="", status=201)
    with transaction.atomic():
        sealed = sealing.seal(b"{}", sealing.place_of(row))
        row.sealed, row.key_id = sealed.value, sealed.key_id
        row.save(force_insert=True)
    return row


def ids() -> tuple[tuple[int, ...], int]:
    return ids_in(bytes(Keyset.objects.get().sealed))


def test_without_a_secret_there_is_nothing_to_show() -> None:
    with pytest.raises(CommandError, match="no data keys yet"):
        keys("show")


def test_it_shows_the_keys_and_what_each_seals_and_needs_no_installation_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made("bank"), made("shop"), kept_answer()
    monkeypatch.delenv("VALKYR_KEY")

    shown = keys("show")

    _, primary = ids()
    assert "keyset version 1, sealed with env" in shown
    (line,) = [line for line in shown.splitlines() if str(primary) in line]
    assert (
        line.split()
        == (
            f"{primary} primary seals 2 of executions.Credential.sealed, "
            "1 of executions.KeptAnswer.sealed, 0 of executions.PayloadKey.sealed, "
            "0 of valkyr_alerts.AlertRule.sealed, "
            "0 of valkyr_mfa.SecondFactor.sealed"
        ).split()
    )


def test_a_full_turn_leaves_one_new_key_and_every_value(monkeypatch: pytest.MonkeyPatch) -> None:
    credential, answer = made("shop"), kept_answer()
    before = Credential.objects.get()
    (_, old) = ids()

    assert "seals from now on" in keys("rotate")
    later = made("later")
    resealed = keys("reseal")
    assert f"Removed {old}." in keys("retire")

    (left, primary) = ids()
    assert left == (primary,) != (old,)
    assert later.key_id == primary
    assert "executions.Credential.sealed: 1 sealed again" in resealed
    assert "executions.KeptAnswer.sealed: 1 sealed again" in resealed
    store.forget()
    found = credentials.values_of(credential.workspace_id, ["shop", "later"])
    assert found == {"shop": {"value": "of shop"}, "later": {"value": "of later"}}
    answer.refresh_from_db()
    assert sealing.unseal(answer.sealed, sealing.place_of(answer)) == b"{}"
    after = Credential.objects.get(name="shop")
    assert (after.version, after.updated_at) == (before.version, before.updated_at)
    assert after.key_id == primary
    actions = Activity.objects.filter(object_type="Keyset").order_by("id")
    assert [(row.action, row.via) for row in actions] == [
        ("keys.rotate", "command"),
        ("keys.reseal", "command"),
        ("keys.retire", "command"),
    ]


def test_a_key_that_still_seals_is_not_removed() -> None:
    made("shop")
    (_, old) = ids()
    keys("rotate")
    keys("rotate")

    for arguments in ((), (old,)):
        with pytest.raises(CommandError, match=f"{old}.* of executions.Credential.sealed"):
            keys("retire", *arguments)

    assert len(ids()[0]) == 3


def test_keys_may_be_removed_one_by_one() -> None:
    made("shop")
    (_, first) = ids()
    keys("rotate")
    (_, second) = ids()
    keys("rotate")

    keys("retire", second)

    assert second not in ids()[0]
    assert first in ids()[0]


def test_the_primary_and_unknown_keys_are_not_removed() -> None:
    made("shop")
    (_, primary) = ids()

    with pytest.raises(CommandError, match="is the primary"):
        keys("retire", primary)
    with pytest.raises(CommandError, match="There is no key 5"):
        keys("retire", 5)
    assert "only one key" in keys("retire")


def test_a_value_that_does_not_open_is_named_and_left_and_keeps_its_key() -> None:
    credential, other = made("shop"), made("other")
    (_, old) = ids()
    broken = old.to_bytes(4, "big")
    Credential.objects.filter(pk=credential.pk).update(sealed=b"\x01" + broken + bytes(30))
    keys("rotate")

    with pytest.raises(CommandError, match=f"1 values? .*Credential.sealed of {credential.pk}"):
        keys("reseal")

    other.refresh_from_db()
    assert other.key_id != old
    with pytest.raises(CommandError, match="still seals"):
        keys("retire")


def test_more_values_than_a_batch_are_all_sealed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("executions.credentials.key_rotation.BATCH", 3)
    for i in range(7):
        made(f"name{i}")
    keys("rotate")

    printed = keys("reseal")

    assert "7 sealed again" in printed
    assert "  executions.Credential.sealed: 3 …" in printed
    assert set(Credential.objects.values_list("key_id", flat=True)) == {ids()[1]}


def test_the_keyset_moves_to_a_new_installation_key(monkeypatch: pytest.MonkeyPatch) -> None:
    credential = made("shop")
    sealed = bytes(Credential.objects.get().sealed)
    monkeypatch.setenv("VALKYR_KEY_OLD", base64.b64encode(b"k" * 32).decode())
    monkeypatch.setenv("VALKYR_KEY", base64.b64encode(b"n" * 32).decode())
    store.forget()
    made("between")

    assert "sealed with env" in keys("rewrap")

    monkeypatch.delenv("VALKYR_KEY_OLD")
    store.forget()
    found = credentials.values_of(credential.workspace_id, ["shop", "between"])
    assert found == {"shop": {"value": "of shop"}, "between": {"value": "of between"}}
    assert bytes(Credential.objects.get(name="shop").sealed) == sealed
    assert Keyset.objects.get().version == 2


def test_moving_without_the_old_installation_key_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made("shop")
    monkeypatch.setenv("VALKYR_KEY", base64.b64encode(b"n" * 32).decode())

    for action in ("rewrap", "rotate", "retire"):
        with pytest.raises(CommandError, match="another installation key"):
            keys(action)

    assert Keyset.objects.get().version == 1


def test_two_installation_keys_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made("shop")
    monkeypatch.setenv("VALKYR_KEY_URI", "aws-kms://arn:aws:kms:x:1:key/1")

    with pytest.raises(CommandError, match="exactly one of"):
        keys("rotate")


def test_lost_keys_are_shown() -> None:
    made("shop")
    Credential.objects.update(key_id=77)

    assert "77  lost" in keys("show")
