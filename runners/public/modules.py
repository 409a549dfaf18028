"""Write modules: a step's inputs, outputs and errors."""

from runners.failures.classification import error_type_of, status_error_type
from runners.failures.retry import parse_retry_after
from runners.modules.base import (
    Bad,
    Module,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
)
from runners.modules.containers import ExpandingContainer
from runners.modules.credential_hosts import judge, restricted
from runners.modules.egress import (
    address_filter,
    address_rules,
    among,
    egress_rules,
    ruled_by,
)
from runners.modules.function_step import StepDecorator, step
from runners.modules.step_calls import DECORATED, TRACER, NoResult, StepFunction
from runners.modules.stored_content import StoredContent
from runners.states import ErrorType
from runners.targets.rules import matches, specificity, timeout_seconds

__all__ = [
    "DECORATED",
    "TRACER",
    "Bad",
    "ErrorType",
    "ExpandingContainer",
    "Module",
    "ModuleInputs",
    "ModuleOutputs",
    "NoResult",
    "Result",
    "StepContext",
    "StepDecorator",
    "StepError",
    "StepFunction",
    "StoredContent",
    "address_filter",
    "address_rules",
    "among",
    "egress_rules",
    "error_type_of",
    "judge",
    "matches",
    "parse_retry_after",
    "restricted",
    "ruled_by",
    "specificity",
    "status_error_type",
    "step",
    "timeout_seconds",
]
