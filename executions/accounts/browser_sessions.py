"""Browser sessions: Django's session holds the ID of Valkyr's session, which each request checks.

Sign-in begins a Valkyr session, and sign-out ends it. The cookie of an ended session is rejected,
regardless of Django's session store.
"""

from datetime import timedelta
from functools import cache, partial
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import auth
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.contrib.sessions.models import Session
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from executions.accounts import sessions
from executions.accounts.authentication import live_session, note_session
from executions.accounts.sessions import SessionClient
from executions.models import AccountSession
from executions.states import SessionEnd, SessionKind

# The key in Django's session that holds the ID of the `AccountSession`.
ENTRY = "valkyr_session"
MOST_CLEARED = 10_000


class BrowserSessions(AuthenticationMiddleware):
    """Django's authentication middleware, with a check that the session's row is live."""

    def process_request(self, request: HttpRequest) -> None:
        """Set the request's user, which is loaded on first access."""
        super().process_request(request)
        user = cache(partial(_user, request))
        request.user = SimpleLazyObject(user)  # type: ignore[assignment]
        request.auser = sync_to_async(user)


def open_for(request: Any, user: Any) -> None:
    """Begin a session for this browser, in place of the browser's earlier session."""
    _close(request)
    lifetime = timedelta(seconds=request.session.get_expiry_age())
    made = sessions.begin(user, SessionKind.BROWSER, lifetime, SessionClient.of(request))
    request.session[ENTRY] = str(made.pk)


def current(request: Any) -> UUID | None:
    """Return the ID of Valkyr's session in this browser; None if there is none."""
    session = getattr(request, "session", None)
    try:
        return UUID(session[ENTRY]) if session is not None else None
    except (KeyError, ValueError, TypeError):
        return None


def clear() -> int:
    """Delete Django's expired sessions, the oldest first; return the number, at most 10,000.

    An abandoned sign-in at an identity provider also leaves a session.
    """
    over = Session.objects.filter(expire_date__lt=timezone.now()).order_by("expire_date")
    keys = list(over.values_list("pk", flat=True)[:MOST_CLEARED])
    return Session.objects.filter(pk__in=keys).delete()[0]


@cache
def _checked() -> bool:
    """Return whether the project has the middleware that checks browser sessions."""
    path = f"{BrowserSessions.__module__}.{BrowserSessions.__qualname__}"
    return path in settings.MIDDLEWARE


@receiver(user_logged_in)
def _signed_in(sender: Any, request: Any, user: Any, **kwargs: Any) -> None:
    if _checked() and getattr(request, "session", None) is not None:
        open_for(request, user)


@receiver(user_logged_out)
def _signed_out(sender: Any, request: Any, user: Any, **kwargs: Any) -> None:
    _close(request)


def _close(request: Any) -> None:
    session_id = current(request)
    if session_id is not None:
        sessions.close(AccountSession(pk=session_id), SessionEnd.SIGNED_OUT)


def _user(request: Any) -> Any:
    """Return the user; if Valkyr's session is not live, flush Django's and return AnonymousUser."""
    user: Any = auth.get_user(request)
    if not user.is_authenticated:
        return user
    session_id = current(request)
    found = None if session_id is None else live_session(session_id, user.pk)
    if session_id is None or found is None:
        request.session.flush()
        return AnonymousUser()
    now, last_used = found
    note_session(session_id, last_used, now, request.META.get("REMOTE_ADDR") or None)
    return user
