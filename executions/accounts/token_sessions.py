"""Token sessions: issue a token pair at sign-in, exchange each refresh token once, and sign out.

An update of the session's row exchanges a refresh token, if the row has the presented token's
digest. Of two concurrent exchanges, one changes the row and the other finds a different digest. If
a token is not the current one, its owner or a thief has used it before. It is unknown which of them
has the current token, so the session ends.
"""

import hashlib
import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import jwt
from django.contrib.auth import get_user_model
from django.utils.crypto import constant_time_compare
from rest_framework_simplejwt.exceptions import TokenError
from rest_framework_simplejwt.settings import api_settings
from rest_framework_simplejwt.tokens import AccessToken, RefreshToken, Token
from rest_framework_simplejwt.utils import get_md5_hash_password

from executions.access.actor import Actor
from executions.access.people import read_key
from executions.accounts import sessions
from executions.accounts.audit import audit
from executions.accounts.errors import TokenRefused
from executions.accounts.sessions import SessionClient
from executions.database import transaction
from executions.database.clock import ClockTimestamp
from executions.models import AccountSession
from executions.states import SessionEnd, SessionKind

log = logging.getLogger(__name__)
# The claim that names the session, in refresh and in access tokens.
SESSION = "sid"


# The claim that binds a token to the password for which it was issued.
OF_PASSWORD = "hash_password"  # noqa: S105 - a name


class SessionAccess(AccessToken):
    """An access token of a Valkyr session; a project's own SIMPLE_JWT does not accept it."""

    token_type = "valkyr-access"  # noqa: S105
    lifetime = timedelta(minutes=30)


class SessionRefresh(RefreshToken):
    """A session's refresh token, which is exchanged once for the next pair."""

    token_type = "valkyr-refresh"  # noqa: S105
    lifetime = timedelta(days=1)
    access_token_class = SessionAccess

    @classmethod
    def of(cls, user: Any) -> "SessionRefresh":
        """Return a refresh token for an account, bound to the account's current password."""
        token = cls()
        token[api_settings.USER_ID_CLAIM] = str(user.pk)
        token[OF_PASSWORD] = get_md5_hash_password(user.password)
        return token


@dataclass(frozen=True, slots=True)
class Pair:
    """An access token, and the refresh token that is exchanged for the next pair."""

    access: str
    refresh: str


def sign_in(user: Any, client: SessionClient) -> Pair:
    """Begin a session of `user`, whose password was checked; return its first token pair."""
    refresh = SessionRefresh.of(user)
    lifetime = refresh.lifetime
    session = sessions.begin(user, SessionKind.TOKEN, lifetime, client, _digest(refresh))
    refresh[SESSION] = str(session.pk)
    refresh.payload["exp"] = int(session.expires_at.timestamp())
    return _pair(refresh)


def refresh(text: str, client: SessionClient, request: Any = None) -> Pair:
    """Return the next pair for a session's current refresh token; keep the session's expiry.

    Raises TokenRefused for an invalid token, an ended session, and an account that may not sign in.
    A token that was already exchanged also raises TokenRefused, and ends the session.
    """
    token = _read(SessionRefresh, text)
    if token is None:
        raise TokenRefused("This refresh token is not valid. Sign in again.", "token_not_valid")
    session_id = session_of(token)
    try:
        user_id = read_key(token.get(api_settings.USER_ID_CLAIM))
    except ValueError:
        raise _ended() from None
    used = _digest(token)
    token.payload[api_settings.JTI_CLAIM] = uuid4().hex
    token.set_iat(at_time=token.current_time)
    with transaction.atomic():
        own = AccountSession.objects.filter(pk=session_id, user_id=user_id)
        current = sessions.live(own).filter(refresh_digest=used)
        rotated = current.update(
            refresh_digest=_digest(token),
            last_used_at=ClockTimestamp(),
            last_used_from=client.address,
        )
        if rotated:
            _require_standing(user_id)
            return _pair(token)
        reused = _end_reused(own, request)
    if reused:
        raise TokenRefused(
            "This refresh token was used before, so its session has ended. Sign in again.",
            "refresh_reused",
        )
    raise _ended()


def revoke(text: str, request: Any) -> bool:
    """End a token's session; return False if the token is invalid or the session is not live.

    A refresh token that was already exchanged also ends its session, because signing out ends the
    whole session.
    """
    token = _read(SessionRefresh, text) or _read(SessionAccess, text)
    if token is None:
        return False
    try:
        session_id = session_of(token)
    except TokenRefused:
        return False
    with transaction.atomic():
        rows = AccountSession.objects.select_related("user").filter(pk=session_id)
        session = sessions.live(rows).select_for_update(no_key=True, of=("self",)).first()
        if session is None:
            return False
        sessions.close(session, SessionEnd.SIGNED_OUT)
        actor = Actor.at_door(request, session.user_id, session.user.get_username())
        audit(actor, "account.sign_out", session, before=sessions.facts(session))
    return True


def session_of(token: Token) -> UUID:
    """Return the ID of a token's session. Raises TokenRefused for a token without a session."""
    try:
        return UUID(str(token[SESSION]))
    except (KeyError, ValueError):
        raise _ended() from None


def is_ours(text: str | bytes) -> bool:
    """Return whether a token has one of Valkyr's types; the token need not be valid."""
    try:
        claims = jwt.decode(text, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        return False
    kinds = (SessionAccess.token_type, SessionRefresh.token_type)
    return claims.get(api_settings.TOKEN_TYPE_CLAIM or "token_type") in kinds


def is_of_password(token: Token, user: Any) -> bool:
    """Return whether the token was issued for the account's current password."""
    claim = str(token.get(OF_PASSWORD))
    return constant_time_compare(claim, get_md5_hash_password(user.password))


def _pair(refresh: SessionRefresh) -> Pair:
    access = refresh.access_token
    # No access token outlives its session.
    access.payload["exp"] = min(access["exp"], refresh["exp"])
    return Pair(str(access), str(refresh))


def _read(kind: type[Any], text: str) -> Any:
    """Return a parsed token of the given kind; None if it is expired or otherwise invalid."""
    try:
        return kind(text)
    except TokenError:
        return None


def _ended() -> TokenRefused:
    return TokenRefused("This session has ended. Sign in again.", "session_ended")


def _digest(token: Token) -> str:
    return hashlib.sha256(str(token[api_settings.JTI_CLAIM]).encode()).hexdigest()


def _require_standing(user_id: Any) -> None:
    """Raise TokenRefused if the account may not sign in; this also rolls back the exchange."""
    user = get_user_model()._default_manager.get(pk=user_id)
    if not api_settings.USER_AUTHENTICATION_RULE(user):
        raise TokenRefused(
            "This account cannot sign in with a password. Use single sign-on or an API token.",
            "no_active_account",
        )


def _end_reused(own: Any, request: Any) -> bool:
    """End the session of a reused refresh token; return False if the session is no longer live."""
    session = sessions.live(own.select_related("user")).first()
    if session is None or not sessions.close(session, SessionEnd.REUSED):
        return False
    log.warning("A used refresh token of session %s was presented; it ended.", session.pk)
    actor = Actor.at_door(request, session.user_id, session.user.get_username())
    audit(actor, "session.reuse", session, before=sessions.facts(session))
    return True
