"""Find modules by type: in the engine, in plugins, in entry points and in the settings.

A declared module's file is imported when a type in it is first used, and a module is described on
request. A worker therefore starts fast. An error in loading or describing a third-party module is
logged, and reported when a workflow uses the module; it never stops the engine.
"""

import importlib
import logging
from collections import UserDict
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import partial
from importlib.metadata import entry_points
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from executions.configuration import settings as valkyr_settings
from executions.definition.catalog import BadInput, ModuleSpec
from runners.modules.base import Module
from runners.modules.config_check import check
from runners.modules.declared import declared, needed
from runners.modules.function_step import MODULE_ATTRIBUTE, step
from runners.modules.not_installed import NotInstalled, stand_in

if TYPE_CHECKING:
    from runners.modules.containers import ExpandingContainer

# The icons of modules, by their names in Material Symbols. Other modules have their category's
# icon.


BY_TYPE = {
    "flow.noop": "join",
    "flow.if": "alt_route",
    "flow.switch": "call_split",
    "flow.fail": "error",
    "flow.pinned": "push_pin",
    "flow.loop": "repeat",
    "flow.map": "dynamic_feed",
    "flow.delay": "timer",
    "flow.approval": "how_to_reg",
    "flow.subworkflow": "account_tree",
    "flow.wait_for_event": "hourglass_top",
    "flow.callback": "phone_callback",
    "flow.set_variables": "edit_note",
    "rss.read": "rss_feed",
    "email.send": "mail",
    "queue.publish": "outbox",
    "event.publish": "campaign",
    "file.delete": "delete",
    "file.list": "folder_open",
}
BY_CATEGORY = {
    "control": "account_tree",
    "data": "data_object",
    "databases": "database",
    "files": "draft",
    "language models": "smart_toy",
    "messages": "chat",
    "network": "language",
    "payments": "credit_card",
    "remote": "dns",
    "code": "code",
}
OTHER = "extension"


def icon_of(type_name: str, category: str) -> str:
    """Return the name of a module's icon, which its type or its category determines."""
    return BY_TYPE.get(type_name) or BY_CATEGORY.get(category, OTHER)


__all__ = [
    "ENTRY_POINT_GROUP",
    "EXTRA_MODULES",
    "UnknownModule",
    "add",
    "get",
    "names",
    "specs",
    "standing_in",
    "step",
    "warm_up",
]

ENTRY_POINT_GROUP = "valkyr.modules"
EXTRA_MODULES = "VALKYR_EXTRA_MODULES"

logger = logging.getLogger(__name__)


class UnknownModule(LookupError):
    """No module of this type is installed."""


