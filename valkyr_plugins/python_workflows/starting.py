"""Start workflows in Python: with their published version, or in a test with the testing kit."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from executions.public.configuration import settings
from executions.public.models import Workflow
from executions.public.starting import Handle, start_from_code, start_many_from_code
from runners.public.testing import Valkyr, WorkflowRun
from valkyr_plugins.python_workflows.publishing import publish
from valkyr_plugins.python_workflows.workflow import PythonWorkflow

AnyWorkflow = PythonWorkflow[Any, Any]


def start(
    workflow: AnyWorkflow, payload: Any, *, key: str | None = None, priority: int | None = None
) -> Handle:
    """Start one execution of a published version. Raises the errors of `start_from_code`."""
    return start_from_code(_published(workflow), payload, key=key, priority=priority)


def start_many(
    workflow: AnyWorkflow, payloads: Sequence[Any], *, priority: int | None = None
) -> list[Handle]:
    """Start up to 1,000 executions, all or none. Raises the errors of `start_many_from_code`."""
    return start_many_from_code(_published(workflow), payloads, priority=priority)


def run_here(workflow: AnyWorkflow, payload: Any) -> WorkflowRun:
    """Run the workflow's current code in a test, with the testing kit."""
    published = Workflow.objects.get(pk=publish(workflow).workflow_id)
    return Valkyr().start(published, payload)


def _published(workflow: AnyWorkflow) -> UUID:
    """Return the workflow's id; publish a workflow that `migrate` has not published yet.

    An existing version remains the latest: during a deployment, processes with the old code must
    not publish their version again.
    """
    found: UUID | None = (
        Workflow.objects.filter(
            workspace__slug=settings().code_workspace,
            slug=workflow.slug,
            origin=workflow.origin,
            archived_at=None,
            latest_version__isnull=False,
        )
        .values_list("pk", flat=True)
        .first()
    )
    return found or publish(workflow).workflow_id
