"""Additional databases with Valkyr's tables, used as cells of this process."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import connection, connections, router
from django.db.models.signals import post_delete, post_save, pre_save
from django.test import override_settings

from executions import environment
from executions.database import accounts, routing

CELL = "b"


@contextmanager
def second_cell(name: str) -> Iterator[str]:
    """Use the database `name` of the tests' server as the cell `b`; yield its alias."""
    given = deepcopy(connection.settings_dict)
    given["NAME"] = name
    with _database(name), _configured({CELL: given}):
        call_command("migrate", database=CELL, verbosity=0, interactive=False)
        yield CELL


@contextmanager
def cells_at(urls: Mapping[str, str]) -> Iterator[None]:
    """Use the databases at these addresses as cells of this process."""
    usual = connection.settings_dict
    found = {
        cell: deepcopy(usual) | environment.database(url) | {"OPTIONS": dict(usual["OPTIONS"])}
        for cell, url in urls.items()
    }
    with _configured(found):
        yield


@contextmanager
def _configured(given: Mapping[str, dict[str, Any]]) -> Iterator[None]:
    connections.settings.update(given)
    routers = list(router.routers)
    cells = {"CELLS": list(given)}
    try:
        with ExitStack() as stack, override_settings(VALKYR={**settings.VALKYR, **cells}):
            routing.route()
            stack.callback(_disconnect)
            accounts.connect()
            yield
    finally:
        router.routers[:] = routers
        for cell in given:
            connections[cell].close()
            del connections[cell]
            del connections.settings[cell]
        routing._forget(setting="DATABASES")


def _disconnect() -> None:
    pre_save.disconnect(dispatch_uid=f"{accounts.__name__}.before")
    for model in (get_user_model(), Group):
        post_save.disconnect(sender=model, dispatch_uid=f"{accounts.__name__}.changed")
        post_delete.disconnect(sender=model, dispatch_uid=f"{accounts.__name__}.gone")
    accounts._known.clear()


@contextmanager
def _database(name: str) -> Iterator[None]:
    """Create a database, empty or a copy of the migrated one, outside the tests' transactions; drop
    it after the block.
    """
    template = settings.DATABASES["default"]["TEST"].get("TEMPLATE")
    copied = f' TEMPLATE "{template}"' if template else ""
    _execute(f'CREATE DATABASE "{name}"{copied}')
    try:
        yield
    finally:
        _execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def _execute(statement: str) -> None:
    with connection._nodb_cursor() as cursor:  # type: ignore[attr-defined]
        cursor.execute(statement)
