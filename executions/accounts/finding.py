"""Accounts, sessions and tokens as requests name them: by prepared statements, at every request.

What they find are Django's own rows. Its ORM would put its statement together each time, which
takes several times as long as asking.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import DEFAULT_DB_ALIAS

from executions.accounts.errors import TokenRefused
from executions.database.statements import fetch_one
from executions.models import ApiToken

_OF_USER, _OF_TOKEN = (
    [field.attname for field in model._meta.concrete_fields] for model in (User, ApiToken)
)


class AccountsInSession:
    """As much of the model of accounts as looking one up takes, for requests of one session.

    One statement reads the account and checks the session. After `get`, `last_used` tells the
    session's last use and `now` the database's time.
    """

    DoesNotExist = User.DoesNotExist

    def __init__(self, session_id: UUID) -> None:
        self.session_id = session_id
        self.now: datetime
        self.last_used: datetime

    @property
    def objects(self) -> "AccountsInSession":
        """Where accounts are got."""
        return self

    def get(self, *, id: Any) -> User:  # noqa: A002 - the field's name
        """The account; raises TokenRefused when the session is not a live one of it."""
        row = fetch_one("account_in_session", {"id": int(id), "session": self.session_id})
        if row is None:
            raise TokenRefused("This session has ended. Sign in again.", "session_ended")
        self.now, self.last_used, *columns = row
        return _user(columns)


def live_session(session_id: UUID, user_id: int) -> tuple[datetime, datetime] | None:
    """The time and the session's last use; None when it is not a live one of that account."""
    row = fetch_one("live_session", {"session": session_id, "id": user_id})
    return None if row is None else (row[0], row[1])


def token_of(digest: str) -> tuple[ApiToken, datetime] | None:
    """The API token with its user, and the time; None where there is none."""
    row = fetch_one("token", {"digest": digest})
    if row is None:
        return None
    now, *columns = row
    token = ApiToken.from_db(DEFAULT_DB_ALIAS, _OF_TOKEN, columns[: len(_OF_TOKEN)])
    token.user = _user(columns[len(_OF_TOKEN) :])
    return token, now


def _user(columns: Sequence[Any]) -> User:
    return User.from_db(DEFAULT_DB_ALIAS, _OF_USER, columns)
