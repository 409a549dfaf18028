"""Create, rename and revoke API tokens, with at most the permissions of their creators."""

import re
import secrets
import string
from collections.abc import Collection
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID
from zlib import crc32

from django.db.models import Q, QuerySet

from executions.access import SCOPES, Action, Forbidden, User, reach_of
from executions.access.actor import Actor
from executions.accounts.audit import audit
from executions.accounts.caller_permissions import (
    refuse_narrow_token,
    scopes_of,
    token_scopes_of,
)
from executions.configuration import settings as valkyr_settings
from executions.database import transaction
from executions.database.clock import ClockTimestamp, database_now
from executions.definition.graph.problem import DefinitionProblem
from executions.errors import NotFound, WithProblems, WrongState
from executions.models import AccountSession, ApiToken, Workspace
from executions.states import SessionEnd

# The text of an API token: `vlk_`, 256 random bits in base 62, and a CRC-32 in base 62.
#
# The prefix lets scanners of leaked secrets recognise it; the checksum detects a typo without a
# query.


BEGINNING = "vlk_"
_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_BITS = 256
_SECRET_LENGTH = 43  # 62^43 > 2^256
_CHECK_LENGTH = 6  # 62^6 > 2^32
_SHOWN = 12
_FORM = re.compile(rf"{BEGINNING}[0-9A-Za-z]{{{_SECRET_LENGTH + _CHECK_LENGTH}}}")


def make() -> str:
    """Return the text of a new token, which has 53 characters."""
    body = BEGINNING + _base62(secrets.randbits(_BITS), _SECRET_LENGTH)
    return body + _check(body)


def is_well_formed(text: str) -> bool:
    """Return whether the text has the form and checksum of a token that `make` creates."""
    if not _FORM.fullmatch(text):
        return False
    return text[-_CHECK_LENGTH:] == _check(text[:-_CHECK_LENGTH])


def digest(text: str) -> str:
    """Return the stored form of a token: its SHA-256 in hex. 256 random bits need no salt."""
    return sha256(text.encode()).hexdigest()


def beginning_of(text: str) -> str:
    """Return the first 12 characters of a token, which may be shown to identify the token."""
    return text[:_SHOWN]


