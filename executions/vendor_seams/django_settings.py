"""Read Django's settings again in a process that was forked with another environment.

Relies on: `django.db.connections` keeps what it derived from `DATABASES` in `settings` and
`_settings`, and this thread's connections as attributes of `_connections` (Django 5.2).
No public way: Django reads its settings once per process.
If it breaks: every process of `make up` has the launcher's settings: one connection for all threads
of the web process, and one name for all sessions in PostgreSQL.
"""

from functools import cache
from importlib import import_module
from types import CodeType
from typing import Any

from django.conf import settings
from django.db import connections


@cache
def code() -> CodeType:
    """Return the code of the settings module, which is read once, before a fork."""
    loader: Any = import_module(settings.SETTINGS_MODULE).__loader__
    found: CodeType = loader.get_code(settings.SETTINGS_MODULE)
    return found


def read_again() -> None:
    """Read Django's settings again, with the current environment; no connection may be open."""
    module = import_module(settings.SETTINGS_MODULE)
    exec(code(), vars(module))  # noqa: S102 - as `importlib.reload` does
    for name in filter(str.isupper, dir(module)):
        setattr(settings, name, getattr(module, name))
    handler: Any = connections
    handler._settings = handler.settings = handler.configure_settings(None)
    for alias in handler:
        if hasattr(handler._connections, alias):
            del handler[alias]
