"""Addresses of our operations and pages, wherever a project's urlconf includes `valkyr.urls`.

No address is written in code: each comes from the name of its route. What a client of this request
gets begins with the script name that the server runs under (`FORCE_SCRIPT_NAME`). What others get
begins with `PUBLIC_URL`, which is where the outside reaches the project's root.

Workers should not load a project's urlconf, which imports all of its views. They do only for a
prefix that `VALKYR["URL_PREFIX"]` or `VALKYR["ADMIN_PREFIX"]` does not name.
"""

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.urls import NoReverseMatch, get_script_prefix, reverse

from executions.configuration import settings as valkyr_settings
from executions.configuration.labels import translated

# The names of all routes of ours begin so.
PREFIX = "valkyr-"
# The one route whose path is known to end so: what stands before it is the prefix of all.
_KNOWN, _KNOWN_PATH = "schema", "v1/schema"
# Shared with the route, since workers write this address without the urlconf.
CALLBACKS = "v1/callbacks/"


def api(name: str, *args: Any, **named: Any) -> str:
    """The address of a route of ours, such as `api("workflow", id=…)`, for this request's client.

    Raises NoReverseMatch where the urlconf does not include `valkyr.urls`, or the plugin is absent.
    """
    return reverse(f"{PREFIX}{name}", args=args or None, kwargs=named or None)


def explanation(code: str) -> str:
    """The `type` of a problem: where this installation explains its code."""
    return f"{api('errors')}#{code}"


def below_root(name: str, *args: Any, **named: Any) -> str:
    """As `api`, without what all our addresses begin with: `v1/Workflow/…`."""
    return api(name, *args, **named).removeprefix(root())


def admin(name: str, *args: Any) -> str:
    """The address of a page of the admin, such as `admin("dlq_failuregroup_change", pk)`."""
    return reverse(f"admin:{translated(name)}", args=args or None)


def admin_or_none(name: str, *args: Any) -> str:
    """As `admin`; empty where the project has no such page."""
    try:
        return admin(name, *args)
    except NoReverseMatch:
        return ""


def sign_in() -> str:
    """Where people sign in: the admin's page, or LOGIN_URL in a project without an admin."""
    from django.shortcuts import resolve_url  # no worker needs it

    return admin_or_none("login") or resolve_url(settings.LOGIN_URL)


def root() -> str:
    """What all our addresses begin with, for this request's client: `/` or `/flows/`."""
    return api(_KNOWN).removesuffix(_KNOWN_PATH)


def public(path: str) -> str:
    """Where the outside reaches `path`, which is below the prefix of `valkyr.urls`."""
    given = valkyr_settings().url_prefix
    prefix = _below_script_name(root()) if given is None else given
    return f"{valkyr_settings().public_url}/{prefix}{path}"


# Pages of the admin that rows keep are paths below its index: rows outlive where that is.


def page(model: str, pk: Any = None, **query: Any) -> str:
    """The path of an object's page (`app_model` and its key) or of the list, to be kept in a row.

    It is put together as Django's admin does, since looking it up would load the urlconf.
    """
    app, _, name = translated(model).rpartition("_")
    path = f"{app}/{name}/" if pk is None else f"{app}/{name}/{pk}/change/"
    return f"{path}?{urlencode(query)}" if query else path


def shown_page(path: str) -> str:
    """The address of a path that `page` made, for this request's client; empty without an admin."""
    index = admin_or_none("index")
    return index and f"{index}{path}"


def public_page(path: str) -> str:
    """The address of a path that `page` made, as the outside reaches it."""
    given = valkyr_settings().admin_prefix
    if given is None:
        index = admin_or_none("index")
        given = _below_script_name(index) if index else None
    return f"{valkyr_settings().public_url}/{'' if given is None else given + path}"


def _below_script_name(address: str) -> str:
    return address.removeprefix(get_script_prefix())
