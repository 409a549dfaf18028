"""Publish what this process has declared. Equal content makes no version."""

from typing import Any

from executions.public.database import connection
from executions.public.errors import InvalidDefinition
from executions.public.models import Workflow
from executions.public.publishing import CodeVersion, publish_from_code
from valkyr_plugins.python_workflows.discovery import register_steps
from valkyr_plugins.python_workflows.workflow import DECLARED, PythonWorkflow


class UnpublishableError(Exception):
    """A workflow in Python has problems that tracing cannot see; the message lists them."""


def publish_all() -> dict[str, CodeVersion]:
    """Publish every declared workflow, in the order of the declarations; versions by slug.

    Raises UnpublishableError for the first with problems, SlugTaken where a person's workflow has
    the slug.
    """
    return {workflow.slug: publish(workflow) for workflow in DECLARED}


def publish(workflow: PythonWorkflow[Any, Any]) -> CodeVersion:
    """Publish one workflow; one query where nothing changed. Raises as `publish_all`."""
    register_steps()  # also those that were declared after Django began
    try:
        return publish_from_code(
            workflow.slug,
            workflow.definition,
            origin=workflow.origin,
            description=str(workflow.definition.get("description", "")),
        )
    except InvalidDefinition as error:
        lines = [f"  {problem.path}: {problem.message}" for problem in error.problems]
        raise UnpublishableError(
            "\n".join([f"Workflow {workflow.slug} ({workflow.origin}): {error.message}", *lines])
        ) from error


def tables_exist() -> bool:
    """Whether the table of workflows is there: a part of the migrations may not be applied."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [f'"{Workflow._meta.db_table}"'])
        return bool(cursor.fetchone()[0])
