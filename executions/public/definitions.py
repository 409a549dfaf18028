"""Read and check workflow definitions; pure, without a database."""

from executions.definition.catalog import Catalog, ConfigProblem, catalog
from executions.definition.graph.problem import DefinitionError, Problem
from executions.definition.graph.storable import storage_problems
from executions.definition.outcome_rules import OutcomeRule

__all__ = [
    "Catalog",
    "ConfigProblem",
    "DefinitionError",
    "OutcomeRule",
    "Problem",
    "catalog",
    "storage_problems",
]
