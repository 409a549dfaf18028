"""`data.validate`: check data against a JSON Schema, and report up to 100 errors."""

import json
from functools import lru_cache
from typing import Any

from pydantic import Field, field_validator

from executions.public.schemas import (
    STEP,
    BadPattern,
    BudgetExceeded,
    EvaluationBudget,
    TooMuchWork,
    Unresolvable,
    check_patterns,
    for_a_schema,
    mistakes,
    schema_mistakes,
    validator,
)
from runners.public.modules import (
    Bad,
    Module,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
)

MAX_ERRORS = 100
NAMED_ERRORS = 5
MAX_KEPT = 20_000  # maximum characters of a cached schema


class ValidateInputs(ModuleInputs):
    """The data to validate, and the JSON Schema."""

    data: Any = Field(description="The data to check.", examples=["{{ input }}"])
    json_schema: dict[str, Any] | bool = Field(
        alias="schema",
        description=(
            "A JSON Schema, draft 2020-12. References to other documents are not downloaded. "
            "The keyword `format` is enforced for date, email and some other formats. If "
            "`valkyr[formats]` is installed, more formats are enforced, such as date-time and uri."
        ),
        examples=[{"type": "object", "required": ["orderId"]}],
    )

    @field_validator("json_schema")
    @classmethod
    def _schema_is_one(cls, schema: Any) -> Any:
        require_schema(schema)
        return schema


class ValidateOutputs(ModuleOutputs):
    """The valid data."""

    data: Any = Field(description="The data, unchanged.")


class Validate(Module[ValidateInputs]):
    """Checks data against a JSON Schema; fails with up to 100 errors if the data does not match.

    Regular expressions cannot use lookaround or backreferences, so that matching takes linear time.
    A check that takes too many evaluations of the schema fails the step.
    """

    type = "data.validate"
    title = "Validate"
    category = "data"
    computes = True
    takes_secrets = False
    retry = "none"
    Inputs = ValidateInputs
    Outputs = ValidateOutputs
    example = {
        "data": "{{ input }}",
        "schema": {
            "type": "object",
            "required": ["orderId"],
            "properties": {"orderId": {"type": "string"}, "email": {"format": "email"}},
        },
    }
    bad_inputs = (
        Bad(
            "data that does not fit",
            {"data": {"id": "x"}, "schema": {"properties": {"id": {"type": "integer"}}}},
            "the data does not fit the schema: id: 'x' is not of type 'integer'",
        ),
        Bad(
            "an invalid schema",
            {"data": 1, "schema": {"type": "text"}},
            "not a JSON Schema, at type",
        ),
        Bad(
            "a schema that would be downloaded",
            {"data": 1, "schema": {"$ref": "http://127.0.0.1:9/schema"}},
            "has a reference to a missing definition",
        ),
        Bad(
            "a schema that refers to itself forever",
            {"data": 1, "schema": {"$ref": "#"}},
            "nested too deeply",
        ),
        Bad(
            "a list of 200,000 mistakes",
            {"data": ["x"] * 200_000, "schema": {"items": {"type": "integer"}}},
            "and at least 95 more",
        ),
    )

    def warm_up(self) -> None:
        import jsonschema  # noqa: F401 - takes a while to load
        import re2  # noqa: F401

    def execute(self, inputs: ValidateInputs, ctx: StepContext) -> Result:
        require_fit(inputs.data, inputs.json_schema, STEP)
        return Result({"data": inputs.data})


def require_fit(data: Any, schema: Any, evaluations: int) -> None:
    """Raise StepError unless data fits a schema that `require_schema` has checked.

    The error's `details` contains the mistakes, or is None if the data could not be checked.
    """
    problems = _problems(data, schema, evaluations)
    if not problems:
        return
    named = "; ".join(f"{p['field']}: {p['message']}" for p in problems[:NAMED_ERRORS])
    more = len(problems) - NAMED_ERRORS
    at_least = "at least " if len(problems) == MAX_ERRORS else ""
    raise StepError(
        f"the data does not fit the schema: {named}"
        + (f"; and {at_least}{more} more" if more > 0 else ""),
        details={"errors": problems},
    )


def _problems(data: Any, schema: Any, evaluations: int) -> list[dict[str, str]]:
    try:
        # Find one by one, up to the maximum, because each message may contain the whole data.
        found = mistakes(validator(schema), data, EvaluationBudget(evaluations), MAX_ERRORS)
    except Unresolvable as error:
        raise StepError(f"the schema has a reference to a missing definition: {error}") from error
    except (BudgetExceeded, TooMuchWork) as error:
        raise StepError(str(error)) from error
    except RecursionError as error:
        raise StepError("the data, or the schema's references, are nested too deeply") from error
    problems = sorted((list(map(str, one.path)), one.rule, one.message[:300]) for one in found)
    return [
        {"field": ".".join(place) or "(all)", "rule": rule, "message": message}
        for place, rule, message in problems
    ]


def require_schema(schema: Any, evaluations: int = STEP) -> None:
    """Raise ValueError unless the value is a JSON Schema whose patterns are supported.

    `evaluations` limits the work, unless a definition is being checked, which has its own budget.
    """
    try:
        text = json.dumps(schema)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not a JSON Schema: {error}") from error
    # Most steps have a constant schema. To check the schema takes longer than to check data.
    check = _require_schema if len(text) <= MAX_KEPT else _require_schema.__wrapped__
    check(text, evaluations)


@lru_cache(maxsize=256)
def _require_schema(text: str, evaluations: int) -> None:
    schema = json.loads(text)
    try:
        found = schema_mistakes(schema, for_a_schema(evaluations), 1)
        check_patterns(schema, for_a_schema(evaluations))
    except BudgetExceeded as error:
        raise ValueError("not a JSON Schema: it has too many parts to be checked") from error
    except BadPattern as error:
        raise ValueError(f"not a JSON Schema: {error}") from error
    except RecursionError as error:
        raise ValueError("not a JSON Schema: it is nested too deeply") from error
    for mistake in found:
        place = ".".join(map(str, mistake.path)) or "its top"
        raise ValueError(f"not a JSON Schema, at {place}: {mistake.message[:300]}")
