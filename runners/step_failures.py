"""What ended a step, as the failure that is recorded."""

from executions.errors import PayloadError
from executions.graph.model import Step
from executions.templates import TemplateError
from executions.templating.meter import RenderingTimeout
from runners.conf import config
from runners.deadline import StepTimeout
from runners.modules import registry
from runners.outcomes import Failure, classify
from runners.secrets import Revealed
from runners.states import ErrorType


def seconds_for(step: Step) -> float:
    """How long a step may take; a pure one less than a lease, which nobody renews for it."""
    return min(step.timeout_seconds, config().lease / 2) if step.inline else step.timeout_seconds


def failure_of(
    error: BaseException, step: Step, path: str, revealed: Revealed | None = None
) -> Failure:
    """Its class and its words, without what the step's secrets hold."""
    if isinstance(error, StepTimeout):
        return Failure(
            ErrorType.TIMEOUT,
            f"Step {path} was not done after {seconds_for(step):g} s, its time-out.",
            "StepTimeout",
            None,
            None,
            "",
        )
    if isinstance(error, registry.UnknownModule):
        # During a deploy another worker may know it already, or still.
        return Failure(ErrorType.TRANSIENT, str(error), "UnknownModule", None, None, "")
    if isinstance(error, RenderingTimeout):
        message = f"Step {path}: {error}"
        return Failure(ErrorType.TIMEOUT, message, "RenderingTimeout", None, None, "")
    if isinstance(error, TemplateError):
        return Failure(
            ErrorType.PERMANENT, f"Step {path}: {error}", "TemplateError", None, None, ""
        )
    if isinstance(error, PayloadError):
        return Failure(ErrorType.PERMANENT, error.message, "PayloadError", None, None, "")
    return classify(error, None if revealed is None else revealed.scrub)
