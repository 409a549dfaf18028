"""A mutant in a process that has imported everything: code is replaced in place.

Modules are not reloaded, because modules that imported a function by its name would keep the old
one.
"""

import gc
import importlib
import shutil
import sys
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from executions.database import statements as of_executions
from executions.database.statements import Statements
from runners import statements as of_runners
from tests.mutation.mutants import PROJECT, SQL, Mutant

PLAIN = (bool, int, float, str, tuple, frozenset, type(None))
FOLDERS: dict[str, Statements] = {
    "runners/sql": of_runners._own,
    "executions/sql": of_executions._own,
}


class NotApplied(Exception):
    """The change has no effect in a running process."""


def apply(mutant: Mutant, scratch: Path) -> None:
    """Let this process run the mutant from now on."""
    if mutant.group == SQL:
        _apply_statement(mutant, scratch)
    else:
        _apply_code(mutant)


def statements_of(file: str) -> frozenset[str]:
    """Return the statements, as `folder/name`, that contain a file's text."""
    return _statements_of(file)


@cache
def _statements_of(file: str) -> frozenset[str]:
    path = PROJECT / file
    if path.parent.name != "parts":
        return frozenset({f"{path.parent.relative_to(PROJECT).as_posix()}/{path.stem}"})
    folder = path.parents[1]
    including = f"--+ {path.stem}"
    return frozenset(
        name
        for one in folder.rglob("*.sql")
        if including in one.read_text().splitlines()
        for name in _statements_of(one.relative_to(PROJECT).as_posix())
    )


def _apply_statement(mutant: Mutant, scratch: Path) -> None:
    folder = next(name for name in FOLDERS if mutant.file.startswith(f"{name}/"))
    copy = scratch / "sql"
    shutil.copytree(PROJECT / folder, copy)
    (copy / mutant.file.removeprefix(f"{folder}/")).write_text(mutant.text())
    statements = FOLDERS[folder]
    statements.folder = copy
    statements.text.cache_clear()


def _apply_code(mutant: Mutant) -> None:
    gc.unfreeze()  # frozen objects are not found
    module = importlib.import_module(mutant.file.removesuffix(".py").replace("/", "."))
    fresh = _executed(mutant, module)
    changed = _exchange_functions(module, fresh) + _exchange_constants(module, fresh)
    if not changed:
        raise NotApplied(mutant.place)


def _executed(mutant: Mutant, module: ModuleType) -> dict[str, Any]:
    """Return the definitions of the changed file, without common ones."""
    fresh: dict[str, Any] = {
        "__name__": module.__name__, "__file__": module.__file__,
        "__package__": module.__package__, "__builtins__": __builtins__,
    }  # fmt: skip
    exec(compile(mutant.text(), str(module.__file__), "exec"), fresh)
    return fresh


def _exchange_functions(module: ModuleType, fresh: dict[str, Any]) -> int:
    """Give the module's functions the changed code and defaults; return how many changed."""
    new, count = {_identity(one): one for one in _functions(fresh)}, 0
    for old in _functions(module.__dict__):
        other = new.get(_identity(old))
        if other is None:
            continue
        if other.__code__ != old.__code__:
            old.__code__ = other.__code__
            count += 1
        for name in ("__defaults__", "__kwdefaults__"):
            if _plain(getattr(old, name)) != _plain(getattr(other, name)):
                setattr(old, name, getattr(other, name))
                count += 1
    return count


def _functions(names: dict[str, Any]) -> list[FunctionType]:
    """Return all functions that were defined in the module, including those that a decorator
    hides.
    """
    return [
        one for one in gc.get_objects() if type(one) is FunctionType and one.__globals__ is names
    ]


def _identity(function: FunctionType) -> tuple[str, int]:
    return function.__qualname__, function.__code__.co_firstlineno


def _plain(values: Any) -> str:
    """Return the repr of defaults, for a comparison; objects of two processes differ only by
    address.
    """
    given = values.values() if isinstance(values, dict) else values or ()
    return repr([one for one in given if isinstance(one, PLAIN)])


def _exchange_constants(module: ModuleType, fresh: dict[str, Any]) -> int:
    """Give all modules that imported a constant the changed one; return how many changed."""
    count = 0
    for name, old in list(module.__dict__.items()):
        new = fresh.get(name)
        if name.startswith("__") or not isinstance(old, PLAIN) or old == new:
            continue
        if type(new) is not type(old):
            continue
        count += 1
        for other in [module, *sys.modules.values()]:
            if getattr(other, "__dict__", {}).get(name) is old:
                setattr(other, name, new)
    return count
