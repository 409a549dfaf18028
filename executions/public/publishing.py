"""Create, save and publish workflows; publish those that come from code."""

from executions.publishing import versioning
from executions.publishing.from_code import (
    CodeDefinition,
    CodeVersion,
    code_workspace,
    publish_from_code,
    unchanged_from_code,
)

__all__ = [
    "CodeDefinition",
    "CodeVersion",
    "code_workspace",
    "publish_from_code",
    "unchanged_from_code",
    "versioning",
]
