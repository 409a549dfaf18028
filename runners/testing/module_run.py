"""Run one module alone, and return its result or its failure as the engine would record it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from executions import payloads
from runners.failures.classification import Failure, classify
from runners.modules import registry
from runners.modules.base import Module, Result, Wait
from runners.modules.function_step import MODULE_ATTRIBUTE
from runners.modules.stored_content import marked
from runners.secrets.scrubbing import Scrubber
from runners.segment.step_context import Context, StepTimeout, time_limit
from runners.segment.work import Cost
from runners.states import ErrorType
from runners.testing.stored_contents import MemoryContents

KEY = "0123456789abcdef" * 4
What = str | Module[Any] | type[Module[Any]] | Callable[..., Any]


@dataclass(frozen=True, slots=True)
class ModuleRun:
    """The result of a module: JSON-serializable outputs, the outcome, the logs and the costs.

    `waits` describes the wait, if the module was suspended. `logs` are entries with `level`,
    `message` and optionally `fields`. Values of the credential are masked in outputs and logs, as
    in the engine.
    """

    outputs: Any
    outcome: str
    logs: list[dict[str, Any]]
    costs: tuple[Cost, ...]
    waits: Wait | None = None
    variables: Mapping[str, Any] | None = None


def run_module(
    module: What,
    given: Mapping[str, Any] | None = None,
    *,
    credential: Mapping[str, str] | None = None,
    variables: Mapping[str, Any] | None = None,
    attempt: int = 1,
    details: Any = None,
    wake: Mapping[str, Any] | None = None,
    seconds: float | None = None,
) -> ModuleRun:
    """Run a module on inputs in the form of a workflow's `with`, without templates.

    `module` is the type of an installed module, or any @step function, Module or Module class.
    `credential` contains the fields of its credential; `details` are the details that the previous
    attempt passed to `heartbeat`; `wake` is the cause that ends a wait (see `Module.woken`). The
    time limit is `seconds`, or by default the module's own timeout.

    Raises the exceptions of the module (StepError, pydantic's ValidationError for invalid inputs,
    StepTimeout), and AssertionError for a result that contradicts the module's declaration.
    """
    chosen = found(module)
    context = _context(chosen, attempt, variables or {}, details, seconds)
    scrub = Scrubber({value: f"[secret:test.{name}]" for name, value in (credential or {}).items()})
    context.reveal(credential, scrub)
    context.store_in(MemoryContents())
    with time_limit(context.remaining()):
        ended = chosen.run(dict(given or {}), context, wake)
    logs, costs = context.log.kept() or [], tuple(context.costs.values())
    if isinstance(ended, Wait):
        return ModuleRun(None, "", logs, costs, waits=ended)
    known = [*payloads.references_in(dict(given or {})), *context.stored]
    outputs = marked(scrub.value(ended.outputs, "output"), known)
    _check(chosen, dict(given or {}), ended, outputs)
    variables = scrub.value(ended.variables, "variables")
    return ModuleRun(outputs, ended.outcome, logs, costs, variables=variables)


def failing_module(module: What, given: Mapping[str, Any] | None = None, **more: Any) -> Failure:
    """Run a module that must fail; return its failure: `error_type`, `message` and `retry_after`.

    Takes the arguments of `run_module`. Raises AssertionError if the module does not fail.
    """
    try:
        ended = run_module(module, given, **more)
    except AssertionError:
        raise
    except StepTimeout:
        return Failure(ErrorType.TIMEOUT, "The timeout ended it.", "StepTimeout")
    except Exception as error:
        return classify(error)
    raise AssertionError(f"{found(module).type} succeeded: {ended.outcome} {ended.outputs!r:.300}")


def check_bad_inputs(module: What) -> None:
    """Run every row of a module's table `bad_inputs` that needs no server.

    Raises AssertionError if the result of a row differs from the table.
    """
    for bad in found(module).bad_inputs:
        if bad.needs:
            continue
        failure = failing_module(module, bad.inputs())
        told = f"{bad.what}: expected {bad.error_type} with {bad.says!r}, "
        told += f"found {failure.error_type} with {failure.message!r}"
        assert failure.error_type is bad.error_type, told
        assert bad.says in failure.message, told


def found(module: What) -> Module[Any]:
    """Return the module for a type name, a @step function, a Module class or a Module.

    Raises `UnknownModule` for an unknown type, and TypeError for any other object.
    """
    if isinstance(module, str):
        return registry.get(module)
    if isinstance(module, Module):
        return module
    if isinstance(module, type) and issubclass(module, Module):
        return module()
    if hasattr(module, MODULE_ATTRIBUTE):
        return cast("Module[Any]", getattr(module, MODULE_ATTRIBUTE))
    raise TypeError(f"expected a type, a Module or a @step function, found {module!r}")


def _context(
    module: Module[Any],
    attempt: int,
    variables: Mapping[str, Any],
    details: Any,
    seconds: float | None,
) -> Context:
    return Context(
        execution_id=UUID(int=1),
        step_path="test.main",
        attempt=attempt,
        idempotency_key=KEY,
        seconds=module.timeout_seconds if seconds is None else seconds,
        variables=variables,
        last_details=details,
    )


def _check(module: Module[Any], given: dict[str, Any], ended: Result, outputs: Any) -> None:
    """Raise AssertionError unless the outcome and the outputs match the module's declaration."""
    declared = module.outcomes_for(given) or ("success",)
    assert ended.outcome in (*declared, "success"), (
        f"{module.type} ended with the outcome {ended.outcome!r}; it declares {', '.join(declared)}"
    )
    payloads.dump(outputs, f"output of {module.type}")
    if module.Outputs is None:
        return
    from jsonschema import Draft202012Validator

    schema = module.Outputs.model_json_schema(mode="serialization")
    errors = [
        f"{error.json_path}: {error.message}"
        for error in Draft202012Validator(schema).iter_errors(outputs)
    ]
    assert not errors, f"{module.type} breaks its output's schema: {'; '.join(errors[:5])}"
