"""Read the templates of definitions, and write templates for a person to complete."""

from executions.definition.templates import (
    WEB,
    RenderBudget,
    Template,
    TemplateError,
    inspect_template,
    one_expression,
)
from executions.definition.templating.render_guard import Allowance, TimeSpent
from executions.definition.templating.syntax import (
    todo,
    todo_call,
)

__all__ = [
    "WEB",
    "Allowance",
    "RenderBudget",
    "Template",
    "TemplateError",
    "TimeSpent",
    "inspect_template",
    "one_expression",
    "todo",
    "todo_call",
]
