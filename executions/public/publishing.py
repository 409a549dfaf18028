"""Create, save and publish workflows; publish those that come from code."""

from executions.publishing import versioning
from executions.publishing.from_code import CodeVersion, code_workspace, publish_from_code

__all__ = [
    "CodeVersion",
    "code_workspace",
    "publish_from_code",
    "versioning",
]
