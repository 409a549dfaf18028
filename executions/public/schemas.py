"""Check values against JSON Schemas within a budget of work, without a database."""

from executions.definition.json_schema.budget import (
    DEFINITION,
    REQUEST,
    STEP,
    BudgetExceeded,
    EvaluationBudget,
    for_a_schema,
    one_definition,
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
    "DEFINITION",
    "REQUEST",
    "STEP",
    "BadPattern",
    "BudgetExceeded",
    "EvaluationBudget",
    "TooMuchWork",
    "Unresolvable",
    "check_patterns",
    "for_a_schema",
    "mistakes",
    "one_definition",
    "schema_mistakes",
    "validator",
]
