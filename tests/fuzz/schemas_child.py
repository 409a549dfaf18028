"""The child process that checks values against hostile schemas, as a start does."""

from typing import Any

from executions.definition.graph.rules.input_schema import input_problems
from executions.definition.json_schema.budget import REQUEST, BudgetExceeded, EvaluationBudget
from executions.definition.json_schema.checking import Unresolvable, mistakes, validator
from executions.definition.patterns import TooMuchWork
from tests.fuzz.bounded import serve


def check(given: Any) -> None:
    """Publish the schema, and if that is allowed, check the value."""
    schema, value = given
    if not list(input_problems({"input": schema})):
        found = mistakes(validator(schema), value, EvaluationBudget(REQUEST), 100)
        for one in found:
            assert len(one.without_value) <= 300


if __name__ == "__main__":
    serve(check, (BudgetExceeded, TooMuchWork, Unresolvable, RecursionError))
