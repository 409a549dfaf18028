"""Read the inputs and the result of a typed function once, and report mistakes at import."""

import inspect
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field, RootModel, create_model
from typing_extensions import is_typeddict

from runners.modules.base import ModuleInputs, Result, StepContext

NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class StepSignature:
    """The parameters and the return value of a function, according to its annotations.

    `context` is the parameter that receives the StepContext, or "". `returns` is the type that is
    described as output (Any: not described). `shape` specifies what the returned value contains:
    the `output` itself, the `outcome` alone, a `pair` of outcome and output, or a whole `result`.
    """

    name: str
    parameters: Mapping[str, tuple[Any, Any]]
    context: str
    returns: Any
    shape: str

    def inputs(self) -> type[BaseModel]:
        """Return the model of the inputs."""
        fields: dict[str, Any] = dict(self.parameters)
        return create_model(f"{self.name}_inputs", __base__=ModuleInputs, **fields)

    def outputs(self) -> type[BaseModel] | None:
        """Return the model of the output; None if there is no output or its type is not given."""
        hint = self.returns
        if hint is Any or hint is None or hint is type(None):
            return None
        if isinstance(hint, type) and issubclass(hint, BaseModel):
            return hint
        return create_model(f"{self.name}_outputs", __base__=RootModel[hint])  # type: ignore[valid-type]


def read(function: Callable[..., Any], type_name: str, outcomes: tuple[str, ...]) -> StepSignature:
    """Return the signature of a step's function.

    Raises TypeError if the function is not valid for a step.
    """
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"step {type_name}: a step returns one value, so it cannot `yield`")
    hints = _hints(function, type_name)
    given = inspect.signature(function).parameters.values()
    context = next((p.name for p in given if hints.get(p.name) is StepContext), "")
    parameters = {p.name: _field(type_name, p, hints) for p in given if p.name != context}
    returns, shape = _shape(type_name, hints.get("return", Any), outcomes)
    return StepSignature(function.__name__, parameters, context, returns, shape)


def _hints(function: Callable[..., Any], type_name: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except Exception as error:
        raise TypeError(
            f"step {type_name}: the annotations of {function.__qualname__} cannot be read "
            f"({error}); import the named types in the module that declares the step"
        ) from error


def _field(type_name: str, parameter: inspect.Parameter, hints: dict[str, Any]) -> tuple[Any, Any]:
    if parameter.kind not in NAMED:
        raise TypeError(f"step {type_name}: parameter {parameter} cannot be given by name")
    if parameter.name not in hints:
        raise TypeError(f"step {type_name}: parameter {parameter.name!r} needs a type annotation")
    if parameter.name.startswith("_"):
        raise TypeError(
            f"step {type_name}: parameter {parameter.name!r} begins with an underscore, which "
            "inputs cannot; choose another name"
        )
    _check_typed_dict(type_name, hints[parameter.name])
    required = parameter.default is parameter.empty
    return _described(hints[parameter.name]), Field(... if required else parameter.default)


def _described(hint: Any) -> Any:
    """Convert the text in `Annotated[int, "Which order."]` to a Field with this description."""
    if get_origin(hint) is not Annotated:
        return hint
    inner, *notes = get_args(hint)
    return Annotated[(inner, *(_note(note) for note in notes))]


def _note(note: Any) -> Any:
    return Field(description=note) if isinstance(note, str) else note


def _shape(type_name: str, hint: Any, outcomes: tuple[str, ...]) -> tuple[Any, str]:
    _check_typed_dict(type_name, hint)
    if hint is Result:
        return Any, "result"
    if not outcomes:
        return hint, "output"
    if get_origin(hint) is Literal:
        _check_outcomes(type_name, hint, outcomes)
        return Any, "outcome"
    parts = get_args(hint) if get_origin(hint) is tuple else ()
    if len(parts) == 2 and get_origin(parts[0]) is Literal:
        _check_outcomes(type_name, parts[0], outcomes)
        return parts[1], "pair"
    names = ", ".join(f'"{name}"' for name in outcomes)
    raise TypeError(
        f"step {type_name}: a step with outcomes returns Literal[{names}], or a tuple of that and "
        f"its output, or a Result; its annotation is {_text(hint)}"
    )


def _check_outcomes(type_name: str, hint: Any, outcomes: tuple[str, ...]) -> None:
    if set(get_args(hint)) != set(outcomes):
        raise TypeError(
            f"step {type_name}: outcomes={outcomes!r}, but the function returns {_text(hint)}; "
            "use the same outcomes in both"
        )


def _check_typed_dict(type_name: str, hint: Any) -> None:
    old = sys.version_info < (3, 12) and type(hint) is type(_Plain)
    if old and is_typeddict(hint):
        raise TypeError(
            f"step {type_name}: {_text(hint)} is a typing.TypedDict, which cannot be checked "
            "before Python 3.12; import TypedDict from typing_extensions"
        )


def _text(hint: Any) -> str:
    return getattr(hint, "__name__", None) or str(hint).replace("typing.", "")


class _Plain(typing.TypedDict):
    """A sample TypedDict, whose metaclass identifies all classes made by `typing.TypedDict`."""
