"""The inputs, checks and execution that all steps with workflow code share."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field, JsonValue

from executions.public.definitions import ConfigProblem
from runners.public.modules import ModuleInputs, Result, StepContext

MAX_CODE = 100_000
NO_TEMPLATE = (
    "a value that is rendered into code can become code: write literal code, and pass values "
    "as `inputs`"
)
WRONG_SETTING = (
    "code in workflows is off, because a setting is invalid: {error} An administrator must correct "
    "it for the web process and the workers"
)


class CodeInputs(ModuleInputs):
    """The code, its inputs and its time limit."""

    code: str = Field(min_length=1, max_length=MAX_CODE)
    inputs: JsonValue = Field(
        default={},
        description="The value that `main` gets as its argument.",
        examples=[{"prices": "{{ input.prices }}"}],
    )
    seconds: float = Field(
        10,
        ge=0.1,
        le=300,
        description="Timeout in seconds. It includes the start-up, which takes under 0.1 s.",
    )


def off(language: str, variable: str) -> str:
    """Return a message that code in this language is off, and that `variable` enables it."""
    return (
        f"{language} code in workflows is off: an administrator turns it on by setting "
        f"{variable}=1 for the web process and the workers"
    )


def code_problems(
    config: Mapping[str, Any], module: str, is_on: Callable[[], bool], why_off: str
) -> list[ConfigProblem]:
    """Return the problems of a step's code; `why_off` is the message if the module is disabled."""
    from django.core.exceptions import ImproperlyConfigured  # not needed to describe modules

    found = []
    if "{{" in str(config.get("code", "")):
        found.append(ConfigProblem(("code",), "template_not_allowed", NO_TEMPLATE))
    try:
        why = "" if is_on() else why_off
    except ImproperlyConfigured as error:
        why = WRONG_SETTING.format(error=error)
    if why:
        found.append(ConfigProblem((), f"{module}_off", why))
    return found


def run_code(request: dict[str, Any], ctx: StepContext, engine: str = "") -> Result:
    """Run the code in its own process, log its output and return its result. Raises StepError."""
    from valkyr_plugins.connectors.code.process import log_printed, result_of, run

    ended = run(request, ctx, engine)
    log_printed(ended.printed, ctx)
    return result_of(ended)
