"""`data.validate`: data either fits a JSON Schema, or the step fails and lists every mistake."""

from functools import lru_cache
from typing import Any

from pydantic import Field, field_validator

from runners.modules.base import Module, ModuleInputs, ModuleOutputs, Result, StepContext, StepError

MAX_ERRORS = 100
NAMED_ERRORS = 5


class ValidateInputs(ModuleInputs):
    """What has to fit what."""

    data: Any = Field(description="What is checked.", examples=["{{ input }}"])
    json_schema: dict[str, Any] | bool = Field(
        alias="schema",
        description="A JSON Schema, draft 2020-12, complete in itself: nothing is downloaded.",
        examples=[{"type": "object", "required": ["orderId"]}],
    )

    @field_validator("json_schema")
    @classmethod
    def _schema_is_one(cls, schema: Any) -> Any:
        from jsonschema import Draft202012Validator, SchemaError

        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            place = ".".join(map(str, error.absolute_path)) or "its top"
            raise ValueError(f"not a JSON Schema, at {place}: {error.message[:300]}") from error
        return schema


class ValidateOutputs(ModuleOutputs):
    """What was checked."""

    data: Any = Field(description="The data, unchanged.")


class Validate(Module[ValidateInputs]):
    """Fails, for good and with every mistake listed, unless the data fits a JSON Schema."""

    type = "data.validate"
    title = "Validate"
    category = "data"
    takes_secrets = False
    retry = "none"
    Inputs = ValidateInputs
    Outputs = ValidateOutputs

    def execute(self, inputs: ValidateInputs, ctx: StepContext) -> Result:
        problems = _problems(inputs.data, inputs.json_schema)
        if not problems:
            return Result({"data": inputs.data})
        named = "; ".join(f"{p['field']}: {p['message']}" for p in problems[:NAMED_ERRORS])
        more = len(problems) - NAMED_ERRORS
        raise StepError(
            f"the data does not fit the schema: {named}" + (f"; and {more} more" * (more > 0)),
            details={"errors": problems},
        )


def _problems(data: Any, schema: Any) -> list[dict[str, str]]:
    from jsonschema import Draft202012Validator
    from referencing.exceptions import Unresolvable

    validator = Draft202012Validator(
        schema, registry=_local_registry(), format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    try:
        errors = sorted(validator.iter_errors(data), key=lambda e: list(map(str, e.absolute_path)))
    except Unresolvable as error:
        raise StepError(f"the schema refers to something it does not hold: {error}") from error
    except RecursionError as error:
        raise StepError("the data, or the schema's references, are nested too deeply") from error
    return [
        {
            "field": ".".join(map(str, error.absolute_path)) or "(all)",
            "rule": str(error.validator),
            "message": error.message[:300],
        }
        for error in errors[:MAX_ERRORS]
    ]


@lru_cache(maxsize=1)
def _local_registry() -> Any:
    """Knows JSON Schema's own documents and fetches nothing; jsonschema's default one would."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    return REGISTRY
