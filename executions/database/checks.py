"""System checks that report databases, routers and cells that Valkyr cannot use."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.core.checks import CheckMessage, Error, register
from django.db import connections, router

from executions.configuration import settings
from executions.database.routing import alias, is_ours, is_same

DOCS = "See docs/reference/configuration.md, DATABASE."


@register()
def databases(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Return errors if an alias is unknown, or a database or a router is unsuitable.

    The database must be PostgreSQL with all of Valkyr's models, and with accounts or their copies.
    """
    ours = alias()
    if ours not in connections.settings:
        known = ", ".join(sorted(connections.settings))
        text = f"VALKYR['DATABASE'] is {ours!r}; expected an alias in DATABASES: {known}."
        return [Error(text, hint=DOCS, id="valkyr.E020")]
    if connections[ours].vendor != "postgresql":
        found = connections[ours].vendor
        text = (
            f"The database {ours!r} is {found}; expected PostgreSQL 15 or newer for Valkyr's "
            "tables."
        )
        hint = "Add one to DATABASES and name its alias in VALKYR['DATABASE']."
        return [Error(text, hint=hint, id="valkyr.E021")]
    return [*_astray(ours), *_accounts(ours), *_cells()]


def _cells() -> list[CheckMessage]:
    """Report cells that have no PostgreSQL database of their own in DATABASES."""
    known = settings()
    found: list[CheckMessage] = []
    for cell in () if known.cell else known.cells:
        if cell not in connections.settings:
            text = f"VALKYR['CELLS'] names {cell!r}; expected its database in DATABASES."
        elif connections[cell].vendor != "postgresql":
            text = f"The cell {cell!r} is {connections[cell].vendor}; expected PostgreSQL."
        elif is_same(cell, alias()):
            text = f"The cell {cell!r} has the same database as {alias()!r}; expected its own."
        else:
            continue
        found.append(Error(text, hint="See docs/how-to/cells.md.", id="valkyr.E025"))
    return found


def _astray(ours: str) -> list[CheckMessage]:
    """Report a router of the project that sends some of Valkyr's models to another database."""
    from django.apps import apps

    for model in apps.get_models():
        if is_ours(model) and not is_same(found := router.db_for_write(model), ours):
            text = (
                f"A router in DATABASE_ROUTERS sends {model._meta.label} to {found!r}, but "
                f"Valkyr's statements use {ours!r}; expected one database for all of Valkyr's "
                "models."
            )
            hint = (
                f"Set VALKYR['DATABASE'] to {found!r}, or let the router return None for Valkyr's "
                "models."
            )
            return [Error(text, hint=hint, id="valkyr.E022")]
    return []


def _accounts(ours: str) -> list[CheckMessage]:
    """Report accounts in another database if a router forbids the tables for their copies here."""
    model = get_user_model()
    theirs = router.db_for_read(model)
    needed = (model, Group, Permission)
    missing = [one for one in needed if not router.allow_migrate_model(ours, one)]
    if is_same(theirs, ours) or not missing:
        return []
    text = (
        f"{model._meta.label} is in the database {theirs!r} and Valkyr's tables are in "
        f"{ours!r}, where a router forbids the table of {missing[0]._meta.label}; expected "
        "this table, for copies of the accounts that Valkyr's rows name."
    )
    hint = (
        f"Set VALKYR['DATABASE'] to {theirs!r}, or let allow_migrate return None or True for "
        f"{ours!r} and the apps of accounts, auth and contenttypes."
    )
    return [Error(text, hint=hint, id="valkyr.E023")]
