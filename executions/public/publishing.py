"""Create, save and publish workflows; publish workflows declared in code."""

from executions.publishing import rollout, versioning
from executions.publishing.code_batch import CodeVersion
from executions.publishing.from_code import (
    CodeDefinition,
    CodePlan,
    code_workspace,
    plan_from_code,
    publish_from_code,
    publish_many_from_code,
)

__all__ = [
    "CodeDefinition",
    "CodePlan",
    "CodeVersion",
    "code_workspace",
    "plan_from_code",
    "publish_from_code",
    "publish_many_from_code",
    "rollout",
    "versioning",
]
