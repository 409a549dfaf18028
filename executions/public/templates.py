"""Read templates of definitions, and write those that somebody must finish; pure."""

from executions.definition.templates import inspect_template
from executions.definition.templating.unfinished import todo, todo_call

__all__ = [
    "inspect_template",
    "todo",
    "todo_call",
]
