"""Who a bearer token stands for: one query by the digest's index, and a note of its use."""

from datetime import datetime
from typing import Any

from executions.access import TokenLimits
from executions.accounts import token_text
from executions.accounts.errors import TokenRefused
from executions.accounts.finding import token_of
from executions.accounts.last_use import note
from executions.models import ApiToken


def signed_in(text: str, address: str | None) -> tuple[Any, ApiToken]:
    """The token's user, with `token_limits` set, and the token; raises TokenRefused.

    `address` is the peer's, kept as the token's last one.
    """
    if not token_text.is_well_formed(text):
        raise TokenRefused(
            "This is no API token: it begins like one, but its checksum is wrong. Copy it again.",
            "token_malformed",
        )
    found = token_of(token_text.digest(text))
    if found is None:
        raise TokenRefused("This API token is not known here.", "token_unknown")
    token, now = found
    _refuse_over(token, now)
    note(ApiToken, token.pk, token.last_used_at, now, address)
    user: Any = token.user
    user.token_limits = TokenLimits(token.workspace_id, frozenset(token.scopes))
    return user, token


def _refuse_over(token: ApiToken, now: datetime) -> None:
    name = f"The API token {token.name!r} ({token.prefix}…)"
    if token.revoked_at is not None:
        raise TokenRefused(f"{name} was revoked. Make a new one.", "token_revoked")
    if token.expires_at is not None and token.expires_at <= now:
        raise TokenRefused(
            f"{name} expired at {token.expires_at:%Y-%m-%d %H:%M} UTC. Make a new one.",
            "token_expired",
        )
    if not token.user.is_active:
        raise TokenRefused(
            f"The account of {name} is switched off. Ask an administrator.", "account_disabled"
        )
