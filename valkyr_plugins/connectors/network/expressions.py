"""JMESPath expressions of HTTP steps: checked when publishing, applied to answers."""

from typing import Annotated, Any

import jmespath
import jmespath.exceptions
from pydantic import AfterValidator

from runners.public.modules import StepError


def parsed(expression: str) -> str:
    """The expression as it is; ValueError where it is none."""
    try:
        jmespath.compile(expression)
    except jmespath.exceptions.JMESPathError as error:
        raise ValueError(f"not a JMESPath expression: {error}") from error
    return expression


Expression = Annotated[str, AfterValidator(parsed)]


def select(expression: str, data: Any, field: str) -> Any:
    """What the expression of that input selects; StepError where it does not fit the data."""
    try:
        # jmespath keeps the compiled expression, so this parses no second time.
        return jmespath.search(expression, data)
    except jmespath.exceptions.JMESPathError as error:
        raise StepError(f"{field} {expression!r} does not fit the answer: {error}") from error
