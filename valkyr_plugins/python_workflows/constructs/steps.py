"""Calls to steps and to built-in modules."""

import re
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from pydantic.alias_generators import to_camel

from runners.public.modules import StepFunction
from valkyr_plugins.python_workflows.tracing.handles import ValueHandle
from valkyr_plugins.python_workflows.tracing.options import NONE, CallOptions
from valkyr_plugins.python_workflows.tracing.places import TracingError
from valkyr_plugins.python_workflows.tracing.trace import output_of, tracing

OWN_OUTCOMES: Mapping[str, tuple[str, ...]] = {
    "flow.if": ("true", "false"),
    "flow.approval": ("approved",),
}


def record(
    step: StepFunction[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    given: Mapping[str, Any],
) -> ValueHandle:
    """Record a call of a `@step` function as a task; return the handle of the task's output."""
    config = _bound(step, args, kwargs)
    return call(
        step.type,
        config,
        CallOptions.of(given),
        name=re.sub(r"\W", "_", step.__name__),
        leads_on=step.__valkyr_module__.outcomes or ("success",),
        shape=_returned(step),
        facts=step.given,
    )


def call(
    use: str,
    config: Mapping[str, Any],
    options: CallOptions,
    *,
    name: str = "",
    leads_on: tuple[str, ...] = ("success",),
    shape: Any = Any,
    facts: Mapping[str, Any] | None = None,
) -> ValueHandle:
    """Record a task of a module, or the next module of a chain; return the handle of its output."""
    trace = tracing()
    if trace.scope.kind in ("chain", "undo"):
        from valkyr_plugins.python_workflows.constructs.chains import add_module

        return add_module(trace, use, config, options, name=name, shape=shape, facts=facts or {})
    task = trace.add(use, config, options, name=name, leads_on=leads_on, shape=shape)
    task.document = {**(facts or {}), **task.document}
    return output_of(task, shape=shape)


def _bound(
    step: StepFunction[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    try:
        bound = step.parameters().bind(*args, **kwargs)
    except TypeError as error:
        known = set(step.parameters().parameters)
        extra = next((name for name in kwargs if name not in known), "")
        hint = (
            f"; pass options before the call: {step.__name__}.options({extra}=…)(…)"
            if extra in CallOptions.__dataclass_fields__
            else ""
        )
        message = f"{step.__name__}{step.parameters()}: {error}{hint}"
        raise TracingError(message) from None
    return {to_camel(name): value for name, value in bound.arguments.items()}


def _returned(step: StepFunction[..., Any]) -> Any:
    shape = get_type_hints(step.function).get("return", Any)
    if step.__valkyr_module__.outcomes:
        parts = get_args(shape)
        return parts[1] if len(parts) == 2 and isinstance(parts[1], type) else Any
    return shape


class ModuleCall:
    """A built-in module, or a group of modules: `modules.http.request(url=…)`.

    Inputs have the same names as in the reference; `if_` and `from_` replace Python keywords.
    `with_={…}` passes inputs whose names are not Python names.
    """

    def __init__(self, path: str = "", options: Mapping[str, Any] | None = None) -> None:
        self._path = path
        self._options = options or {}

    def __getattr__(self, name: str) -> "ModuleCall":
        if name.startswith("_"):
            raise AttributeError(name)
        word = name.rstrip("_")
        return ModuleCall(f"{self._path}.{word}" if self._path else word)

    def options(self, **options: Any) -> "ModuleCall":
        """Return the module with options for one call in a workflow, such as `retry`."""
        return ModuleCall(self._path, options)

    def __call__(self, *args: Any, with_: Mapping[str, Any] | None = None, **inputs: Any) -> Any:
        """Record a task of this module; return the handle of its output. Raises TracingError."""
        if args or "." not in self._path:
            raise TracingError(
                f"modules.{self._path} takes inputs by name, and a module's name has two "
                "words, as in modules.http.request(url=…)"
            )
        config = {**(with_ or {}), **{name.rstrip("_"): value for name, value in inputs.items()}}
        family, _, word = self._path.rpartition(".")
        return call(
            self._path,
            config,
            CallOptions.of(self._options),
            name=word if word not in ("set", "if") else f"{family.rpartition('.')[2]}_{word}",
            leads_on=OWN_OUTCOMES.get(self._path, ("success",)),
        )

    def __repr__(self) -> str:
        return f"<module {self._path}>"


modules = ModuleCall()
"""Built-in modules by name: `modules.http.request(url="https://example.com/")`."""


def options_of(given: Mapping[str, Any]) -> CallOptions:
    """Return the options that were passed to a construct as keyword arguments."""
    return CallOptions.of(given) if given else NONE
