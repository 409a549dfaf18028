"""Who a bearer token stands for: one query by the digest's index, and a note of its use."""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import Q

from executions.access import TokenLimits
from executions.accounts import token_text
from executions.accounts.errors import TokenRefused
from executions.accounts.finding import token_of
from executions.clock import ClockTimestamp
from executions.models import ApiToken

log = logging.getLogger(__name__)
NOTED_EVERY = timedelta(minutes=1)


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
    _note(token, now, address)
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


def _note(token: ApiToken, now: datetime, address: str | None) -> None:
    """Write the use down once a minute; who holds the row's lock is not waited for."""
    last: datetime | None = token.last_used_at
    if last is not None and now - last < NOTED_EVERY:
        return
    due = Q(last_used_at=None) | Q(last_used_at__lte=now - NOTED_EVERY)
    rows = ApiToken.objects.select_for_update(skip_locked=True, no_key=True)
    try:
        with transaction.atomic():
            if rows.filter(due, pk=token.pk).values_list("pk").first():
                ApiToken.objects.filter(pk=token.pk).update(
                    last_used_at=ClockTimestamp(), last_used_from=address
                )
    except DatabaseError as error:
        log.warning("the use of API token %s was not noted: %s", token.pk, error)
