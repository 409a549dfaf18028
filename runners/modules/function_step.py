"""`@step`: turn a plain function into a module; its annotations define the inputs and outputs.

The models are created on first use, so that registering a step costs almost nothing; mistakes in a
function are reported when the function is imported.
"""

import asyncio
import inspect
import re
from collections.abc import Callable, Coroutine, Mapping
from decimal import Decimal
from typing import Any, Concatenate, Protocol, overload

from pydantic import BaseModel
from typing_extensions import ParamSpec, TypeVar

from executions.definition.graph.model import POLICIES
from runners.modules.base import Bad, Module, Result, StepContext
from runners.modules.step_calls import NoResult, StepFunction, type_name_of
from runners.modules.step_signature import StepSignature, read

P = ParamSpec("P")
R = TypeVar("R")
Circuit = str | Callable[[Any], str | None]
Costs = Decimal | Callable[[Any, Any], Decimal]

# The function remains callable as before. This attribute of the function holds its module.
MODULE_ATTRIBUTE = "__valkyr_module__"
TYPE_NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")
MOST_CHARACTERS = 100
EFFECTS = ("none", "idempotent", "database", "external")


Retry = str | Mapping[str, Any]


class StepDecorator(Protocol):
    """The result of `@step(...)`: it turns a function into a step and keeps the type hints."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[StepContext, P], None], /
    ) -> StepFunction[P, NoResult]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[StepContext, P], Coroutine[Any, Any, R]], /
    ) -> StepFunction[P, R]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[StepContext, P], R], /
    ) -> StepFunction[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, Coroutine[Any, Any, R]], /) -> StepFunction[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, None], /) -> StepFunction[P, NoResult]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> StepFunction[P, R]: ...


@overload
def step(function: Callable[Concatenate[StepContext, P], None], /) -> StepFunction[P, NoResult]: ...
@overload
def step(
    function: Callable[Concatenate[StepContext, P], Coroutine[Any, Any, R]], /
) -> StepFunction[P, R]: ...
@overload
def step(function: Callable[Concatenate[StepContext, P], R], /) -> StepFunction[P, R]: ...
@overload
def step(function: Callable[P, Coroutine[Any, Any, R]], /) -> StepFunction[P, R]: ...
@overload
def step(function: Callable[P, None], /) -> StepFunction[P, NoResult]: ...
@overload
def step(function: Callable[P, R], /) -> StepFunction[P, R]: ...
@overload
def step(
    type_name: str = "",
    /,
    *,
    title: str | None = None,
    category: str = "custom",
    queue: str = "default",
    inline: bool = False,
    computes: bool = False,
    effect: str = "external",
    outcomes: tuple[str, ...] = (),
    retry: Retry = "standard",
    timeout_seconds: float = 60.0,
    credential: tuple[str, ...] = (),
    circuit: Circuit | None = None,
    circuit_target: str = "",
    costs: Costs | None = None,
    example: Mapping[str, Any] | None = None,
    bad_inputs: tuple[Bad, ...] = (),
) -> StepDecorator: ...


def step(what: Any = "", /, **facts: Any) -> Any:
    """Turn a plain or `async` function into a step: `@step`, or with arguments `@step(...)`.

    The first argument is the module type's name; by default, it is derived from the Python module
    and the function, such as `shop.flows.charge`. Parameters become the inputs: `order_id` is
    `orderId` in a workflow. Describe a parameter with `Annotated[int, "Which order."]` or a
    pydantic Field. The type of the return value describes the outputs; the docstring is the
    description. A parameter of type `StepContext` receives the context.

    With `outcomes`, the step chooses a branch: the function returns an outcome (annotated as a
    Literal), a tuple of such an outcome and the output, or a Result. `retry` is a policy's name or
    your own values, such as `{"maxAttempts": 3}`. With the effect `database`, the function runs in
    the transaction that records the step: its writes to Valkyr's database commit with the record,
    or not at all. Keep such a function short, and do not call other systems in it. A step with
    `computes` is CPU-bound and cannot use a queue whose workers use threads, such as `io`.

    `circuit` is the target of the step's circuit breaker: a string, or a function of the inputs
    (whose attributes are the parameters) that returns a string or None; `circuit_target` describes
    the target. `costs` is the cost of one successful run, in the installation's currency: an
    amount, or a function of the inputs and the result. `example` is an example of valid inputs, as
    they appear under `with` in a workflow.

    Raises TypeError if the function or an argument is not valid for a module.
    """
    if isinstance(what, str):
        return lambda function: _declare(function, what, **facts)
    return _declare(what, "", **facts)


def _declare(  # noqa: PLR0913 - one a fact of a module, given by name
    function: Any,
    type_name: str,
    *,
    title: str | None = None,
    category: str = "custom",
    queue: str = "default",
    inline: bool = False,
    computes: bool = False,
    effect: str = "external",
    outcomes: tuple[str, ...] = (),
    retry: Retry = "standard",
    timeout_seconds: float = 60.0,
    credential: tuple[str, ...] = (),
    circuit: Circuit | None = None,
    circuit_target: str = "",
    costs: Costs | None = None,
    example: Mapping[str, Any] | None = None,
    bad_inputs: tuple[Bad, ...] = (),
) -> StepFunction[..., Any]:
    if isinstance(function, StepFunction):
        function = function.function
    type_name = type_name or _own_type_name(function)
    _check(type_name, function, effect, inline=inline, timeout_seconds=timeout_seconds)
    _check_retry(type_name, retry)
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
    return StepFunction(function, module, _given(queue, retry, timeout_seconds))


def _given(queue: str, retry: Retry, timeout_seconds: float) -> dict[str, Any]:
    """Return the arguments that differ from a module's defaults, named as in a definition."""
    given: dict[str, Any] = {"retry": retry, "timeoutSeconds": timeout_seconds, "queue": queue}
    usual = {"retry": "standard", "timeoutSeconds": 60.0, "queue": "default"}
    return {key: value for key, value in given.items() if value != usual[key]}


