"""Patch each entry's inputs or payload, and check whether the patched value is valid."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from dlq.public.models import DeadLetterEntry
from executions.public.definitions import DefinitionProblem
from executions.public.errors import InvalidPayload, PayloadError
from executions.public.graphs import check_payload, compiled
from executions.public.schemas import one_definition
from executions.public.starting import StoredInput
from executions.public.templates import (
    WEB,
    RenderBudget,
    Template,
    TemplateError,
    inspect_template,
    one_expression,
)
from executions.public.values import payloads
from runners.public.repair import APPROVAL, UnknownModule, merged, module_of
from valkyr_plugins.redrive.models import Redrive, RedriveScope

# The expression that returns each entry's merge patch, in the syntax of templates.
#
# The outer braces are optional: `{"to": inputs.to | lower}`.


NAMES = ("inputs", "error", "attempts", "entry")


class Unusable(Exception):
    """The expression cannot make a patch for this entry; the message says why."""


def problems(text: str) -> Iterator[DefinitionProblem]:
    """Yield the problems of an expression's text."""
    braced = _braced(text)
    if not one_expression(braced):
        yield DefinitionProblem(
            "expression", "one_expression", "Expected one expression and nothing else."
        )
        return
    template, found = inspect_template(braced)
    for problem in found:
        yield DefinitionProblem("expression", problem.code, problem.message)
    for root in sorted({reference[0] for reference in template.references} - set(NAMES)):
        text = f"{root!r} is unknown here; known names: {', '.join(NAMES)}."
        yield DefinitionProblem("expression", "unknown_name", text)


def compiled_expression(text: str) -> Template:
    """Compile an expression in which `problems` finds no problem."""
    return inspect_template(_braced(text))[0]


def expression_patch(template: Template, scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return the expression's patch for one entry. Raises Unusable.

    All processes use the budget of web processes, so that the preview and the workers agree.
    """
    try:
        found = template.render(scope, RenderBudget(profile=WEB))
    except TemplateError as error:
        raise Unusable(f"The expression cannot be evaluated: {error}") from error
    if not isinstance(found, dict):
        kind = "null" if found is None else type(found).__name__
        raise Unusable(
            f"The expression returns {kind}; expected an object, a merge patch of inputs."
        )
    return found


def _braced(text: str) -> str:
    text = text.strip()
    return text if text.startswith("{{") and text.endswith("}}") else f"{{{{ {text} }}}}"


# The columns that are needed to make and check a patch, besides the payloads.
COLUMNS = (
    "id", "execution_id", "step_path", "module", "version_number", "failure_type",
    "failure_reason", "error_type", "exception", "http_status", "target", "attempts", "redrives",
)  # fmt: skip
MAX_PROBLEMS = 10
IN_STORE = (
    "The inputs have values in the payload store, which expressions cannot read. Use fixed changes."
)
OF_APPROVAL = "the inputs of an approval cannot be changed"


@dataclass(frozen=True, slots=True)
class Patched:
    """An entry's patch, and the value before and after it.

    The entry is rejected if there are `problems`. `checked` is false if the patch could not be
    tried, because the value is unknown or has parts in the payload store. `patch` is a StoredInput
    if it was written to the payload store.
    """

    patch: dict[str, Any] | StoredInput
    before: Any
    after: Any
    problems: tuple[str, ...] = ()
    checked: bool = True


Patcher = Callable[[DeadLetterEntry], Patched]


def patcher(redrive: Redrive) -> Patcher | None:
    """Return the function that makes each entry's patch; None if no inputs are changed."""
    if not redrive.overrides and not redrive.expression:
        return None
    give = _giver(redrive)

    def patched(entry: DeadLetterEntry) -> Patched:
        before, problems_of = _subject(redrive, entry)
        if redrive.scope == RedriveScope.STEP and entry.module == APPROVAL:
            return Patched({}, before, before, (OF_APPROVAL,))
        if _is_stored(before):
            # Stored values are not read here, so the patch is checked when the entry is sent.
            before = None
        try:
            patch = give(entry)
        except Unusable as error:
            return Patched({}, before, before, (str(error),))
        try:
            payloads.dump(patch, "patch")
        except PayloadError as error:
            return Patched({}, before, before, (error.message,))
        if before is None:
            return Patched(patch, None, patch, (), checked=False)
        after = merged(before, patch)
        return Patched(patch, before, after, tuple(problems_of(after)[:MAX_PROBLEMS]))

    return patched


def needs_payload(redrive: Redrive) -> bool:
    """Return whether patches change the executions' payloads, which must then be loaded."""
    return redrive.scope == RedriveScope.EXECUTION


def _giver(redrive: Redrive) -> Callable[[DeadLetterEntry], dict[str, Any]]:
    same = redrive.overrides
    if same:
        return lambda entry: dict(same)
    template = compiled_expression(redrive.expression)
    reads_inputs = any(names[0] == "inputs" for names in template.references)

    def given(entry: DeadLetterEntry) -> dict[str, Any]:
        if reads_inputs and _is_stored(entry.original_inputs):
            raise Unusable(IN_STORE)
        return expression_patch(template, scope(entry))

    return given


def _is_stored(value: Any) -> bool:
    return next(payloads.references_in(value), None) is not None


def subject(redrive: Redrive, entry: DeadLetterEntry) -> Any:
    """Return the value to which an entry's patch applies; None if it is unknown."""
    return _subject(redrive, entry)[0]


def scope(entry: DeadLetterEntry) -> dict[str, Any]:
    """Return the names that an expression may use for an entry, with their values."""
    return {
        "inputs": entry.original_inputs,
        "error": {
            "message": entry.failure_reason,
            "type": entry.error_type,
            "exception": entry.exception,
            "httpStatus": entry.http_status,
        },
        "attempts": entry.attempts,
        "entry": {
            "id": str(entry.pk),
            "executionId": str(entry.execution_id),
            "stepPath": entry.step_path,
            "module": entry.module,
            "version": entry.version_number,
            "failureType": entry.failure_type,
            "target": entry.target,
            "redrives": entry.redrives,
        },
    }


def _subject(redrive: Redrive, entry: DeadLetterEntry) -> tuple[Any, Callable[[Any], list[str]]]:
    """Return the value to patch, and a function that returns the problems of a patched value."""
    if redrive.scope == RedriveScope.EXECUTION:
        execution = entry.execution
        return execution.trigger_payload, lambda after: _payload_problems(
            execution.version_id, after
        )
    if redrive.from_step and redrive.from_step != entry.step_path:
        return None, lambda after: []
    return entry.original_inputs, lambda after: _input_problems(entry.module, after)


def _input_problems(module: str, inputs: Any) -> list[str]:
    """Return the problems that the module finds in the inputs, without the inputs' values.

    Schemas in the inputs share one definition's budget, because requests also call this function.
    """
    try:
        with one_definition():
            module_of(module).validated(inputs)
    except UnknownModule as error:
        return [str(error)]
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        return [
            f"{'.'.join(map(str, problem['loc'])) or 'inputs'}: {problem['msg']}"
            for problem in found
        ]
    return []


def _payload_problems(version_id: Any, payload: Any) -> list[str]:
    try:
        check_payload(compiled(version_id), payload, "payload")
    except InvalidPayload as error:
        return [f"{problem.path}: {problem.message}" for problem in error.problems]
    return []
