"""Accounts and tokens as requests name them: by prepared statements, read at every request.

What they find are Django's own rows. Its ORM would put its statement together each time, which
takes several times as long as asking.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import DEFAULT_DB_ALIAS

from executions.models import ApiToken
from executions.statements import fetch_one

_OF_USER, _OF_TOKEN = (
    [field.attname for field in model._meta.concrete_fields] for model in (User, ApiToken)
)


class Accounts:
    """As much of the model of accounts as looking one up takes."""

    DoesNotExist = User.DoesNotExist

    @property
    def objects(self) -> "Accounts":
        """Where accounts are got."""
        return self

    def get(self, *, id: Any) -> User:  # noqa: A002 - the field's name
        """The account; raises DoesNotExist."""
        row = fetch_one("account", {"id": int(id)})
        if row is None:
            raise User.DoesNotExist
        return _user(row)


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
