"""Restrict sessions until their sign-in is complete, and require a recent sign-in for some pages.

The middleware runs after the one that finds the session's user. While a factor must still be
proved, the session is not signed in: each view sees an anonymous visitor.
"""

from functools import cache, partial
from typing import Any
from urllib.parse import urlencode, urlsplit

from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.deprecation import MiddlewareMixin
from django.utils.functional import SimpleLazyObject
from rest_framework.views import APIView

from executions.public import addresses
from executions.public.accounts import SESSION_REFUSAL, TokenRefused
from valkyr_plugins.mfa import recent
from valkyr_plugins.mfa.progress import NOT_RECENT, REFUSALS, SignInProgress, is_recent, progress_of

OWN = "valkyr-mfa"
# The views that begin and end sign-ins: those of the admin by name, others by the beginning of
# their names.
OPEN, OPEN_BEGINNINGS = {"login", "logout"}, ("valkyr-sso-", OWN)


class SecondFactorMiddleware(MiddlewareMixin):
    """Redirects users to the page for the code, for the set-up, or for the password."""

    def process_request(self, request: HttpRequest) -> None:
        """Hide the user from views while a factor is unproved. No request is redirected here."""
        signing_in: Any = request
        signing_in.mfa_user = request.user
        signing_in.mfa_progress = cache(partial(progress_of, request, request.user))
        shown = cache(partial(_shown, signing_in))
        request.user = SimpleLazyObject(shown)  # type: ignore[assignment]
        request.auser = sync_to_async(shown)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        """Redirect a session that may not open this page yet, unless the page is the API's."""
        signing_in: Any = request
        match = request.resolver_match
        if match is None or _is_open(match.url_name or ""):
            return None
        if issubclass(getattr(view, "cls", object), APIView):
            _refuse_session(signing_in, view.cls)
            return None
        match signing_in.mfa_progress():
            case SignInProgress.CODE:
                return _lead(request, "mfa-code")
            case SignInProgress.ENROLMENT if _is_ours(match):
                return _lead(request, "mfa")
            case SignInProgress.COMPLETE if _asks_again(request, view):
                return _lead(request, "mfa-again")
        return None


def _shown(request: Any) -> Any:
    hidden = request.mfa_progress() is SignInProgress.CODE
    return AnonymousUser() if hidden else request.mfa_user


def _refuse_session(request: Any, endpoint: Any) -> None:
    """Make the API reject an incomplete or old session, with the reason.

    Requests with tokens are unaffected.
    """
    if not request.session.session_key:
        return
    progress = request.mfa_progress()
    refusal = REFUSALS.get(progress)
    if progress is SignInProgress.COMPLETE and _is_too_old_for(request, endpoint):
        refusal = NOT_RECENT
    if refusal is not None:
        setattr(request, SESSION_REFUSAL, TokenRefused(*refusal))
        request.user = AnonymousUser()


def _is_too_old_for(request: Any, endpoint: Any) -> bool:
    """Return whether the operation is sensitive and the sign-in is not recent.

    Sensitive operations show secrets or change access.
    """
    return request.method in getattr(endpoint, "sensitive", ()) and not is_recent(request)


def _asks_again(request: HttpRequest, view: Any) -> bool:
    return recent.is_sensitive(request, view) and not is_recent(request)


def _is_open(name: str) -> bool:
    return name in OPEN or name.startswith(OPEN_BEGINNINGS)


def _is_ours(match: Any) -> bool:
    """Return whether the page belongs to an admin site or to Valkyr, not to the project."""
    return "admin" in match.app_names or (match.url_name or "").startswith("valkyr-")


def _lead(request: HttpRequest, name: str) -> HttpResponse:
    """Redirect to a page that later returns to this one.

    An htmx request is redirected by a header.
    """
    wanted = request.get_full_path()
    dialog = request.headers.get("HX-Current-URL")
    if dialog is not None:
        parts = urlsplit(dialog)
        wanted = f"{parts.path}?{parts.query}" if parts.query else parts.path
    target = f"{addresses.api(name)}?{urlencode({'next': wanted})}"
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": target})
    return HttpResponseRedirect(target)
