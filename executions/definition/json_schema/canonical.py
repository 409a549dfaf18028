"""JSON values as texts: two are equal in JSON Schema's sense when their texts are.

Texts are compared and hashed in linear time. Python's own equality takes True for 1, and numbers
can be chosen so that their hashes collide.
"""

import json
from typing import Any

from executions.definition.json_schema.budget import Budget


def canonical(value: Any, budget: Budget) -> str:
    """Return the text of a value; each value in it is charged. Raises BudgetExceeded."""
    parts: list[str] = []
    _write(value, parts, budget)
    return "".join(parts)


def _write(value: Any, parts: list[str], budget: Budget) -> None:
    budget.spend(1)
    if isinstance(value, dict):
        parts.append("{")
        for key in sorted(value):
            parts.append(f"{json.dumps(key)}:")
            _write(value[key], parts, budget)
            parts.append(",")
        parts.append("}")
    elif isinstance(value, list | tuple):
        parts.append("[")
        for item in value:
            _write(item, parts, budget)
            parts.append(",")
        parts.append("]")
    elif isinstance(value, float) and value.is_integer():
        parts.append(str(int(value)))  # 1.0 and 1 are one number
    else:
        parts.append(json.dumps(value))