def _check(body: str) -> str:
    return _base62(crc32(body.encode()), _CHECK_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


def visible_tokens(user: User) -> QuerySet[ApiToken]:
    """Return the caller's tokens in the caller's workspaces and all tokens of administered ones."""
    reach = reach_of(user)
    own = Q(user_id=user.pk, workspace__in=list(reach.members))
    administered = Q(workspace__in=reach.workspaces(Action.ADMINISTER))
    return ApiToken.objects.filter(own | administered)


def create_token(
    workspace: Workspace,
    user: Any,
    *,
    name: str,
    maker: User,
    actor: Actor,
    scopes: Collection[str] | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiToken, str]:
    """Create a token of `user` for one workspace; return the token and its text.

    The text is shown only once. By default, the token expires after VALKYR_TOKEN_DAYS, and has the
    permissions that `maker` and `user` share; if they share none, Forbidden is raised. Also raises
    Forbidden if `maker` lacks one of the `scopes`, or if `refuse_narrow_token` does. Raises
    WithProblems for unknown scopes, and for an expiry time in the past or too far ahead.
    """
    refuse_narrow_token(maker)
    granted = _granted(workspace, user, maker, scopes)
    text = make()
    with transaction.atomic():
        token = ApiToken(
            workspace=workspace,
            user=user,
            name=name,
            prefix=beginning_of(text),
            digest=digest(text),
            scopes=granted,
            expires_at=_expiry(expires_at),
            created_by=actor.name[:200],
            created_at=database_now(),
        )
        token.save(force_insert=True)
        audit(actor, "api_token.create", token, after=facts(token))
    return token, text


def change_token(
    token_id: UUID,
    *,
    actor: Actor,
    maker: User,
    name: str | None = None,
    expires_at: datetime | None = None,
) -> ApiToken:
    """Rename a token, or let it expire earlier.

    Raises NotFound, WrongState for a revoked token, WithProblems for an expiry time that is later
    or in the past, and Forbidden if the caller's API token may not change tokens.
    """
    refuse_narrow_token(maker)
    with transaction.atomic():
        token = _locked(token_id)
        if token.revoked_at is not None:
            raise WrongState(
                f"The API token {token.name!r} is revoked. Create a new one.", "REVOKED"
            )
        before = facts(token)
        if name is not None:
            token.name = name
        if expires_at is not None:
            token.expires_at = _earlier(token, expires_at)
        if facts(token) != before:
            token.save(update_fields=["name", "expires_at"])
            audit(actor, "api_token.update", token, before=before, after=facts(token))
    return token


def revoke_token(token_id: UUID, *, actor: Actor, maker: User, reason: str = "") -> ApiToken:
    """Revoke a token, effective immediately; do nothing if it is already revoked.

    Raises NotFound, and Forbidden if the caller's API token may not change tokens.
    """
    refuse_narrow_token(maker)
    with transaction.atomic():
        token = _locked(token_id)
        if token.revoked_at is None:
            token.revoked_at = database_now()
            token.save(update_fields=["revoked_at"])
            audit(actor, "api_token.revoke", token, reason=reason, before=facts(token))
    return token


def shut_out(user: User, *, actor: Actor, reason: str) -> None:
    """End a user's sessions and revoke the user's tokens; write an audit row if there were any."""
    with transaction.atomic():
        tokens = ApiToken.objects.filter(user=user.pk, revoked_at=None)
        sessions = AccountSession.objects.filter(user=user.pk, ended_at=None)
        ended = {
            "tokens": tokens.update(revoked_at=ClockTimestamp()),
            "sessions": sessions.update(
                ended_at=ClockTimestamp(), end_reason=SessionEnd.LOST_RIGHTS
            ),
        }
        if any(ended.values()):
            account: Any = user
            audit(actor, "user.shut_out", account, reason=reason, after=ended)


def longest() -> timedelta:
    """Return the maximum lifetime of a token (VALKYR_TOKEN_MAX_DAYS)."""
    return timedelta(days=valkyr_settings().token_max_days)


def usual() -> timedelta:
    """Return the default lifetime of a token (VALKYR_TOKEN_DAYS), at most the maximum."""
    return min(timedelta(days=valkyr_settings().token_days), longest())


def facts(token: ApiToken) -> dict[str, Any]:
    """Return a token's values for the audit trail."""
    return {
        "name": token.name,
        "user": token.user.get_username(),
        "prefix": token.prefix,
        "scopes": token.scopes,
        "expiresAt": token.expires_at.isoformat() if token.expires_at else None,
    }


def _granted(
    workspace: Workspace, user: Any, maker: User, scopes: Collection[str] | None
) -> list[str]:
    may = scopes_of(maker, workspace.pk)
    if scopes is None:
        scopes = may if user.pk == maker.pk else may & scopes_of(user, workspace.pk)
        if not scopes:
            raise Forbidden(
                f"The token's user has no permissions in workspace {workspace.slug!r}. Give the "
                "user a role, a permission or access to a workflow first."
            )
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown:
        raise _invalid(
            "scopes", "unknown_scope", f"There is no scope {unknown[0]!r}. Scopes are: {_all()}."
        )
    beyond = sorted(set(scopes) - token_scopes_of(maker, workspace.pk))
    if beyond:
        raise Forbidden(
            f"A token cannot have scopes that you do not have in workspace {workspace.slug!r}: "
            f"{', '.join(beyond)}."
        )
    return sorted(set(scopes))


def _expiry(wanted: datetime | None) -> datetime:
    now = database_now()
    if wanted is None:
        return now + usual()
    if wanted <= now:
        raise _invalid(
            "expiresAt", "past", f"{wanted.isoformat()} is not in the future. Choose a later time."
        )
    if wanted > now + longest():
        raise _invalid(
            "expiresAt",
            "too_far",
            f"A token is valid for at most {valkyr_settings().token_max_days} days "
            f"(VALKYR_TOKEN_MAX_DAYS); {wanted.isoformat()} is too late.",
        )
    return wanted


def _earlier(token: ApiToken, wanted: datetime) -> datetime:
    if token.expires_at is not None and wanted > token.expires_at:
        raise _invalid(
            "expiresAt",
            "later",
            "A token's lifetime can only be shortened: it expires at "
            f"{token.expires_at.isoformat()}. Create a new token.",
        )
    return _expiry(wanted)


def _locked(token_id: UUID) -> ApiToken:
    rows = ApiToken.objects.select_for_update(no_key=True, of=("self",)).select_related("user")
    token = rows.filter(pk=token_id).first()
    if token is None:
        raise NotFound(f"There is no API token {token_id}.")
    return token


def _invalid(path: str, code: str, message: str) -> WithProblems:
    return WithProblems(f"Not valid: {path}.", [DefinitionProblem(path, code, message)])


def _all() -> str:
    return ", ".join(SCOPES)
