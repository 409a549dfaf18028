"""Finds modules by type: the built-in ones, those of entry points, those the environment names.

A family's file is imported when one of its types is first used, so that a worker starts fast.
A third party's module that cannot be loaded is logged, and named when a workflow uses it; it
never takes the engine down.
"""

import importlib
import logging
import os
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.metadata import entry_points
from threading import RLock
from types import MappingProxyType, ModuleType
from typing import Any

from executions.catalog import ModuleSpec
from runners.modules.base import Module
from runners.modules.builtin import BUILTIN
from runners.modules.config_check import check
from runners.modules.function_step import MODULE_ATTRIBUTE, step

__all__ = ["ENTRY_POINT_GROUP", "EXTRA_MODULES", "UnknownModule", "add", "get", "specs", "step"]

ENTRY_POINT_GROUP = "valkyr.modules"
EXTRA_MODULES = "VALKYR_EXTRA_MODULES"

logger = logging.getLogger(__name__)


class UnknownModule(LookupError):
    """No module of that type is installed."""


_lock = RLock()
_modules: dict[str, Module[Any]] = {}
_failures: dict[str, str] = {}
_specs: Mapping[str, ModuleSpec] | None = None
_third_parties_loaded = False


def get(type: str) -> Module[Any]:
    """The module of that type; raises `UnknownModule`, which names what failed to load."""
    module = _modules.get(type)
    return module if module is not None else _find(type)


def specs() -> Mapping[str, ModuleSpec]:
    """Every module that can be loaded, by type, as the graph sees it; computed once."""
    global _specs
    with _lock:
        _load_third_parties()
        if _specs is None:
            for type in BUILTIN:
                get(type)
            _specs = MappingProxyType({type: spec(_modules[type]) for type in sorted(_modules)})
        return _specs


def add(module: Module[Any]) -> None:
    """Register one more module; raises ValueError when its type is taken by another."""
    global _specs
    with _lock:
        present = _modules.get(module.type)
        if module.type in BUILTIN or (present is not None and present is not module):
            raise ValueError(f"module type {module.type!r} is taken already: choose another name")
        _modules[module.type] = module
        _specs = None


def spec(module: Module[Any]) -> ModuleSpec:
    """What the graph must know of a module."""
    outputs = module.Outputs
    return ModuleSpec(
        type=module.type,
        title=module.title,
        category=module.category,
        description=module.description,
        queue=module.queue,
        inline=module.inline,
        effect=module.effect,
        outcomes=module.outcomes,
        writes_variables=module.writes_variables,
        retry=module.retry,
        timeout_seconds=module.timeout_seconds,
        credential=module.credential,
        inputs_schema=module.Inputs.model_json_schema(by_alias=True),
        outputs_schema=outputs and outputs.model_json_schema(by_alias=True, mode="serialization"),
        check=partial(check, module),
        outcomes_for=module.outcomes_for,
    )


def _find(type: str) -> Module[Any]:
    with _lock:
        if type not in BUILTIN:
            _load_third_parties()
        elif type not in _modules:
            _modules[type] = _instance(*BUILTIN[type].split(":"))
        if type in _modules:
            return _modules[type]
    raise UnknownModule(_why_unknown(type))


def _why_unknown(type: str) -> str:
    if type in _failures:
        return f"module {type!r} could not be loaded: {_failures[type]}"
    others = "; ".join(f"{name}: {reason}" for name, reason in _failures.items())
    hint = f" Some could not be loaded, and it may be among them: {others}" if others else ""
    return f"no module of type {type!r} is installed.{hint}"


def _instance(path: str, name: str) -> Module[Any]:
    module: Module[Any] = getattr(importlib.import_module(path), name)()
    return module


def _load_third_parties() -> None:
    global _third_parties_loaded
    if _third_parties_loaded:
        return
    # Set first: a module that asks the registry while it is imported must not start over.
    _third_parties_loaded = True
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        _load_guarded(entry.name, entry.load)
    for path in filter(None, map(str.strip, os.environ.get(EXTRA_MODULES, "").split(","))):
        _load_guarded(path, partial(importlib.import_module, path))


def _load_guarded(name: str, load: Any) -> None:
    # A third party's file may raise anything as it is imported, SystemExit included.
    try:
        for module in _found_in(load()):
            add(module)
    except (Exception, SystemExit) as error:
        _failures[name] = f"{type(error).__name__}: {error}"
        logger.exception("module %r could not be loaded; workflows that use it will fail", name)


def _found_in(loaded: Any) -> Iterator[Module[Any]]:
    """The modules that a loaded object is or, for a Python module, declares."""
    if isinstance(loaded, ModuleType):
        declared = [v for v in vars(loaded).values() if _declared_in(v, loaded.__name__)]
        for value in declared:
            yield from _found_in(value)
    elif isinstance(loaded, Module):
        yield loaded
    elif isinstance(loaded, type) and issubclass(loaded, Module):
        yield loaded()
    elif hasattr(loaded, MODULE_ATTRIBUTE):
        yield getattr(loaded, MODULE_ATTRIBUTE)
    else:
        raise TypeError(
            f"expected a Module class, a @step function or a Python module that holds some, "
            f"found {loaded!r}"
        )


def _declared_in(value: Any, path: str) -> bool:
    """Whether a name of a file is a module it declares itself, rather than one it imported."""
    is_class = isinstance(value, type) and issubclass(value, Module) and hasattr(value, "type")
    is_module = is_class or hasattr(value, MODULE_ATTRIBUTE)
    return is_module and getattr(value, "__module__", None) == path
