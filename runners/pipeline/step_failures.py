"""What ended a step, as the failure that is recorded."""

from executions.definition.graph.model import Step
from executions.definition.templates import TemplateError
from executions.errors import PayloadError
from runners.conf import config
from runners.failures.classification import Failure, classify, template_failure
from runners.modules import registry
from runners.pipeline.reveal_secrets import Revealed
from runners.process.memory_limit import limited_megabytes, what_to_raise
from runners.segment.time_limit import StepTimeout
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
        return Failure(ErrorType.TRANSIENT, str(error), "UnknownModule")
    known = _of_the_engine(error, path)
    return known or classify(error, None if revealed is None else revealed.scrub)


def _of_the_engine(error: BaseException, path: str) -> Failure | None:
    """The failure of an error that the engine itself raises around a module."""
    if isinstance(error, TemplateError):
        return template_failure(error, path)
    if isinstance(error, PayloadError):
        return Failure(ErrorType.PERMANENT, error.message, "PayloadError")
    if isinstance(error, MemoryError) and limited_megabytes():
        message = (
            f"Step {path} needs more memory than its process may have "
            f"({limited_megabytes():,} MiB). Give it less to do at once, or raise "
            f"{what_to_raise()}."
        )
        return Failure(ErrorType.PERMANENT, message, "MemoryError")
    return None
