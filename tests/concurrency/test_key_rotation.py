"""Keys change while credentials are written and read: nothing becomes unreadable or is lost."""

from collections.abc import Iterator
from itertools import count
from threading import Event
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from executions import credentials
from executions.access.actor import Actor
from executions.credentials import key_rotation, opening
from executions.credentials.opening import UsingStep
from executions.database.ids import uuid7
from executions.models import Credential, CredentialUse, KeptAnswer, Keyset, Workspace
from executions.sealing import store, unseal
from executions.sealing.errors import StillSealing
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.waiting import wait_until
from tests.support.workflows import default_workspace

ANN = Actor(None, "ann", "test")
THREADS = 4
TURNS = 6


@pytest.fixture
def workspace(engine: None) -> Iterator[Workspace]:
    """Yield the workspace, which has no key yet."""
    forget()
    yield default_workspace()
    forget()


def forget() -> None:
    for model in (Credential, KeptAnswer, Keyset):
        model._default_manager.all().delete()
    store.forget()


def made(workspace: Workspace, name: str) -> Credential:
    return credentials.create(
        workspace,
        name=name,
        type="secret",
        fields={"value": f"{name}: first"},
        hosts=["*"],
        actor=ANN,
    )


def turn() -> None:
    """Rotate the key, reseal everything, and remove the old key."""
    key_rotation.rotate(ANN)
    key_rotation.reseal(ANN, lambda progress: None)
    key_rotation.retire(ANN)


class Worker:
    """Writes its own credentials and reads all credentials until stopped."""

    def __init__(self, workspace_id: UUID, mine: list[Credential], names: list[str]) -> None:
        self.workspace_id = workspace_id
        self.mine = {credential.name: credential.pk for credential in mine}
        self.names = names
        self.written: dict[str, str] = {name: f"{name}: first" for name in self.mine}
        self.rounds = 0

    def run(self, stop: Event) -> None:
        for number in count():
            if stop.is_set():
                return
            name = list(self.mine)[number % len(self.mine)]
            value = f"{name}: {number:06}"
            credentials.update(self.mine[name], fields={"value": value}, actor=ANN)
            self.written[name] = value
            self.check()
            self.rounds += 1

    def check(self) -> None:
        if self.rounds % 3 == 0:
            store.forget()  # like a process that has just started
        found = credentials.values_of(self.workspace_id, self.names)
        assert sorted(found) == self.names
        for name, fields in found.items():
            assert fields["value"].startswith(f"{name}: ")
        assert {name: found[name]["value"] for name in self.mine} == self.written


def test_credentials_are_written_and_read_while_keys_turn(
    workspace: Workspace, rivals: Rivals
) -> None:
    rows = [made(workspace, f"shared_{i:02}") for i in range(THREADS * 5)]
    names = sorted(row.name for row in rows)
    workers = [Worker(workspace.pk, rows[i::THREADS], names) for i in range(THREADS)]
    first = Keyset.objects.get()
    stop = Event()
    running = [rivals.begin(worker.run, stop) for worker in workers]
    try:
        for done in range(TURNS):
            turn()
            wanted = (done + 1) * 3
            wait_until(
                lambda wanted=wanted: (
                    any(future.done() for future in running)
                    or min(worker.rounds for worker in workers) >= wanted
                ),
                30,
                "work between two turns",
            )
    finally:
        stop.set()
    for future in running:
        future.result(60)

    standing = key_rotation.standing()
    assert standing.keyset.version == first.version + 2 * TURNS
    assert standing.ids == (standing.primary,)
    assert standing.unknown == set()
    for worker in workers:
        worker.check()


def test_a_key_waits_for_who_is_sealing_with_the_one_before(
    workspace: Workspace, rivals: Rivals
) -> None:
    made(workspace, "other")
    old = key_rotation.standing().primary
    with transaction.atomic():
        late = made(workspace, "late")
        rotation = rivals.begin(key_rotation.rotate, ANN)
        wait_until_blocked(my_session())
        assert not rotation.done()
    new = rotation.result(60)

    assert late.key_id == old
    with pytest.raises(StillSealing):
        key_rotation.retire(ANN)
    key_rotation.reseal(ANN, lambda progress: None)
    assert key_rotation.retire(ANN) == (old,)
    assert key_rotation.standing().ids == (new,)
    found = credentials.values_of(workspace.pk, ["other", "late"])
    assert found == {"other": {"value": "other: first"}, "late": {"value": "late: first"}}


