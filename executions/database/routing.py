"""The database of Valkyr's tables, and the connection to it.

`VALKYR["DATABASE"]` names it; else it is where the project's routers write Valkyr's models.
Valkyr's statements, transactions and locks use `connection` and `transaction` from
`executions.database`, never Django's, whose database is `default`. The ORM uses the routers, the
last of which is Valkyr's, because saves ask only routers, not managers.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, cast

from django.apps import apps
from django.core.signals import setting_changed
from django.db import DEFAULT_DB_ALIAS, connections, router
from django.dispatch import receiver

from executions.configuration import settings as valkyr_settings

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

# Packages whose models are ours.
OURS = ("executions", "runners", "dlq", "valkyr_plugins")


def is_ours(model: Any) -> bool:
    """Return whether a model belongs to Valkyr's apps or plugins."""
    return str(model.__module__).split(".", 1)[0] in OURS


def named() -> str:
    """Return the alias that the project sets for Valkyr's tables, or ""."""
    return valkyr_settings().database


@cache
def alias() -> str:
    """Return the alias of the database with Valkyr's tables."""
    return named() or _as_routed()


def _as_routed() -> str:
    """Return the alias to which the project's own routers write Valkyr's models."""
    ours = [one for one in apps.get_app_configs() if one.name == "executions"]
    for config in ours:
        for one in router.routers:
            ask = None if isinstance(one, Router) else getattr(one, "db_for_write", None)
            if ask is not None and (found := ask(config.get_model("Workflow"))):
                return str(found)
    return DEFAULT_DB_ALIAS


@receiver(setting_changed)
def _forget(setting: str, **_: Any) -> None:
    if setting in {"VALKYR", "DATABASES", "DATABASE_ROUTERS"}:
        alias.cache_clear()


class Router:
    """Routes Valkyr's models to its database, and nothing else."""

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        """Return Valkyr's alias for its models; others keep their own database."""
        if is_ours(model):
            return alias()
        row = hints.get("instance")
        if row is None or not is_ours(type(row)):
            return None
        return str(router.db_for_read(model))

    db_for_write = db_for_read

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        """Create Valkyr's tables in its database alone."""
        config = next((one for one in apps.get_app_configs() if one.label == app_label), None)
        if config is None or config.name.split(".", 1)[0] not in OURS:
            return None
        return is_same(db, alias())

    def allow_relation(self, one: Any, other: Any, **hints: Any) -> bool | None:
        """Let a row refer to any row: the database that holds both rows checks the key."""
        return True if is_ours(type(one)) or is_ours(type(other)) else None


def is_same(one: str, other: str) -> bool:
    """Return whether two aliases name one database, which is then migrated once."""
    return one == other or _place(one) == _place(other)


def _place(of: str) -> tuple[str, ...]:
    if of not in connections:
        return (of,)  # a check reports it (`valkyr.E020`)
    given = connections[of].settings_dict
    place = (str(given.get(name) or "") for name in ("ENGINE", "HOST", "PORT", "NAME"))
    options: Any = given.get("OPTIONS") or {}
    return (*place, str(options.get("service", "")))


def route() -> None:
    """Add Valkyr's router after the project's own, if the tables have a database.

    A project need not list it. A name that only some statements follow would put rows into two
    databases, and Django rejects references to accounts in another database.
    """
    if (named() or alias() != DEFAULT_DB_ALIAS) and not any(
        isinstance(one, Router) for one in router.routers
    ):
        router.routers.append(Router())


class _OurConnection:
    """This thread's connection to Valkyr's database, as `django.db.connection` is to `default`."""

    def __getattr__(self, name: str) -> Any:
        return getattr(connections[alias()], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(connections[alias()], name, value)

    def __eq__(self, other: object) -> bool:
        return bool(connections[alias()] == other)

    def __hash__(self) -> int:
        return hash(connections[alias()])


connection = cast("BaseDatabaseWrapper", _OurConnection())
