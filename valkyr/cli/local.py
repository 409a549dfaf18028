"""`--local`: call the API of the Django project in this folder, in this process.

Requests bypass the project's middleware, which is for external requests. The audit trail records
`command` as their origin.
"""

import traceback
from typing import Any

import httpx

from valkyr.cli.errors import CliError, Exit, usage
from valkyr.cli.options import Choices
from valkyr.cli.project_settings import set_up

DOOR = "command"


def local_client(choices: Choices) -> httpx.Client:
    """Return a client that calls the project's views as the chosen user. Raises CliError."""
    name = set_up(choices.settings, choices.environment)
    from django.db import Error

    try:
        user = _user(choices.acting_as)
    except Error as error:
        raise CliError(
            f"The database of {name} cannot be used: {str(error).strip()}",
            Exit.UNREACHABLE,
            hint="Check DATABASES, that the server runs, and `manage.py migrate`.",
        ) from error
    return httpx.Client(base_url=f"http://localhost{_prefix()}", transport=InProcess(user))


def _user(name: str) -> Any:
    from django.contrib.auth import get_user_model

    users: Any = get_user_model()
    if name:
        found = users._default_manager.filter(**{users.USERNAME_FIELD: name}).first()
        if found is None:
            raise CliError(
                f"There is no user with {users.USERNAME_FIELD} {name!r} in this project.",
                Exit.NOT_FOUND,
            )
        return found
    chiefs = list(users._default_manager.filter(is_superuser=True, is_active=True)[:2])
    if len(chiefs) == 1:
        return chiefs[0]
    several = "several superusers" if chiefs else "no superuser"
    raise usage(
        f"There is {several} in this project, so you must name a user.",
        "Give --as USER, or set VALKYR_AS.",
    )


def _prefix() -> str:
    """Return the path prefix of the project's API. Raises CliError if the URLs lack the API."""
    from django.urls import NoReverseMatch, get_script_prefix

    from executions import addresses

    try:
        path = addresses.root()
    except NoReverseMatch:
        raise CliError(
            "The project's URLs do not include the API.",
            Exit.NOT_INSTALLED,
            hint='Add path("workflows/", include("valkyr.urls")) to the urlpatterns.',
        ) from None
    return "/" + path.removeprefix(get_script_prefix()).strip("/")


class InProcess(httpx.BaseTransport):
    """A transport that passes requests to the project's views, as `user`."""

    def __init__(self, user: Any) -> None:
        self._user = user

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the view's complete response. Raises CliError if the view fails."""
        from django.http import Http404
        from django.urls import resolve
        from rest_framework.test import force_authenticate

        asked = _django_request(request)
        force_authenticate(asked, self._user)
        try:
            match = resolve(asked.path_info)
            asked.resolver_match = match
            answer = match.func(asked, *match.args, **match.kwargs)
            if hasattr(answer, "render"):
                answer.render()
        except Http404:
            problem = {
                "detail": f"There is no resource at {asked.path}.",
                "code": "unknown_address",
            }
            return httpx.Response(404, json=problem)
        except Exception as error:
            traceback.print_exception(error)
            raise CliError(
                f"{request.method} {asked.path} failed: {type(error).__name__}: {error}",
                Exit.UNREACHABLE,
                hint="This is a mistake in the project or in Valkyr; the traceback is above.",
            ) from error
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        return httpx.Response(answer.status_code, headers=list(answer.items()), content=body)


def _django_request(request: httpx.Request) -> Any:
    from django.test import RequestFactory

    headers = {
        name: value
        for name, value in request.headers.items()
        if name not in {"content-length", "content-type", "host"}
    }
    # No client address. `valkyr.door` is the entry point for the audit trail, which no header can
    # set.
    facts: Any = {"REMOTE_ADDR": "", "SERVER_NAME": _host(), "valkyr.door": DOOR}
    return RequestFactory(headers=headers, **facts).generic(
        request.method,
        request.url.raw_path.decode("ascii"),
        request.read(),
        content_type=request.headers.get("content-type", ""),
    )


def _host() -> str:
    """Return a host name that the project accepts in requests."""
    from django.conf import settings

    names = [name.removeprefix(".") for name in settings.ALLOWED_HOSTS if name != "*"]
    return names[0] if names else "localhost"
