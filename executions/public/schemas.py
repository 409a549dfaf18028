"""Check values against JSON Schemas within a budget of work; pure, without a database."""

from executions.definition.json_schema.budget import (
    STEP,
    BudgetExceeded,
    EvaluationBudget,
    for_a_schema,
)
from executions.definition.json_schema.checking import (
    Unresolvable,
    check_patterns,
    mistakes,
    schema_mistakes,
    validator,
)
from executions.definition.patterns import BadPattern, TooMuchWork

__all__ = [
    "STEP",
    "BadPattern",
    "BudgetExceeded",
    "EvaluationBudget",
    "TooMuchWork",
    "Unresolvable",
    "check_patterns",
    "for_a_schema",
    "mistakes",
    "schema_mistakes",
    "validator",
]
