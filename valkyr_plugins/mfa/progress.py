"""Read and record the progress of a session's sign-in; only an existing factor counts as proved.

Django's session stores when the user gave the password, and which factor the user proved. Both are
bound to the session, not to the account: in another browser, the user must give both again.
"""

import enum
from typing import Any
from uuid import UUID

from django.contrib.auth import BACKEND_SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver

from executions.public.access import Actor
from executions.public.accounts import TokenRefused
from executions.public.configuration import read
from executions.public.database import database_now
from executions.public.errors import ValkyrError
from valkyr_plugins.mfa import factors
from valkyr_plugins.mfa.conf import MfaSettings

# The keys in Django's session.
SIGNED_IN_AT = "valkyr_signed_in_at"
FACTOR = "valkyr_factor"


class SignInProgress(enum.Enum):
    """The progress of a sign-in."""

    NOBODY = "nobody is signed in"
    CODE = "the password was given, and a code is missing"
    ENROLMENT = "the account has no factor, and needs one"
    COMPLETE = "nothing is missing"


# Messages and codes for programs whose sign-in has stopped at this point.
REFUSALS = {
    SignInProgress.CODE: (
        (
            "The account has a second factor. Enter a code of the authenticator app, or a "
            "recovery code: in the browser, or as `code` beside the password. Passkeys work in the "
            "browser only."
        ),
        "second_factor_required",
    ),
    SignInProgress.ENROLMENT: (
        (
            "This installation requires a second factor, and the account has none. Set one up in "
            "the admin."
        ),
        "second_factor_missing",
    ),
}


NOT_RECENT = (
    (
        "This operation shows secrets or changes access, and the browser's sign-in is not recent. "
        "Confirm the password in the admin, or use an API token."
    ),
    "sign_in_not_recent",
)


def progress_of(request: Any, user: Any) -> SignInProgress:
    """Return the progress of the session's sign-in. Uses one query for a password session."""
    if not user.is_authenticated:
        return SignInProgress.NOBODY
    if is_vouched_for(request):
        return SignInProgress.COMPLETE
    found = factors.ids_of(user)
    if not found:
        return _without_factor()
    proved = request.session.get(FACTOR) in {str(pk) for pk in found}
    return SignInProgress.COMPLETE if proved else SignInProgress.CODE


def check_exchange(user: Any, code: str, request: Any) -> None:
    """Require the missing factor when a password is exchanged for tokens. Raises TokenRefused."""
    lacks = SignInProgress.CODE if factors.ids_of(user) else _without_factor()
    if lacks is SignInProgress.COMPLETE:
        return
    if lacks is SignInProgress.ENROLMENT or not code:
        raise TokenRefused(*REFUSALS[lacks])
    try:
        factors.check(user, code, Actor.at_door(request, user.pk, user.get_username()))
    except ValkyrError as error:
        raise TokenRefused(error.message, error.code) from None


def _without_factor() -> SignInProgress:
    required = read(MfaSettings).mfa_required
    return SignInProgress.ENROLMENT if required else SignInProgress.COMPLETE


def is_vouched_for(request: Any) -> bool:
    """Return whether a backend that itself asks for a second factor signed the user in."""
    backend = request.session.get(BACKEND_SESSION_KEY)
    return backend in read(MfaSettings).mfa_trusted_backends


def is_recent(request: Any) -> bool:
    """Return whether the session's sign-in is recent enough to need no repetition."""
    minutes = read(MfaSettings).recent_sign_in_minutes
    if not minutes:
        return True
    at = request.session.get(SIGNED_IN_AT)
    if not isinstance(at, int | float):
        return False
    return 0 <= database_now().timestamp() - at < minutes * 60


def note_password(request: Any) -> None:
    """Record in the session that the user has just signed in or repeated the password."""
    request.session[SIGNED_IN_AT] = database_now().timestamp()


def note_factor(request: Any, factor_id: UUID) -> None:
    """Record in the session that the user proved this factor; the session gets a new key."""
    request.session[FACTOR] = str(factor_id)
    request.session.cycle_key()


@receiver(user_logged_in)
def _signed_in(sender: Any, request: Any, user: Any, **kwargs: Any) -> None:
    if getattr(request, "session", None) is not None:
        note_password(request)
        request.session.pop(FACTOR, None)
