"""Sessions: begin them at sign-in, list an account's sessions, and end them.

A session that ended stays ended: `ended_at` is never cleared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from executions.access import Forbidden, User
from executions.access.actor import Actor
from executions.accounts.audit import audit
from executions.database import transaction
from executions.database.clock import ClockTimestamp, database_now
from executions.database.routing import in_first
from executions.errors import NotFound
from executions.models import AccountSession
from executions.states import SessionEnd, SessionKind

LONGEST_AGENT = 300
PRUNED_AT_ONCE, ROUNDS = 5_000, 20


@dataclass(frozen=True, slots=True)
class SessionClient:
    """The origin of a request: the peer's address, and the name of the client program."""

    address: str | None = None
    user_agent: str = ""

    @classmethod
    def of(cls, request: Any) -> "SessionClient":
        """Return the client of a Django or DRF request; an empty client if there is no request."""
        if request is None:
            return cls()
        agent = str(request.META.get("HTTP_USER_AGENT", ""))
        # Replace characters that the database cannot store with question marks.
        agent = agent.replace("\x00", "?").encode(errors="replace").decode()
        return cls(request.META.get("REMOTE_ADDR") or None, agent[:LONGEST_AGENT])


@in_first
def begin(
    user: Any,
    kind: SessionKind,
    lifetime: timedelta,
    client: SessionClient,
    refresh_digest: str = "",
) -> AccountSession:
    """Create and return a session of `user` that expires after `lifetime`."""
    now = database_now()
    return AccountSession.objects.create(
        user=user,
        kind=kind,
        refresh_digest=refresh_digest,
        user_agent=client.user_agent,
        address=client.address,
        created_at=now,
        last_used_at=now,
        last_used_from=client.address,
        expires_at=now + lifetime,
    )


def live(rows: QuerySet[AccountSession]) -> QuerySet[AccountSession]:
    """Return the rows of sessions that are live: not ended and not expired."""
    return rows.filter(ended_at=None, expires_at__gt=ClockTimestamp())


def own_sessions(user: User) -> QuerySet[AccountSession]:
    """Return the caller's live sessions.

    Raises Forbidden for a caller with an API token.
    """
    if getattr(user, "token_limits", None) is not None:
        raise Forbidden(
            "An API token cannot list or end sessions. Sign in with your user name and password, "
            "or use a browser."
        )
    return live(AccountSession.objects.filter(user=user.pk))


@in_first
def end(session_id: UUID, *, actor: Actor, user: User | None = None, reason: str = "") -> None:
    """End a live session (of `user`, if given), effective from the next request.

    Raises NotFound.
    """
    with transaction.atomic():
        rows = AccountSession.objects.filter(pk=session_id)
        if user is not None:
            rows = rows.filter(user=user.pk)
        session = live(rows).select_for_update(no_key=True).first()
        if session is None:
            raise NotFound(f"You have no active session {session_id}.")
        close(session, SessionEnd.REVOKED)
        audit(actor, "session.end", session, reason=reason, before=facts(session))


@in_first
def end_others(user: User, kept: UUID | None, *, actor: Actor) -> int:
    """End all live sessions of `user` except the session `kept`; return how many ended."""
    with transaction.atomic():
        others = live(AccountSession.objects.filter(user=user.pk))
        if kept is not None:
            others = others.exclude(pk=kept)
        ended = others.update(ended_at=ClockTimestamp(), end_reason=SessionEnd.REVOKED)
        if ended:
            # One row for the account, instead of one row per session.
            account: Any = user
            audit(actor, "user.end_sessions", account, after={"ended": ended})
    return ended


@in_first
def close(session: AccountSession, reason: SessionEnd) -> bool:
    """End a session for a reason; return False if it had ended before."""
    rows = AccountSession.objects.filter(pk=session.pk, ended_at=None)
    return bool(rows.update(ended_at=ClockTimestamp(), end_reason=reason))


def end_all() -> int:
    """End every session, as is necessary after a restore from a backup; return how many ended."""
    rows = AccountSession.objects.filter(ended_at=None)
    return rows.update(ended_at=ClockTimestamp(), end_reason=SessionEnd.REVOKED)


def prune() -> int:
    """Delete expired sessions; return the number, at most 100,000.

    No token outlives its session, so no usable token is lost.
    """
    total = 0
    for _ in range(ROUNDS):
        with transaction.atomic():
            over = AccountSession.objects.filter(expires_at__lt=database_now())
            rows = over.select_for_update(skip_locked=True).order_by("expires_at")
            ids = list(rows.values_list("pk", flat=True)[:PRUNED_AT_ONCE])
            AccountSession.objects.filter(pk__in=ids).delete()
        total += len(ids)
        if len(ids) < PRUNED_AT_ONCE:
            break
    return total


def facts(session: AccountSession) -> Mapping[str, Any]:
    """Return a session's values for the audit trail."""
    return {
        "user": session.user.get_username(),
        "kind": str(session.kind),
        "userAgent": session.user_agent,
        "address": session.address,
    }
