"""`@step`: makes a module of a plain typed function; its annotations are inputs and outputs."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, Field, RootModel, create_model

from runners.modules.base import Module, ModuleInputs, Result, StepContext

F = TypeVar("F", bound=Callable[..., Any])

# The function keeps its own behaviour and can be called as ever; its module rides along here.
MODULE_ATTRIBUTE = "__valkyr_module__"


def step(
    type_name: str,
    *,
    title: str | None = None,
    category: str = "custom",
    queue: str = "default",
    inline: bool = False,
    effect: str = "external",
    retry: str = "standard",
    timeout_seconds: float = 60.0,
    credential: tuple[str, ...] = (),
) -> Callable[[F], F]:
    """Make the decorated function the module `type_name`.

    Parameters become the inputs (`order_id` is `orderId` in a workflow), the annotated return
    value the outputs, the docstring the description. A parameter annotated `StepContext`
    receives the context. Raises TypeError for a parameter without annotation, or `*args`.
    """

    def decorate(function: F) -> F:
        facts = {
            "type": type_name,
            "title": title or function.__name__.replace("_", " ").capitalize(),
            "category": category,
            "description": inspect.getdoc(function) or "",
            "queue": queue,
            "inline": inline,
            "effect": effect,
            "retry": retry,
            "timeout_seconds": timeout_seconds,
            "credential": credential,
        }
        setattr(function, MODULE_ATTRIBUTE, _module(function, type_name, facts))
        return function

    return decorate


def _module(function: Callable[..., Any], type_name: str, facts: dict[str, Any]) -> Module[Any]:
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()
    context = next((p.name for p in parameters if hints.get(p.name) is StepContext), None)
    fields = {p.name: _field(type_name, p, hints) for p in parameters if p.name != context}
    inputs = create_model(f"{function.__name__}_inputs", __base__=ModuleInputs, **fields)
    outputs = _outputs(function.__name__, hints.get("return", Any))
    body = {**facts, "Inputs": inputs, "Outputs": outputs, "execute": _execute(context)}
    body |= {"function": staticmethod(function), "__module__": function.__module__}
    created: type[Module[Any]] = type(function.__name__, (Module,), body)
    return created()


def _field(type_name: str, parameter: inspect.Parameter, hints: dict[str, Any]) -> Any:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise TypeError(f"step {type_name}: parameter {parameter} cannot be given by name")
    if parameter.name not in hints:
        raise TypeError(f"step {type_name}: parameter {parameter.name!r} needs a type annotation")
    required = parameter.default is parameter.empty
    return hints[parameter.name], Field(... if required else parameter.default)


def _outputs(name: str, hint: Any) -> type[BaseModel] | None:
    if hint is Any or hint is None or hint is type(None):
        return None
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return hint
    return create_model(f"{name}_outputs", __base__=RootModel[hint])


def _execute(context: str | None) -> Callable[..., Result]:
    def execute(self: Any, inputs: BaseModel, ctx: StepContext) -> Result:
        arguments = dict(inputs)
        if context is not None:
            arguments[context] = ctx
        returned = self.function(**arguments)
        if self.Outputs is None:
            return Result(returned)
        # Validating makes JSON of what the annotation promises: dates, decimals, dataclasses.
        described = self.Outputs.model_validate(returned)
        return Result(described.model_dump(mode="json", by_alias=True))

    return execute
