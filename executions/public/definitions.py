"""Read and check workflow definitions, without a database."""

from executions.definition.catalog import Catalog, ConfigProblem, OutcomeRule, catalog
from executions.definition.graph.document import modules_of, normalise
from executions.definition.graph.model import Step
from executions.definition.graph.problem import DefinitionError, DefinitionProblem
from executions.definition.graph.storable import storage_problems

__all__ = [
    "Catalog",
    "ConfigProblem",
    "DefinitionError",
    "DefinitionProblem",
    "OutcomeRule",
    "Step",
    "catalog",
    "modules_of",
    "normalise",
    "storage_problems",
]
