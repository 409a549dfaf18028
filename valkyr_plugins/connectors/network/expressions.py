"""JMESPath expressions of HTTP steps: checked when publishing, applied to answers.

They are evaluated in a thread of a process that runs the steps of others, so their work is bounded.
"""

from typing import Annotated, Any

from pydantic import AfterValidator

from runners.public.modules import StepError
from valkyr_plugins.connectors.data.bounds import MAX_BYTES
from valkyr_plugins.connectors.data.expressions import compiled


def parsed(expression: str) -> str:
    """The expression as it is; ValueError where it is none."""
    compiled(expression)
    return expression


Expression = Annotated[str, AfterValidator(parsed)]


def select(expression: str, data: Any, field: str, most: int | None = MAX_BYTES) -> Any:
    """What the expression of that input selects; StepError where it does not fit the data.

    `most` bounds the bytes of its JSON; None bounds only what is built on the way.
    """
    try:
        return compiled(expression)(data, most)
    except StepError as error:
        raise StepError(f"{field}: {error.message}") from error
