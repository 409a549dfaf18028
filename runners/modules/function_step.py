"""`@step`: makes a module of a plain typed function; its annotations are inputs and outputs.

The models are made when they are first asked for, so that registering a step costs next to
nothing; what can be wrong with a function is told at once, as it is imported.
"""

import asyncio
import inspect
import re
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field, RootModel, create_model
from typing_extensions import is_typeddict

from runners.modules.base import Bad, Module, ModuleInputs, Result, StepContext

# What a typed function says of its inputs and results, read once; mistakes are told at import.


NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True)
class StepSignature:
    """A function's parameters and what it returns, as its annotations have them.

    `context` is the parameter that takes the StepContext, "" for none. `returns` is what is
    described as output (Any: nothing); `shape` says how the returned value holds it: the `output`
    itself, the `outcome` alone, a `pair` of outcome and output, or a whole `result`.
    """

    name: str
    parameters: Mapping[str, tuple[Any, Any]]
    context: str
    returns: Any
    shape: str

    def inputs(self) -> type[BaseModel]:
        """The model of the inputs."""
        fields: dict[str, Any] = dict(self.parameters)
        return create_model(f"{self.name}_inputs", __base__=ModuleInputs, **fields)

    def outputs(self) -> type[BaseModel] | None:
        """The model of the output; None where the function does not describe it."""
        hint = self.returns
        if hint is Any or hint is None or hint is type(None):
            return None
        if isinstance(hint, type) and issubclass(hint, BaseModel):
            return hint
        return create_model(f"{self.name}_outputs", __base__=RootModel[hint])  # type: ignore[valid-type]


def read(function: Callable[..., Any], type_name: str, outcomes: tuple[str, ...]) -> StepSignature:
    """The signature of a step's function; raises TypeError, which says how to write it."""
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
            f"({error}); import what they name where the step is declared"
        ) from error


def _field(type_name: str, parameter: inspect.Parameter, hints: dict[str, Any]) -> tuple[Any, Any]:
    if parameter.kind not in NAMED:
        raise TypeError(f"step {type_name}: parameter {parameter} cannot be given by name")
    if parameter.name not in hints:
        raise TypeError(f"step {type_name}: parameter {parameter.name!r} needs a type annotation")
    if parameter.name.startswith("_"):
        raise TypeError(
            f"step {type_name}: parameter {parameter.name!r} begins with an underscore, which no "
            "input may; choose another name"
        )
    _check_typed_dict(type_name, hints[parameter.name])
    required = parameter.default is parameter.empty
    return _described(hints[parameter.name]), Field(... if required else parameter.default)


def _described(hint: Any) -> Any:
    """`Annotated[int, "Which order."]` is short for a Field with that description."""
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
            "name the same in both"
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
    """Shows what kind of class the standard library's are."""


F = TypeVar("F", bound=Callable[..., Any])
Circuit = str | Callable[[Any], str | None]
Costs = Decimal | Callable[[Any, Any], Decimal]

# The function keeps its own behaviour and can be called as ever; its module rides along here.
MODULE_ATTRIBUTE = "__valkyr_module__"
TYPE_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
EFFECTS = ("none", "idempotent", "external")


def step(  # noqa: PLR0913 - one a fact of a module, given by name
    type_name: str,
    *,
    title: str | None = None,
    category: str = "custom",
    queue: str = "default",
    inline: bool = False,
    computes: bool = False,
    effect: str = "external",
    outcomes: tuple[str, ...] = (),
    retry: str = "standard",
    timeout_seconds: float = 60.0,
    credential: tuple[str, ...] = (),
    circuit: Circuit | None = None,
    circuit_target: str = "",
    costs: Costs | None = None,
    example: Mapping[str, Any] | None = None,
    bad_inputs: tuple[Bad, ...] = (),
) -> Callable[[F], F]:
    """Make the decorated function, plain or `async`, the module `type_name`.

    Parameters become the inputs (`order_id` is `orderId` in a workflow; describe one by
    `Annotated[int, "Which order."]` or a pydantic Field), the annotated return value the outputs,
    the docstring the description. A parameter annotated `StepContext` receives the context.

    With `outcomes` the step decides where the workflow goes on: the function returns a Literal of
    them, or a tuple of that and its output. A step that `computes` takes the processor for long: it
    cannot be sent to a queue that threads of one process serve, such as `io`. `circuit` is the
    target that its circuit breaker counts by: a text, or a function from the inputs (whose
    attributes are the parameters) to a text or None; `circuit_target` says in words what it gives.
    `costs` is what one run that ended well spends, in the installation's currency: an amount, or a
    function from the inputs and what was returned to one. `example` is a `with` that works.

    Raises TypeError for a function or a fact that cannot be a module's.
    """

    def decorate(function: F) -> F:
        _check(type_name, function, effect, inline=inline, timeout_seconds=timeout_seconds)
        _check_tuples(type_name, outcomes=outcomes, credential=credential, bad_inputs=bad_inputs)
        facts: dict[str, Any] = {
            "type": type_name,
            "title": title or function.__name__.replace("_", " ").capitalize(),
            "category": category,
            "description": inspect.getdoc(function) or "",
            "queue": queue,
            "inline": inline,
            "computes": computes,
            "effect": effect,
            "outcomes": outcomes,
            "retry": retry,
            "timeout_seconds": timeout_seconds,
            "credential": credential,
            "example": dict(example or {}),
            "bad_inputs": bad_inputs,
        }
        if circuit is not None:
            facts |= _circuit(type_name, circuit, circuit_target)
        module = _module(function, read(function, type_name, outcomes), facts, costs)
        setattr(function, MODULE_ATTRIBUTE, module)
        return function

    return decorate


