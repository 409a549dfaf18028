"""A test run: a version of kind `test` and its one start by hand, both or none."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from executions.access.actor import Actor
from executions.definition.graph.trial import TrialRequest
from executions.models import Workflow, WorkflowExecution
from executions.publishing.versioning import publish_trial
from executions.triggers.start import start_execution


def start_trial(
    workflow: Workflow,
    payload: Any,
    asked: TrialRequest,
    *,
    actor: Actor,
    definition: Mapping[str, Any] | None = None,
    priority: int | None = None,
) -> WorkflowExecution:
    """Run a definition (the draft unless given), or a part of it, as a test.

    Raises as `publish_trial` and `start_execution` do.
    """
    with transaction.atomic():
        version = publish_trial(workflow.pk, definition, asked, actor=actor)
        return start_execution(
            workflow, payload, actor=actor, priority=priority, trial=version
        ).execution
