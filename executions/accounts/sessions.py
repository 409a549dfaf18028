"""Sessions: what each sign-in begins, which of them an account has, and their ends.

A session that ended stays ended: nothing but `ended_at` says so, and nothing clears it.
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
from executions.errors import NotFound
from executions.models import AccountSession
from executions.states import SessionEnd, SessionKind

LONGEST_AGENT = 300
PRUNED_AT_ONCE, ROUNDS = 5_000, 20


@dataclass(frozen=True, slots=True)
class SessionClient:
    """Where a request came from: the peer's address, and what its program says it is."""

    address: str | None = None
    user_agent: str = ""

    @classmethod
    def of(cls, request: Any) -> "SessionClient":
        """The client of a Django or DRF request; nothing is known without one."""
        if request is None:
            return cls()
        agent = str(request.META.get("HTTP_USER_AGENT", ""))
        # What cannot be text in the database is written as question marks.
        agent = agent.replace("\x00", "?").encode(errors="replace").decode()
        return cls(request.META.get("REMOTE_ADDR") or None, agent[:LONGEST_AGENT])


def begin(
    user: Any,
    kind: SessionKind,
    lifetime: timedelta,
    client: SessionClient,
    refresh_digest: str = "",
) -> AccountSession:
    """A new session of `user`."""
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
    """Those of the rows that neither ended nor expired."""
    return rows.filter(ended_at=None, expires_at__gt=ClockTimestamp())


def own_sessions(user: User) -> QuerySet[AccountSession]:
    """The caller's live sessions; raises Forbidden for an API token, which is limited to less."""
    if getattr(user, "token_limits", None) is not None:
        raise Forbidden(
            "An API token can neither see nor end sessions. Sign in with your user name and "
            "password, or use a browser."
        )
    return live(AccountSession.objects.filter(user=user.pk))


def end(session_id: UUID, *, actor: Actor, user: User | None = None, reason: str = "") -> None:
    """End one live session, of `user` if given; it opens nothing from the next request on.

    Raises NotFound.
    """
    with transaction.atomic():
        rows = AccountSession.objects.filter(pk=session_id)
        if user is not None:
            rows = rows.filter(user=user.pk)
        session = live(rows).select_for_update(no_key=True).first()
        if session is None:
            raise NotFound(f"There is no live session {session_id}, or it is not yours.")
        close(session, SessionEnd.REVOKED)
        audit(actor, "session.end", session, reason=reason, before=facts(session))


def end_others(user: User, kept: UUID | None, *, actor: Actor) -> int:
    """End all live sessions of `user` but the one that is `kept`; returns how many."""
    with transaction.atomic():
        others = live(AccountSession.objects.filter(user=user.pk))
        if kept is not None:
            others = others.exclude(pk=kept)
        ended = others.update(ended_at=ClockTimestamp(), end_reason=SessionEnd.REVOKED)
        if ended:
            # Not the sessions but the account: one line says it.
            account: Any = user
            audit(actor, "user.end_sessions", account, after={"ended": ended})
    return ended


def close(session: AccountSession, reason: SessionEnd) -> bool:
    """End a session for that reason; False when it had ended before."""
    rows = AccountSession.objects.filter(pk=session.pk, ended_at=None)
    return bool(rows.update(ended_at=ClockTimestamp(), end_reason=reason))


def end_all() -> int:
    """End every session of everybody, after a restore; returns how many."""
    rows = AccountSession.objects.filter(ended_at=None)
    return rows.update(ended_at=ClockTimestamp(), end_reason=SessionEnd.REVOKED)


def prune() -> int:
    """Delete sessions that expired; returns how many, 100,000 at most.

    No token outlives its session, so nothing that could be presented again is forgotten.
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
    """What the audit trail keeps of a session."""
    return {
        "user": session.user.get_username(),
        "kind": str(session.kind),
        "userAgent": session.user_agent,
        "address": session.address,
    }