class Registry:
    """The modules that one process has found; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._modules: MutableMapping[str, Module[Any]] = {}
        self._failures: dict[str, str] = {}
        self._specs: Mapping[str, ModuleSpec] | None = None
        self._described: dict[str, ModuleSpec | None] = {}
        self._third_parties_loaded = False

    def get(self, type_name: str) -> Module[Any]:
        """Return the module of this type.

        Raises `UnknownModule` if there is none; its message names modules that could not be loaded.
        """
        module = self._modules.get(type_name)
        return module if module is not None else self._find(type_name)

    def specs(self) -> Mapping[str, ModuleSpec]:
        """Return the descriptions of the modules that can be loaded, keyed by type.

        Each module is described once, when it is first looked up.
        """
        with self._lock:
            if self._specs is None:
                self._specs = Described(self.names(), self.describe)
            return self._specs

    def names(self) -> frozenset[str]:
        """Return the types of all modules that were found, even if they cannot be described."""
        with self._lock:
            self._load_third_parties()
            return frozenset({*declared(), *self._modules})

    def describe(self, type_name: str) -> ModuleSpec | None:
        """Return a module's description; None if a third-party module cannot be described.

        Raises UnknownModule if no module of the type is installed.
        """
        with self._lock:
            if type_name not in self._described:
                self._described[type_name] = self._description(type_name)
            return self._described[type_name]

    def _description(self, type_name: str) -> ModuleSpec | None:
        module = self.get(type_name)
        if type_name in declared():
            return spec(module)
        try:
            return spec(module)
        except Exception as error:
            self._failures[type_name] = f"{type(error).__name__}: {error}"
            logger.exception("module %r cannot be described; no workflow can use it", type_name)
            return None

    def warm_up(self, queues: Collection[str] | None = None) -> None:
        """Load every module, and the slow imports of modules on `queues`, before a worker forks.

        The worker's children then share the memory, and steps of these queues spend no time on
        imports. Without `queues`, all imports are loaded; otherwise the first step that needs
        further imports loads them.
        """
        with self._lock:
            self._load_third_parties()
            modules = {name: self.get(name) for name in (*declared(), *self._modules)}
        for name, module in modules.items():
            if name in declared():
                module.Inputs.model_rebuild()
            if queues is None or module.queue in queues:
                module.load()

    def add(self, module: Module[Any]) -> None:
        """Register a module. Raises ValueError if another module has the same type."""
        with self._lock:
            present = self._modules.get(module.type)
            if module.type in declared() or (present is not None and present is not module):
                raise ValueError(
                    f"module type {module.type!r} of {_place(module)} is already used by "
                    f"{declared().get(module.type) or _place(present)}: choose another name"
                )
            self._modules[module.type] = module
            self._described.pop(module.type, None)
            self._specs = None

    @contextmanager
    def standing_in(self, wrap: Callable[[Module[Any]], Module[Any]]) -> Iterator[None]:
        """Replace every module with `wrap(module)` while the block runs. For tests only."""
        with self._lock:
            real, self._modules = self._modules, StandIns(self._modules, wrap)
        try:
            yield
        finally:
            with self._lock:
                self._modules = real

    def _find(self, type_name: str) -> Module[Any]:
        with self._lock:
            if type_name not in declared():
                self._load_third_parties()
            elif type_name not in self._modules:
                self._modules[type_name] = _instance_or_stand_in(type_name)
            if type_name in self._modules:
                return self._modules[type_name]
            raise UnknownModule(self._why_unknown(type_name))

    def _why_unknown(self, type_name: str) -> str:
        if type_name in self._failures:
            return f"module {type_name!r} could not be loaded: {self._failures[type_name]}"
        others = "; ".join(f"{name}: {reason}" for name, reason in self._failures.items())
        hint = (
            (f"; it may be one of the modules that could not be loaded: {others}") if others else ""
        )
        return f"no module of type {type_name!r} is installed{hint}"

    def _load_third_parties(self) -> None:
        if self._third_parties_loaded:
            return
        # Set this first, so that a module that uses the registry during its import does not start
        # again.
        self._third_parties_loaded = True
        for entry in entry_points(group=ENTRY_POINT_GROUP):
            self._load_guarded(entry.name, entry.load)
        for path in valkyr_settings().extra_modules:
            self._load_guarded(path, partial(importlib.import_module, path))

    def _load_guarded(self, name: str, load: Callable[[], Any]) -> None:
        # Third-party code may raise anything when it is imported, including SystemExit.
        try:
            for module in _found_in(load()):
                self.add(module)
        except (Exception, SystemExit) as error:
            self._failures[name] = f"{type(error).__name__}: {error}"
            logger.exception("module %r could not be loaded; workflows that use it fail", name)


class StandIns(UserDict[str, Module[Any]]):
    """The modules of a registry; each lookup returns `wrap(module)`."""

    def __init__(
        self,
        real: MutableMapping[str, Module[Any]],
        wrap: Callable[[Module[Any]], Module[Any]],
    ) -> None:
        super().__init__()
        # Not a copy, so that the registry keeps the modules that a lookup loads.
        self.data = real  # type: ignore[assignment]
        self._wrap = wrap

    def __getitem__(self, name: str) -> Module[Any]:
        return self._wrap(self.data[name])


class Described(Mapping[str, ModuleSpec]):
    """The descriptions of modules, keyed by type; each is made when it is looked up.

    Modules that cannot be described are omitted.
    """

    def __init__(self, names: frozenset[str], describe: Callable[[str], ModuleSpec | None]) -> None:
        self._names = names
        self._describe = describe

    def __getitem__(self, name: str) -> ModuleSpec:
        found = self._describe(name) if name in self._names else None
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return (name for name in sorted(self._names) if self._describe(name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def spec(module: Module[Any]) -> ModuleSpec:
    """Return the description of a module, which the graph uses."""
    outputs = module.Outputs
    writer = cast("ExpandingContainer", module) if module.expands else None
    return ModuleSpec(
        type=module.type,
        title=module.title,
        category=module.category,
        description=module.description,
        queue=module.queue,
        computes=module.computes,
        remote=module.remote,
        inline=module.inline,
        effect=module.effect,
        outcomes=module.outcomes,
        writes_variables=module.writes_variables,
        retry=module.retry,
        timeout_seconds=module.timeout_seconds,
        credential=module.credential,
        takes_secrets=module.may_take_secrets(),
        judges_hosts=module.judges_hosts,
        addresses=module.addresses,
        keeps=module.keeps,
        inputs_schema=module.Inputs.model_json_schema(),
        outputs_schema=outputs.model_json_schema(mode="serialization") if outputs else None,
        check=partial(check, module),
        outcomes_for=module.outcomes_for,
        container=module.container,
        body_kind=module.body_kind,
        expand=None if writer is None else writer.expand,
        check_task=None if writer is None else writer.task_problems,
        waits=module.waits,
        deferred=module.deferred,
        circuit_target=module.circuit_target,
        outcomes_from=module.outcomes_from,
        icon=icon_of(module.type, module.category),
        example=module.example,
        bad_inputs=tuple(
            BadInput(bad.what, bad.error_type.value, bad.says) for bad in module.bad_inputs
        ),
    )


def _instance_or_stand_in(type_name: str) -> Module[Any]:
    """Return the module of a declared type, or a stand-in if a package that it needs is missing."""
    need = needed(type_name)
    if made := stand_in(type_name, need):
        return made
    path, _, name = declared()[type_name].partition(":")
    try:
        return _instance(path, name)
    except ModuleNotFoundError as error:
        # An extra installs several packages, and a project may have one of them for its own use. So
        # an error about another package also means that the extra is missing.
        own = (error.name or "").partition(".")[0] == path.partition(".")[0]
        if need is None or own:
            raise
        return NotInstalled(type_name, *need)


def _place(module: Module[Any] | None) -> str:
    """Return the location of a module's class, for error messages."""
    kind = type(module)
    return f"{kind.__module__}.{kind.__qualname__}"


def _instance(path: str, name: str) -> Module[Any]:
    module: Module[Any] = getattr(importlib.import_module(path), name)()
    return module


def _found_in(loaded: Any) -> Iterator[Module[Any]]:
    """Yield a step module, or the step modules of a Python file; otherwise raise TypeError."""
    if isinstance(loaded, ModuleType):
        for value in list(vars(loaded).values()):
            if _declared_in(value, loaded.__name__):
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
    """Return whether a Python file declares this module itself, rather than importing it."""
    is_class = isinstance(value, type) and issubclass(value, Module) and hasattr(value, "type")
    is_module = is_class or hasattr(value, MODULE_ATTRIBUTE)
    return is_module and getattr(value, "__module__", None) == path


_registry = Registry()
get = _registry.get
names = _registry.names
specs = _registry.specs
standing_in = _registry.standing_in
add = _registry.add
warm_up = _registry.warm_up
