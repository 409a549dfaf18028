"""Report invalid settings at start-up and in `manage.py check`."""

import sys
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from django.conf import settings as django_settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as Advice
from django.core.exceptions import ImproperlyConfigured
from django.urls import NoReverseMatch

from executions import addresses, messaging
from executions.configuration import EngineSettings, SettingsModel, forget, problems, tolerate
from executions.configuration import settings as valkyr_settings
from executions.database import row_scope
from executions.egress.rules import SETTING
from executions.egress.rules import problems_of as egress_problems
from executions.plugins import plugins
from executions.sealing import installation_key

Check = Callable[..., list[CheckMessage]]
CALL = (
    "Call valkyr.configure_celery(app) where the project creates its Celery app, and import "
    "that module in the project's __init__.py, so that web processes use it too."
)
REFERENCE = "Fix it where it is set; docs/reference/configuration.md lists every setting."


def classes() -> list[type[SettingsModel]]:
    """Return the settings classes of the engine and of those installed plugins that have one."""
    found = (plugin.settings_class for plugin in plugins())
    return [EngineSettings, *(one for one in found if one is not None)]


def refuse() -> None:
    """Raise ImproperlyConfigured for invalid settings; `manage.py check` lists them instead."""
    forget()
    if sys.argv[1:2] == ["check"]:
        tolerate(True)
    elif found := list(
        dict.fromkeys([*map(str, problems(classes())), *_keys(), *_times(), *_egress()])
    ):
        raise ImproperlyConfigured("\n".join(found))


def with_settings(check: Check) -> Check:
    """Wrap a check that reads settings.

    If invalid settings make the check fail, it reports nothing; the check `settings` reports them.
    """

    @wraps(check)
    def checked(**given: Any) -> list[CheckMessage]:
        try:
            return check(**given)
        except ImproperlyConfigured:
            if [*problems(classes())]:
                return []
            raise

    return checked


@register()
def settings(**_: Any) -> list[CheckMessage]:
    """Check all settings, the entries of `VALKYR`, keys, egress rules and USE_TZ."""
    found: list[CheckMessage] = [
        Error(str(problem), hint=REFERENCE, id="valkyr.E001") for problem in problems(classes())
    ]
    found = found or [Error(text, id="valkyr.E002") for text in _keys()]
    found += [Error(text, id="valkyr.E004") for text in _egress()]
    return found + [Error(text, id="valkyr.E003") for text in _times()]


@register()
def celery(**_: Any) -> list[CheckMessage]:
    """Check that a Celery app has Valkyr's tasks."""
    if messaging.configured_app() is not None:
        return []
    return [Error("No Celery app has Valkyr's tasks.", hint=CALL, id="valkyr.E010")]


# What the API and the pages need from a project's settings.


SESSIONS = "executions.accounts.browser_sessions.BrowserSessions"
ROW_SECURITY = "executions.access.row_security.RowLevelSecurity"
DJANGOS = "django.contrib.auth.middleware.AuthenticationMiddleware"


@register()
@with_settings
def payload_store_opens(**_: Any) -> list[CheckMessage]:
    """Check that fsspec knows the scheme of the store of large values, and can load its library."""
    address = valkyr_settings().payload_store
    if not address:
        return []
    from fsspec import get_filesystem_class  # needed only with a store

    scheme = address.partition("://")[0]
    try:
        get_filesystem_class(scheme)
    except (ImportError, ValueError) as error:
        return [
            Error(
                f"VALKYR_PAYLOAD_STORE begins with {scheme}://, which fsspec cannot open: {error}",
                hint="Use s3:// (pip install valkyr[s3]), file://, or install fsspec's library "
                "for the scheme. `manage.py payload_store check` then tries it.",
                id="executions.E104",
            )
        ]
    return []


@register(Tags.urls)
@with_settings
def addresses_are_there(**_: Any) -> list[CheckMessage]:
    """Check that the project's urlconf includes Valkyr's routes."""
    try:
        addresses.root()
    except NoReverseMatch:
        return [
            Advice(
                f"{django_settings.ROOT_URLCONF} does not include Valkyr's routes; expected "
                "them, with or without a prefix.",
                hint='Add path("workflows/", include("valkyr.urls")) to its urlpatterns.',
                id="executions.W101",
            )
        ]
    return []


@register(Tags.security)
@with_settings
def authentication_is_there(**_: Any) -> list[CheckMessage]:
    """Check that the project's own authentication classes can be imported and are suitable."""
    if not valkyr_settings().authentication_classes:
        return []
    # Imported here, because it loads REST framework, which workers do not need.
    from executions.api.pinned import added_authentication

    try:
        classes = added_authentication()
    except ImportError as error:
        return [
            Error(
                f'VALKYR["AUTHENTICATION_CLASSES"] names a class that cannot be imported: {error}',
                hint="Name classes of Django REST framework by their dotted paths.",
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
    """Report a missing BrowserSessions: without it, users cannot see or end browser sessions."""
    if SESSIONS in django_settings.MIDDLEWARE:
        return []
    return [
        Advice(
            "MIDDLEWARE lacks BrowserSessions, so browser sessions are not listed under "
            "Sessions and cannot be ended there. Token sessions are not affected.",
            hint=f"Replace {DJANGOS} with {SESSIONS} in MIDDLEWARE, or silence executions.W103.",
            id="executions.W103",
        )
    ]


@register(Tags.security)
def pages_are_limited(**_: Any) -> list[CheckMessage]:
    """If row-level security is on, report missing middleware: without it, pages are not limited."""
    if not row_scope.enabled() or ROW_SECURITY in django_settings.MIDDLEWARE:
        return []
    return [
        Advice(
            "VALKYR_ROW_LEVEL_SECURITY is on, but MIDDLEWARE lacks RowLevelSecurity, so it limits "
            "only requests to the API, not the admin and other pages.",
            hint=f"Add {ROW_SECURITY} to MIDDLEWARE after the middleware that authenticates users.",
            id="executions.W104",
        )
    ]


def _egress() -> Iterator[str]:
    """Yield a problem for each invalid entry of the default egress rules."""
    for problem in egress_problems(valkyr_settings().egress_allow, SETTING):
        yield f"{problem.path}: {problem.message}"


def _times() -> Iterator[str]:
    """Yield a problem if the project sets USE_TZ to False."""
    if not django_settings.USE_TZ:
        yield (
            "USE_TZ is False, so times have no zone; expected True, because leases and "
            "schedules compare times of several machines. Set USE_TZ = True and keep "
            "TIME_ZONE: Django's guide for this is at "
            "https://docs.djangoproject.com/en/stable/topics/i18n/timezones/#migration-guide."
        )


def _keys() -> Iterator[str]:
    """Yield the problem with the installation key or the earlier keys, if there is one."""
    try:
        installation_key.present()
        installation_key.old()
    except ImproperlyConfigured as error:
        yield str(error)
