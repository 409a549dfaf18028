"""Register types of credentials, also ones whose values another server issues."""

from executions.credentials import CredentialType, Issued, Source, register
from executions.definition.graph.problem import DefinitionProblem

__all__ = ["CredentialType", "DefinitionProblem", "Issued", "Source", "register"]
