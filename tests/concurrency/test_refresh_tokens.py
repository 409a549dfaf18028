"""Two concurrent exchanges of one refresh token: one gets a pair, and the session ends."""

from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.db import transaction

from executions.accounts import sessions, token_sessions
from executions.accounts.errors import TokenRefused
from executions.accounts.sessions import SessionClient
from executions.models import AccountSession, Activity
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.signed_in import pair_of


@pytest.fixture
def user(engine: None) -> Any:
    made = get_user_model().objects.create(username=str(uuid4()))
    made.set_unusable_password()
    made.save()
    return made


def refreshed(text: str) -> str:
    """Exchange a refresh token; return the next one, or the code of the rejection."""
    try:
        return token_sessions.refresh(text, SessionClient()).refresh
    except TokenRefused as error:
        return error.code


def test_of_two_exchanges_at_once_one_wins_and_the_session_ends(rivals: Rivals, user: Any) -> None:
    text = pair_of(user).refresh
    with transaction.atomic():
        winner = refreshed(text)
        other = rivals.begin(refreshed, text)
        wait_until_blocked(my_session())

    assert other.result(60) == "refresh_reused"
    assert refreshed(winner) == "session_ended"
    assert AccountSession.objects.get(user=user).end_reason == "REUSED"


def test_of_many_exchanges_at_once_one_wins_and_one_line_tells(rivals: Rivals, user: Any) -> None:
    text, many = pair_of(user).refresh, 6
    gate = Barrier(many)

    def exchange() -> str:
        gate.wait(60)
        return refreshed(text)

    said = [each.result(60) for each in [rivals.begin(exchange) for _ in range(many)]]

    codes = [code for code in said if code in {"refresh_reused", "session_ended"}]
    assert len(codes) == many - 1
    assert codes.count("refresh_reused") == 1
    row = AccountSession.objects.get(user=user)
    assert row.end_reason == "REUSED"
    lines = Activity.objects.filter(action="session.reuse", object_id=str(row.pk))
    assert lines.count() == 1


def test_an_exchange_that_waited_for_the_end_of_its_session_gets_nothing(
    rivals: Rivals, user: Any
) -> None:
    pair = pair_of(user)
    with transaction.atomic():
        token_sessions.revoke(pair.access, None)
        other = rivals.begin(refreshed, pair.refresh)
        wait_until_blocked(my_session())

    assert other.result(60) == "session_ended"
    assert AccountSession.objects.get(user=user).end_reason == "SIGNED_OUT"


def test_a_password_changed_meanwhile_wins_over_an_exchange(rivals: Rivals, user: Any) -> None:
    pair = pair_of(user)
    with transaction.atomic():
        user.set_password("another")
        user.save()
        other = rivals.begin(refreshed, pair.refresh)
        wait_until_blocked(my_session())

    assert other.result(60) == "session_ended"
    assert not sessions.live(AccountSession.objects.filter(user=user)).exists()
