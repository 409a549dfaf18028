"""`--local`: the API of the Django project in this folder, called in this process.

Requests go to the API's views past the project's middleware, which is for what comes from outside.
The audit trail says `command`.
"""

import ast
import importlib
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from valkyr.cli.errors import CliError, Exit, usage
from valkyr.cli.options import Choices

SETTINGS = "DJANGO_SETTINGS_MODULE"
DOOR = "command"


def set_up(settings: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """Load the Django project; the name of its settings. Raises CliError where there is none."""
    name = settings or environment.get(SETTINGS) or named_by(Path("manage.py"))
    if not name:
        raise usage(
            "No Django project is named.",
            f"Go to the folder of its manage.py, give --settings, or set {SETTINGS}.",
        )
    os.environ[SETTINGS] = name
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    _import(name)
    return name


def named_by(manage: Path) -> str:
    """The settings module that a manage.py sets, read without running it; or an empty text."""
    try:
        tree = ast.parse(manage.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return ""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        values = [a.value for a in call.args if isinstance(a, ast.Constant)]
        if len(values) == 2 and values[0] == SETTINGS and isinstance(values[1], str):
            return values[1]
    return ""


def _import(name: str) -> None:
    import django
    from django.apps import apps
    from django.core.exceptions import ImproperlyConfigured

    try:
        importlib.import_module(name)
        django.setup(set_prefix=False)
    except ImportError as error:
        raise CliError(
            f"The settings {name} cannot be loaded: {error}.",
            Exit.NOT_INSTALLED,
            hint="Check the name, and that its packages are installed where `valkyr` runs.",
        ) from error
    except ImproperlyConfigured as error:
        raise usage(f"The settings {name} are refused: {error}") from error
    if not apps.is_installed("executions"):
        raise CliError(
            f"Valkyr is not among the INSTALLED_APPS of {name}.",
            Exit.NOT_INSTALLED,
            hint="Add *valkyr.APPS to INSTALLED_APPS, and include valkyr.urls.",
        )


def local_client(choices: Choices) -> httpx.Client:
    """A client of the project's own views, signed in as the user who was chosen."""
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
        f"There is {several} in this project, so a user has to be named.",
        "Give --as USER, or set VALKYR_AS.",
    )


def _prefix() -> str:
    """Under which path the project has the API."""
    from django.urls import NoReverseMatch, get_script_prefix, reverse

    try:
        path = reverse("openapi")
    except NoReverseMatch:
        raise CliError(
            "The API is not among this project's addresses.",
            Exit.NOT_INSTALLED,
            hint='Add path("workflows/", include("valkyr.urls")) to the urlpatterns.',
        ) from None
    return "/" + path.removeprefix(get_script_prefix()).removesuffix("v1/schema").strip("/")


class InProcess(httpx.BaseTransport):
    """Answers requests by the project's views, as `user`."""

    def __init__(self, user: Any) -> None:
        self._user = user

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The view's answer, whole."""
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
            problem = {"detail": f"There is nothing at {asked.path}.", "code": "not_found"}
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
    # Nobody's address; and the door for the audit trail, which no header can set.
    facts: Any = {"REMOTE_ADDR": "", "SERVER_NAME": _host(), "valkyr.door": DOOR}
    return RequestFactory(headers=headers, **facts).generic(
        request.method,
        request.url.raw_path.decode("ascii"),
        request.read(),
        content_type=request.headers.get("content-type", ""),
    )


def _host() -> str:
    """A host name that the project answers to."""
    from django.conf import settings

    names = [name.removeprefix(".") for name in settings.ALLOWED_HOSTS if name != "*"]
    return names[0] if names else "localhost"
