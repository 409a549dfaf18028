"""What a workflow's page of figures shows, as plain rows; each within bounds and in time."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.utils import timezone

from dlq.public.dashboard import WORKFLOW_SECTIONS, of_workflow
from executions.public.access import Scope
from executions.public.database import soon
from executions.public.models import Workflow
from valkyr_plugins.figures.ranges import Range
from valkyr_plugins.figures.reading import read
from valkyr_plugins.figures.steps import newest, step_table
from valkyr_plugins.figures.versions import versions

Facts = dict[str, Any]


def gather(workflow: Workflow, wanted: Range) -> Facts:
    """The facts by name; None stands for what could not be had in time. The caller asked before."""
    now = timezone.now()
    since = wanted.window(now).start
    queries: dict[str, Callable[[], Any]] = {
        "figures": lambda: read(Scope(workflows=(workflow.pk,)), wanted, now),
        "steps": lambda: step_table(newest(workflow.pk, since)),
        "versions": lambda: versions(workflow.pk, since),
    }
    return {
        "at": now,
        "now": of_workflow(workflow),
        "added": {
            one.title: soon(partial(one.gather, workflow, since)) for one in WORKFLOW_SECTIONS
        },
    } | {name: soon(query) for name, query in queries.items()}
