"""A session with tokens, as a sign-in with a password begins one."""

from typing import Any

from executions.accounts.sessions import SessionClient
from executions.accounts.token_sessions import Pair, sign_in


def pair_of(user: Any) -> Pair:
    """Begin a session and return its tokens."""
    return sign_in(user, SessionClient())


def bearer(user: Any) -> str:
    """Begin a session and return its `Authorization` header."""
    return f"Bearer {pair_of(user).access}"
