"""A session with tokens, as signing in with a password begins one."""

from typing import Any

from executions.accounts.sessions import SessionClient
from executions.accounts.token_sessions import Pair, sign_in


def pair_of(user: Any) -> Pair:
    """A new session's tokens."""
    return sign_in(user, SessionClient())


def bearer(user: Any) -> str:
    """The header `Authorization` of a new session."""
    return f"Bearer {pair_of(user).access}"