def test_a_change_during_resealing_is_not_undone(workspace: Workspace, rivals: Rivals) -> None:
    credential = made(workspace, "shop")
    key_rotation.rotate(ANN)
    with transaction.atomic():
        credentials.update(credential.pk, fields={"value": "the new one"}, actor=ANN)
        resealing = rivals.begin(key_rotation.reseal, ANN, lambda progress: None)
        wait_until_blocked(my_session())
    resealing.result(60)

    found = credentials.values_of(workspace.pk, ["shop"])
    assert found == {"shop": {"value": "the new one"}}
    credential.refresh_from_db()
    assert credential.key_id == key_rotation.standing().primary


def test_two_who_turn_at_once_lose_nothing(workspace: Workspace, rivals: Rivals) -> None:
    made(workspace, "shop")
    with transaction.atomic():
        store.hold_alone()
        both = [rivals.begin(key_rotation.rotate, ANN) for _ in range(2)]
        wait_until_blocked(my_session(), 2)
    outcomes = [future.exception(10) for future in both]

    assert [type(outcome).__name__ for outcome in outcomes if outcome] == ["KeysetChanged"]
    assert len(key_rotation.standing().ids) == 2
    assert credentials.values_of(workspace.pk, ["shop"]) == {"shop": {"value": "shop: first"}}


def test_of_many_first_secrets_one_makes_the_keys(workspace: Workspace, rivals: Rivals) -> None:
    with transaction.atomic():
        # The process that makes the keys now waits for this transaction, and has made its own by
        # then.
        store.make()
        others = [rivals.begin(made, workspace, f"first_{i}") for i in range(THREADS)]
        wait_until_blocked(my_session(), THREADS)
        transaction.set_rollback(True)
    rows = [future.result(60) for future in others]

    assert Keyset.objects.count() == 1
    assert {row.key_id for row in rows} == {key_rotation.standing().primary}
    found = credentials.values_of(workspace.pk, [row.name for row in rows])
    assert len(found) == THREADS


def test_reading_waits_for_nobody(workspace: Workspace, rivals: Rivals) -> None:
    credential = made(workspace, "shop")

    def read() -> dict[str, Any]:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '1ms'")
        return credentials.values_of(workspace.pk, ["shop"])

    with transaction.atomic():
        store.hold_alone()
        Credential.objects.select_for_update().get(pk=credential.pk)
        found = rivals.begin(read).result(60)

    assert found == {"shop": {"value": "shop: first"}}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Turn the keys between the reading and the opening of the first value; return the values."""
    read: list[bytes] = []

    def slow(value: bytes, bound_to: str) -> bytes:
        if not read:
            turn()
            store.forget()
        read.append(bytes(value))
        return unseal(value, bound_to)

    monkeypatch.setattr("executions.credentials.opening.unseal", slow)
    return read


def test_a_value_read_before_its_key_went_is_read_again(
    workspace: Workspace, read: list[bytes]
) -> None:
    made(workspace, "shop")
    found = credentials.values_of(workspace.pk, ["shop"])

    assert found == {"shop": {"value": "shop: first"}}
    assert len(read) == len(set(read)) == 2


def test_the_use_of_a_value_that_was_read_again_can_be_refused(
    workspace: Workspace, read: list[bytes]
) -> None:
    made(workspace, "shop")
    step = UsingStep(workspace.pk, uuid7(), uuid7(), uuid7(), "task.main", 1, "http.request")
    found = opening.opened_for(step, ["shop"])

    use = CredentialUse.objects.get(run_id=step.run_id)
    assert (found["shop"].use_id, use.allowed) == (use.pk, True)
    opening.refuse(step, [found["shop"].use_id], "outside the boundary")
    use.refresh_from_db()
    assert (use.allowed, use.reason) == (False, "outside the boundary")
