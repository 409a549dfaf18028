"""Races for the last administrator and for one name, and a token whose row another session
locks.
"""

import time
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction

from executions.accounts import members, tokens
from executions.accounts.authentication import signed_in
from executions.accounts.errors import LastAdministrator, Taken, TokenRefused
from executions.accounts.service_accounts import create_service_account
from executions.models import Activity, ApiToken, Membership, ServiceAccount, Workspace
from tests.support import admin_rows as rows
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.workflows import ACTOR


@pytest.fixture
def workspace(engine: None) -> Workspace:
    return rows.workspace(f"team-{uuid4()}")


def _member(workspace: Workspace, role: str) -> Membership:
    user = get_user_model().objects.create(username=str(uuid4()))
    return Membership.objects.create(workspace=workspace, user=user, role=role)


@pytest.mark.parametrize("how", ["demote", "remove"])
def test_two_administrators_cannot_take_each_others_role_at_once(
    rivals: Rivals, workspace: Workspace, how: str
) -> None:
    ada, bob = _member(workspace, "ADMIN"), _member(workspace, "ADMIN")

    def act(membership: Membership) -> None:
        if how == "demote":
            members.change_member(membership.pk, role="USER", actor=ACTOR)
        else:
            members.remove_member(membership.pk, actor=ACTOR)

    with transaction.atomic():
        act(ada)
        other = rivals.begin(act, bob)
        wait_until_blocked(my_session())

    with pytest.raises(LastAdministrator):
        other.result(60)
    assert [row.pk for row in members.administrators(workspace.pk)] == [bob.pk]


def test_only_one_of_those_who_want_a_name_gets_it(rivals: Rivals, workspace: Workspace) -> None:
    many = 8
    gate = Barrier(many)

    def make() -> str:
        gate.wait(60)
        try:
            create_service_account(workspace, name="robot", actor=ACTOR)
        except Taken:
            return "taken"
        return "made"

    said = [each.result(60) for each in [rivals.begin(make) for _ in range(many)]]

    assert sorted(said) == ["made", *["taken"] * (many - 1)]
    assert ServiceAccount.objects.filter(workspace=workspace).count() == 1
    assert Activity.objects.filter(workspace=workspace).count() == 1


@pytest.fixture
def token(workspace: Workspace) -> tuple[ApiToken, str]:
    """Create a token that was never used; return it with its text."""
    user = _member(workspace, "ADMIN").user
    return tokens.create_token(workspace, user, name="t", maker=user, actor=ACTOR)


def test_a_token_lets_in_while_somebody_holds_its_row(
    rivals: Rivals, token: tuple[ApiToken, str]
) -> None:
    row, text = token
    with transaction.atomic():
        tokens.change_token(row.pk, name="held", maker=row.user, actor=ACTOR)
        begun = time.monotonic()
        user, _ = rivals.begin(signed_in, text, "127.0.0.1").result(60)

    assert user.pk == row.user_id
    assert time.monotonic() - begun < 2
    row.refresh_from_db()
    assert (row.name, row.last_used_at) == ("held", None)


def test_a_revoked_token_is_refused_from_the_next_request_on(
    rivals: Rivals, token: tuple[ApiToken, str]
) -> None:
    row, text = token
    many = 6
    gate = Barrier(many)

    def use() -> Any:
        gate.wait(60)
        return signed_in(text, "127.0.0.1")[0].pk

    used = [each.result(60) for each in [rivals.begin(use) for _ in range(many)]]
    tokens.revoke_token(row.pk, maker=row.user, actor=ACTOR)

    assert set(used) == {row.user_id}
    with pytest.raises(TokenRefused):
        rivals.begin(signed_in, text, "127.0.0.1").result(60)
