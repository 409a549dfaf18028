"""Find the executions that must be stored elsewhere before they are deleted."""

from collections.abc import Callable
from uuid import UUID

from django.db.models import QuerySet

from executions.models import WorkflowExecution

# Plugins that store executions elsewhere before their deletion add a function. Given executions, it
# returns the IDs of those that are not stored yet. It is called again in the transaction that
# deletes them.
UNSTORED: list[Callable[[QuerySet[WorkflowExecution]], set[UUID]]] = []


def not_stored(rows: QuerySet[WorkflowExecution]) -> set[UUID]:
    """Return the IDs of those executions that a plugin must store and has not stored yet."""
    return set().union(*(unstored(rows) for unstored in UNSTORED))
