"""The public names for workflows in Python, as `valkyr` exports them."""

from typing import TYPE_CHECKING

from runners.public.modules import StepContext, StepError, step
from valkyr_plugins.python_workflows.constructs.agents import agent, tool
from valkyr_plugins.python_workflows.constructs.bodies import each, history, repeat, sub
from valkyr_plugins.python_workflows.constructs.branches import (
    choose,
    error,
    failed,
    otherwise,
    outcome,
    parallel,
    succeeded,
    switch,
    then,
    when,
)
from valkyr_plugins.python_workflows.constructs.chains import chain
from valkyr_plugins.python_workflows.constructs.values import (
    contains,
    execution,
    expr,
    filters,
    first_of,
    is_missing,
    not_,
    secrets,
    variables,
)
from valkyr_plugins.python_workflows.constructs.waits import (
    approve,
    callback,
    event,
    sleep,
    wait_event,
)
from valkyr_plugins.python_workflows.tracing.places import TracingError
from valkyr_plugins.python_workflows.workflow import workflow

if TYPE_CHECKING:
    from valkyr_plugins.python_workflows.built_in import modules
else:
    from valkyr_plugins.python_workflows.constructs.steps import modules

__all__ = [
    "StepContext",
    "StepError",
    "TracingError",
    "agent",
    "approve",
    "callback",
    "chain",
    "choose",
    "contains",
    "each",
    "error",
    "event",
    "execution",
    "expr",
    "failed",
    "filters",
    "first_of",
    "history",
    "is_missing",
    "modules",
    "not_",
    "otherwise",
    "outcome",
    "parallel",
    "repeat",
    "secrets",
    "sleep",
    "step",
    "sub",
    "succeeded",
    "switch",
    "then",
    "tool",
    "variables",
    "wait_event",
    "when",
    "workflow",
]
