"""Publish the workflows that this process has declared.

Unchanged content creates no new version.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db.models import Model

from executions.public.database import connection
from executions.public.errors import InvalidDefinition
from executions.public.publishing import (
    CodeDefinition,
    CodePlan,
    CodeVersion,
    plan_from_code,
    publish_many_from_code,
)
from valkyr_plugins.python_workflows.discovery import register_steps
from valkyr_plugins.python_workflows.workflow import DECLARED, PythonWorkflow


class UnpublishableError(Exception):
    """A workflow in Python has problems that tracing cannot detect; the message lists them."""


def publish_all() -> dict[str, CodeVersion]:
    """Publish every declared workflow whose content changed; return all versions, keyed by slug.

    Uses one query if nothing changed. All workflows are checked before any is written. Raises
    UnpublishableError for an invalid workflow or two workflows with one name, and SlugTaken if a
    workflow of a user, or of other code, has the slug.
    """
    return _published(DECLARED)


def publish(workflow: PythonWorkflow[Any, Any]) -> CodeVersion:
    """Publish one workflow if its content changed. Raises the errors of `publish_all`."""
    return _published([workflow])[workflow.slug]


def plan_all() -> CodePlan:
    """Return the plan that `publish_all` would carry out; write nothing. Raises the same errors."""
    with _problems_as_lines():
        return plan_from_code(_definitions(DECLARED))


def _published(workflows: Sequence[PythonWorkflow[Any, Any]]) -> dict[str, CodeVersion]:
    with _problems_as_lines():
        return publish_many_from_code(_definitions(workflows))


@contextmanager
def _problems_as_lines() -> Iterator[None]:
    try:
        yield
    except InvalidDefinition as error:
        lines = [f"  {problem.path}: {problem.message}" for problem in error.problems]
        raise UnpublishableError("\n".join([error.message, *lines])) from error


def _definitions(workflows: Sequence[PythonWorkflow[Any, Any]]) -> list[CodeDefinition]:
    register_steps()  # also registers steps that were declared after Django's setup
    _refuse_twice(workflows)
    return [_definition(workflow) for workflow in workflows]


def _refuse_twice(workflows: Sequence[PythonWorkflow[Any, Any]]) -> None:
    """Raise UnpublishableError if two declarations use the same name for different workflows."""
    origins: dict[str, str] = {}
    for workflow in workflows:
        first = origins.setdefault(workflow.slug, workflow.origin)
        if first != workflow.origin:
            raise UnpublishableError(
                f"Both {first} and {workflow.origin} have the workflow name "
                f'{workflow.slug!r}; give one of them another name: @workflow("…")'
            )


def _definition(workflow: PythonWorkflow[Any, Any]) -> CodeDefinition:
    definition = workflow.definition
    described = str(definition.get("description", ""))
    return CodeDefinition(workflow.slug, definition, workflow.origin, described, workflow.line)


def tables_exist(*models: type[Model]) -> bool:
    """Return whether the tables of the models exist; migrations may not be applied yet."""
    names = [f'"{model._meta.db_table}"' for model in models]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT bool_and(to_regclass(t) IS NOT NULL) FROM unnest(%s::text[]) t", [names]
        )
        return bool(cursor.fetchone()[0])
