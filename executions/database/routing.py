"""The database of Valkyr's tables, and the connection to it.

`VALKYR["DATABASE"]` names it; otherwise the project's routers choose it. Valkyr's statements,
transactions and locks use `connection` and `transaction` from `executions.database`, never
Django's, whose database is `default`. The ORM gets the database from routers (`save()` ignores
managers), so Valkyr adds a router after the project's routers.

With cells (`VALKYR["CELLS"]`), several databases have Valkyr's tables, each with its own
workspaces. A process uses one of them, except in a block of `serving`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.db import DEFAULT_DB_ALIAS, connections, router
from django.dispatch import receiver

from executions.configuration import settings as valkyr_settings

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

# Packages with Valkyr's models.
OURS = ("executions", "runners", "dlq", "valkyr_plugins")
# The app whose rows tell beat when to start triggers; with cells, they are in the triggers' cell.
BEAT = "django_celery_beat"
# The attribute of models whose rows are always in the first database, because sign-in needs them.
GLOBAL = "in_first_database"
# The key of an entry in DATABASES with the name of its cell, if the name differs from the alias.
CELL = "CELL"

_serving: ContextVar[str] = ContextVar("cell", default="")
_undecided: ContextVar[bool] = ContextVar("undecided cell", default=False)
F = TypeVar("F", bound=Callable[..., Any])


def is_ours(model: Any) -> bool:
    """Return whether a model belongs to Valkyr's apps or plugins."""
    return str(model.__module__).split(".", 1)[0] in OURS


def named() -> str:
    """Return the alias that the project sets for Valkyr's tables; "" if it sets none."""
    return valkyr_settings().database


def alias() -> str:
    """Return the alias of the database with Valkyr's tables, in this context."""
    return _serving.get() or own()


@cache
def own() -> str:
    """Return the alias that this process uses outside `serving`: that of its cell or the first."""
    cell = valkyr_settings().cell
    return alias_of(cell) if cell else first()


@cache
def first() -> str:
    """Return the alias of the first database; without cells, it is the only database."""
    return named() or _as_routed()


def _as_routed() -> str:
    """Return the alias that the project's routers choose for Valkyr's models, or `default`."""
    ours = [one for one in apps.get_app_configs() if one.name == "executions"]
    for config in ours:
        for one in router.routers:
            ask = None if isinstance(one, Router) else getattr(one, "db_for_write", None)
            if ask is not None and (found := ask(config.get_model("Workflow"))):
                return str(found)
    return DEFAULT_DB_ALIAS


@contextmanager
def serving(of: str) -> Iterator[None]:
    """Use the database of that alias in the block, and in threads that copy its context."""
    token = _serving.set(of)
    try:
        yield
    finally:
        _serving.reset(token)


@contextmanager
def undecided(open_: bool = True) -> Iterator[None]:
    """If `open_`, let code in the block choose the database of this context; see `turn_to`."""
    token = _undecided.set(open_)
    try:
        yield
    finally:
        _undecided.reset(token)


def is_undecided() -> bool:
    """Return whether the database of this context has not been chosen yet."""
    return _undecided.get()


def turn_to(of: str) -> None:
    """Use a database until the enclosing block of `serving` ends, if the choice is still open."""
    if _undecided.get():
        _serving.set(of)
        _undecided.set(False)


def in_first(function: F) -> F:
    """Wrap a function so that it uses the first database, which has the accounts' sessions."""

    @wraps(function)
    def inner(*given: Any, **named: Any) -> Any:
        with serving(first()):
            return function(*given, **named)

    return cast("F", inner)


@cache
def alias_of(cell: str) -> str:
    """Return the alias of a cell's database; for "", the alias of the first database.

    Raises ImproperlyConfigured if DATABASES lacks the cell's database.
    """
    if not cell:
        return first()
    for name, given in connections.settings.items():
        if given.get(CELL, name) == cell:
            return str(name)
    known = ", ".join(sorted(connections.settings))
    raise ImproperlyConfigured(
        f"The database of the cell {cell!r} is missing in DATABASES; expected its name among the "
        f"aliases: {known}. See docs/how-to/cells.md."
    )


def cell() -> str:
    """Return the name of the cell that this context serves; "" for the first database."""
    found = _serving.get()
    return cell_of(found) if found else _own_cell()


@cache
def _own_cell() -> str:
    return valkyr_settings().cell


@cache
def cell_of(of: str) -> str:
    """Return the name of the cell whose database has this alias; "" for the first database."""
    found = str(connections.settings[of].get(CELL, of))
    return found if found in valkyr_settings().cells else ""


@cache
def aliases() -> tuple[str, ...]:
    """Return the aliases of all databases with Valkyr's tables that this process can reach."""
    known = valkyr_settings()
    there = (name for name in known.cells if name in connections.settings)
    return tuple(dict.fromkeys((own(), *(() if known.cell else (first(),)), *there)))


@receiver(setting_changed)
def _forget(setting: str, **_: Any) -> None:
    if setting in {"VALKYR", "DATABASES", "DATABASE_ROUTERS"}:
        for one in (own, first, alias_of, cell_of, aliases, _own_cell):
            one.cache_clear()


class Router:
    """Routes Valkyr's models to its database; with cells, also the models of celery-beat."""

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        """Return the alias for a routed model or a relation of a Valkyr row; otherwise, None."""
        row = hints.get("instance")
        if getattr(model, GLOBAL, False):
            return first()
        if is_ours(model) or (valkyr_settings().cells and model._meta.app_label == BEAT):
            # In a list with rows of several databases, related rows come from the row's own
            # database.
            return _of_row(row) or alias()
        if row is None or not is_ours(type(row)):
            return None
        return str(router.db_for_read(model))

    db_for_write = db_for_read

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        """Return whether Valkyr's tables may be created in a database; None for other tables."""
        config = next((one for one in apps.get_app_configs() if one.label == app_label), None)
        if config is None or config.name.split(".", 1)[0] not in OURS:
            return None
        return any(is_same(db, one) for one in aliases())

    def allow_relation(self, one: Any, other: Any, **hints: Any) -> bool | None:
        """Return True if at least one of the rows is Valkyr's; otherwise, None.

        The database that holds both rows checks the key.
        """
        return True if is_ours(type(one)) or is_ours(type(other)) else None


def _of_row(row: Any) -> str:
    """Return the alias of a row's database; "" without cells, or if it is not one of Valkyr's."""
    found = row._state.db if row is not None and valkyr_settings().cells else None
    return found if found in aliases() else ""


def is_same(one: str, other: str) -> bool:
    """Return whether two aliases name the same database."""
    return one == other or _place(one) == _place(other)


def _place(of: str) -> tuple[str, ...]:
    if of not in connections:
        return (of,)  # a check reports it (`valkyr.E020`)
    given = connections[of].settings_dict
    place = (str(given.get(name) or "") for name in ("ENGINE", "HOST", "PORT", "NAME"))
    options: Any = given.get("OPTIONS") or {}
    return (*place, str(options.get("service", "")))


def route() -> None:
    """Add Valkyr's router after the project's own if Valkyr's tables could be outside `default`.

    A project need not list the router. If only some statements used the named database, rows would
    be in two databases, and Django rejects references to accounts in another database.
    """
    if (named() or valkyr_settings().cells or alias() != DEFAULT_DB_ALIAS) and not any(
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