class _Made:
    """A class attribute that is made when it is first read."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        value = self.make()
        setattr(owner, self.name, value)
        return value


def _module(
    function: Callable[..., Any],
    signature: StepSignature,
    facts: dict[str, Any],
    costs: Costs | None,
) -> Module[Any]:
    body: dict[str, Any] = {
        **facts,
        "Inputs": _Made(signature.inputs),
        "Outputs": _Made(signature.outputs),
        "execute": _execute(function, signature, costs),
        "__module__": function.__module__,
    }
    created: type[Module[Any]] = type(function.__name__, (Module,), body)
    return created()


def _execute(
    function: Callable[..., Any], signature: StepSignature, costs: Costs | None
) -> Callable[..., Result]:
    call = _awaited(function) if inspect.iscoroutinefunction(function) else function
    ended = _ENDINGS[signature.shape]

    def execute(self: Any, inputs: BaseModel, ctx: StepContext) -> Result:
        arguments = dict(inputs)
        if signature.context:
            arguments[signature.context] = ctx
        returned = call(**arguments)
        if costs is not None:
            ctx.cost(amount=costs if isinstance(costs, Decimal) else costs(inputs, returned))
        return ended(self.Outputs, returned)

    return execute


def _awaited(function: Callable[..., Any]) -> Callable[..., Any]:
    """An async function as a plain one: a step has a loop of its own, which ends with it."""

    def call(**arguments: Any) -> Any:
        return asyncio.run(function(**arguments))

    return call


def _output(model: type[BaseModel] | None, returned: Any) -> Result:
    return Result(_plain(model, returned))


def _outcome(model: type[BaseModel] | None, returned: Any) -> Result:
    return Result({"outcome": returned}, outcome=returned)


def _pair(model: type[BaseModel] | None, returned: Any) -> Result:
    outcome, output = returned
    return Result(_plain(model, output), outcome=outcome)


def _result(model: type[BaseModel] | None, returned: Any) -> Result:
    if not isinstance(returned, Result):
        raise TypeError(f"the function promises a Result, but returned {type(returned).__name__}")
    return returned


_ENDINGS = {"output": _output, "outcome": _outcome, "pair": _pair, "result": _result}


def _plain(model: type[BaseModel] | None, returned: Any) -> Any:
    """The output as JSON: dates, decimals and dataclasses as their annotations promise them."""
    if model is None:
        return returned
    return model.model_validate(returned).model_dump(mode="json", by_alias=True)


def _circuit(type_name: str, circuit: Circuit, told: str) -> dict[str, Any]:
    if not callable(circuit):
        target = circuit if ":" in circuit else f"{type_name}:{circuit}"
        return {"circuit": lambda self, inputs: target, "circuit_target": told or f"`{target}`"}
    words = told or inspect.getdoc(circuit) or ""
    if not words:
        raise TypeError(
            f"step {type_name}: say in words what its circuit is counted by, such as "
            'circuit_target="the shop\'s host"'
        )
    return {"circuit": lambda self, inputs: circuit(inputs), "circuit_target": words}


def _check(
    type_name: str, function: Any, effect: str, *, inline: bool, timeout_seconds: float
) -> None:
    if TYPE_NAME.fullmatch(type_name) is None:
        raise TypeError(
            f"step {type_name!r}: a type is two or more words with dots between, in small letters, "
            "such as shop.discount"
        )
    if not inspect.isfunction(function):
        raise TypeError(f"step {type_name}: @step takes a function, found {function!r}")
    if effect not in EFFECTS:
        raise TypeError(
            f"step {type_name}: effect is one of {', '.join(EFFECTS)}; found {effect!r}"
        )
    if timeout_seconds <= 0:
        raise TypeError(f"step {type_name}: timeout_seconds is over 0; found {timeout_seconds}")
    if inline and inspect.iscoroutinefunction(function):
        raise TypeError(
            f"step {type_name}: an inline step does no I/O, so it has nothing to await; "
            "leave `inline` out, or `async`"
        )


def _check_tuples(type_name: str, **given: Any) -> None:
    for name, value in given.items():
        if not isinstance(value, tuple):
            raise TypeError(
                f'step {type_name}: {name} is a tuple, such as ("one",); found {value!r}'
            )
