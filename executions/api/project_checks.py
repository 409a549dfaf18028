"""System checks: what a project lacks for the API and the pages, and how to add it."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as Advice
from django.urls import NoReverseMatch

from executions import addresses
from executions.configuration import settings as valkyr_settings

SESSIONS = "executions.accounts.browser_sessions.BrowserSessions"
DJANGOS = "django.contrib.auth.middleware.AuthenticationMiddleware"


@register(Tags.urls)
def addresses_are_there(**_: Any) -> list[CheckMessage]:
    """The project's urlconf has our routes."""
    try:
        addresses.root()
    except NoReverseMatch:
        return [
            Advice(
                f"{settings.ROOT_URLCONF} has no routes of Valkyr; expected them below any prefix.",
                hint='Add path("workflows/", include("valkyr.urls")) to its urlpatterns.',
                id="executions.W101",
            )
        ]
    return []


@register(Tags.security)
def authentication_is_there(**_: Any) -> list[CheckMessage]:
    """The project's own classes can be imported."""
    if not valkyr_settings().authentication_classes:
        return []
    # Here, since it loads REST framework, which no worker needs.
    from executions.api.pinned import added_authentication

    try:
        classes = added_authentication()
    except ImportError as error:
        return [
            Error(
                f'VALKYR["AUTHENTICATION_CLASSES"] names a class that is not there: {error}',
                hint="Name classes of REST framework by their dotted paths.",
                id="executions.E102",
            )
        ]
    wrong = [one for one in classes if not hasattr(one, "authenticate")]
    return [
        Error(
            f'VALKYR["AUTHENTICATION_CLASSES"] names {one!r}; expected an authentication class.',
            hint="Name classes like rest_framework.authentication.TokenAuthentication.",
            id="executions.E102",
        )
        for one in wrong
    ]


@register(Tags.security)
def sessions_can_be_ended(**_: Any) -> list[CheckMessage]:
    """Requests of browsers are checked against the sessions that people see and end."""
    if SESSIONS in settings.MIDDLEWARE:
        return []
    return [
        Advice(
            "MIDDLEWARE has no BrowserSessions, so sessions of browsers are not listed under "
            "Sessions and cannot be ended there. Sessions by tokens are.",
            hint=f"Replace {DJANGOS} by {SESSIONS} in MIDDLEWARE, or silence executions.W103.",
            id="executions.W103",
        )
    ]
