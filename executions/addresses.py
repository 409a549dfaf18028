"""The addresses of Valkyr's operations, below the prefix of `valkyr.urls`, and of admin pages.

Addresses come from the names of routes, except the paths that workers build. Addresses for the
client of this request begin with the script name of the server (`FORCE_SCRIPT_NAME`). Addresses for
other readers begin with `PUBLIC_URL`, the public address of the project's root.

Workers should not load a project's urlconf, which imports all of its views. They load it only for a
prefix that `VALKYR["URL_PREFIX"]` or `VALKYR["ADMIN_PREFIX"]` does not name.
"""

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.urls import NoReverseMatch, get_script_prefix, reverse

from executions.configuration import settings as valkyr_settings
from executions.configuration.labels import translated

# The prefix of the names of all Valkyr's routes.
PREFIX = "valkyr-"
# A route and the end of its path; the part before it is the prefix of all routes.
_KNOWN, _KNOWN_PATH = "schema", "v1/schema"
# Shared with the route, because workers build this address without the urlconf.
CALLBACKS = "v1/callbacks/"


def api(name: str, *args: Any, **named: Any) -> str:
    """Return the address of one of Valkyr's routes for this client: `api("workflow", id=…)`.

    Raises NoReverseMatch without `valkyr.urls` in the urlconf, or without the route's plugin.
    """
    return reverse(f"{PREFIX}{name}", args=args or None, kwargs=named or None)


def has(name: str, **named: Any) -> bool:
    """Return whether the route exists; a route is missing if its plugin is not installed."""
    try:
        api(name, **named)
    except NoReverseMatch:
        return False
    return True


def explanation(code: str) -> str:
    """Return the `type` of a problem: the address of the page that explains its code."""
    return f"{api('errors')}#{code}"


def below_root(name: str, *args: Any, **named: Any) -> str:
    """Return the address that `api` returns, without the common prefix: `v1/Workflow/…`."""
    return api(name, *args, **named).removeprefix(root())


def admin(name: str, *args: Any) -> str:
    """Return the address of an admin page, such as `admin("dlq_failuregroup_change", pk)`."""
    return reverse(f"admin:{translated(name)}", args=args or None)


def admin_or_none(name: str, *args: Any) -> str:
    """Return the address that `admin` returns; "" if the project has no such page."""
    try:
        return admin(name, *args)
    except NoReverseMatch:
        return ""


def sign_in() -> str:
    """Return the address of the sign-in page: the admin's, or LOGIN_URL if there is no admin."""
    from django.shortcuts import resolve_url  # no worker needs it

    return admin_or_none("login") or resolve_url(settings.LOGIN_URL)


def root() -> str:
    """Return the prefix of Valkyr's addresses for this request's client, such as `/flows/`."""
    return api(_KNOWN).removesuffix(_KNOWN_PATH)


def public(path: str) -> str:
    """Return the public address of `path`, which is below the prefix of `valkyr.urls`."""
    given = valkyr_settings().url_prefix
    prefix = _below_script_name(root()) if given is None else given
    return f"{valkyr_settings().public_url}/{prefix}{path}"


# Rows store paths of admin pages relative to the admin's index, because the index may move later.


def page(model: str, pk: Any = None, **query: Any) -> str:
    """Return the path of an object's page or, if `pk` is None, of a list. The path can be stored.

    `model` is an app and a model, such as `dlq_failuregroup`. The path is built as Django's admin
    builds it, because a lookup would load the urlconf.
    """
    app, _, name = translated(model).rpartition("_")
    path = f"{app}/{name}/" if pk is None else f"{app}/{name}/{pk}/change/"
    return f"{path}?{urlencode(query)}" if query else path


def shown_page(path: str) -> str:
    """Return the address of a path that `page` made, as this request's client sees it.

    Returns "" in a project without an admin.
    """
    index = admin_or_none("index")
    return index and f"{index}{path}"


def public_page(path: str) -> str:
    """Return the public address of a path that `page` made, or of the root if there is no admin."""
    given = valkyr_settings().admin_prefix
    if given is None:
        index = admin_or_none("index")
        given = _below_script_name(index) if index else None
    return f"{valkyr_settings().public_url}/{'' if given is None else given + path}"


def _below_script_name(address: str) -> str:
    return address.removeprefix(get_script_prefix())
