"""Register types of credentials, including those whose values another server issues."""

from executions.credentials import (
    CredentialSource,
    CredentialType,
    Issued,
    connect,
    register,
    source_of,
)
from executions.credentials.opening import values_of as credential_values
from executions.definition.graph.problem import DefinitionProblem

__all__ = [
    "CredentialSource",
    "CredentialType",
    "DefinitionProblem",
    "Issued",
    "connect",
    "credential_values",
    "register",
    "source_of",
]
