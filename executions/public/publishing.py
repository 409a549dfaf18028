"""Create, save and publish workflows."""

from executions.publishing import versioning

__all__ = [
    "versioning",
]
