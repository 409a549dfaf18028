"""Calls to `@step` functions: a plain call runs the function; a call during tracing is recorded.

A tracer sets `TRACER` while it runs a workflow's function. The engine has no tracer; a plugin
provides one.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import update_wrapper
from typing import Any, Generic, cast

from typing_extensions import ParamSpec, TypeVar

from runners.modules.base import Module, StepContext

P = ParamSpec("P")
R = TypeVar("R")

Options = Mapping[str, Any]
Tracer = Callable[["StepFunction[..., Any]", tuple[Any, ...], dict[str, Any], Options], Any]
TRACER: ContextVar[Tracer | None] = ContextVar("valkyr_tracer", default=None)

DECORATED: "list[StepFunction[..., Any]]" = []
"""Every step that this process has declared, in the order of the declarations."""


class NoResult:
    """The handle of a step that returns nothing: other steps can follow it, but not read it."""


class StepFunction(Generic[P, R]):
    """A function that is a step. Outside a workflow's trace, a call runs the function.

    `given` holds the values of `retry`, `timeoutSeconds` and `queue` that are not defaults.
    """

    __valkyr_module__: Module[Any]
    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[P, R], module: Module[Any], given: Options) -> None:
        update_wrapper(cast("Any", self), function)
        self.__valkyr_module__ = module
        self.function = function
        self.given = given
        DECORATED.append(self)

    @property
    def type(self) -> str:
        """Return the module's type."""
        return self.__valkyr_module__.type

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function; during a trace, record the call and return a handle."""
        return self._call(args, kwargs, {})

    def options(self, **options: Any) -> Callable[P, R]:
        """Return the step with options for one call, such as `retry` or `undo`.

        `valkyr_plugins.python_workflows` documents them. Outside a trace they have no effect.
        """

        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            return self._call(args, kwargs, options)

        return call

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any], options: Options) -> R:
        tracer = TRACER.get()
        if tracer is None:
            return cast("Callable[..., R]", self.function)(*args, **kwargs)
        return cast("R", tracer(self, args, kwargs, options))

    def parameters(self) -> inspect.Signature:
        """Return the function's signature without the parameter that receives the context."""
        full = inspect.signature(self.function)
        kept = [p for p in full.parameters.values() if p.name != self._context(full)]
        return full.replace(parameters=kept)

    def place(self) -> str:
        """Return the location of the function, as `file:line`."""
        code = inspect.unwrap(self.function).__code__
        return f"{code.co_filename}:{code.co_firstlineno}"

    def _context(self, full: inspect.Signature) -> str:
        hints = (StepContext, "StepContext")
        return next((p.name for p in full.parameters.values() if p.annotation in hints), "")


def type_name_of(function: Callable[..., Any]) -> str:
    """Return a step's default type, such as `shop.flows.charge`: the function's module and name."""
    path = f"{function.__module__}.{function.__qualname__}".replace(".<locals>", "")
    words = [re.sub(r"\W", "_", word).strip("_").lower() for word in path.split(".")]
    return ".".join(f"m{word}" if word[:1].isdigit() else word for word in words if word)