class _Made:
    """A class attribute that is computed when it is first read."""

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
        "costs": costs is not None,
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
    """Return a plain function that runs an async function in a new event loop."""

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
    """Return the output as JSON, converted with the model; unchanged if there is no model."""
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
            f"step {type_name}: describe the target of its circuit, such as "
            'circuit_target="the shop\'s host"'
        )
    return {"circuit": lambda self, inputs: circuit(inputs), "circuit_target": words}


def _check(
    type_name: str, function: Any, effect: str, *, inline: bool, timeout_seconds: float
) -> None:
    if TYPE_NAME.fullmatch(type_name) is None or len(type_name) > MOST_CHARACTERS:
        raise TypeError(
            f"step {type_name!r}: a type is two or more lower-case words separated by dots, "
            "such as shop.discount; at most 100 characters"
        )
    if not inspect.isfunction(function):
        raise TypeError(f"step {type_name}: @step takes a function, found {function!r}")
    if effect not in EFFECTS:
        raise TypeError(
            f"step {type_name}: effect is one of {', '.join(EFFECTS)}; found {effect!r}"
        )
    if timeout_seconds <= 0:
        raise TypeError(
            f"step {type_name}: timeout_seconds must be more than 0; found {timeout_seconds}"
        )
    if effect == "database" and (inline or inspect.iscoroutinefunction(function)):
        raise TypeError(
            f"step {type_name}: a step with the effect 'database' runs in its own "
            "transaction, on one connection; omit `inline` and `async`"
        )
    if inline and inspect.iscoroutinefunction(function):
        raise TypeError(
            f"step {type_name}: an inline step does no I/O and cannot be async; omit `inline` "
            "or `async`"
        )


def _own_type_name(function: Any) -> str:
    if not inspect.isfunction(function):
        raise TypeError(f"@step takes a function, found {function!r}")
    return type_name_of(function)


def _check_retry(type_name: str, retry: Retry) -> None:
    known = {"maxAttempts", "baseSeconds", "maxSeconds", "jitter", "timeouts"}
    if isinstance(retry, Mapping) and set(retry) <= known and retry:
        return
    if not (isinstance(retry, str) and retry in POLICIES):
        raise TypeError(
            f"step {type_name}: retry is one of {', '.join(POLICIES)}, or a mapping of some of "
            f"{', '.join(sorted(known))}; found {retry!r}"
        )


def _check_tuples(type_name: str, **given: Any) -> None:
    for name, value in given.items():
        if not isinstance(value, tuple):
            raise TypeError(
                f'step {type_name}: {name} is a tuple, such as ("one",); found {value!r}'
            )
