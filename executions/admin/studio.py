"""Links from the admin to a workflow's draft in the studio, with or without an execution's data."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext

from executions.admin import links
from executions.admin.actions import OperatingAdmin
from executions.admin.execution import WorkflowExecutionAdmin
from executions.admin.workflow import WorkflowAdmin
from executions.language import lazy
from executions.models import Workflow, WorkflowExecution

TITLE, ICON = lazy("Open in studio"), "draw"


def studio_of(execution: WorkflowExecution) -> str:
    """Return the studio's URL with this execution's data; "" if its workflow is archived."""
    if execution.workflow.archived_at is not None:
        return ""
    address = reverse("valkyr-studio-workflow", args=[execution.workflow_id])
    return f"{address}?{urlencode({'execution': execution.pk})}"


def open_workflow(admin: OperatingAdmin, request: HttpRequest, object_id: str) -> HttpResponse:
    """Redirect to the workflow's draft in the studio."""
    workflow: Workflow = admin.get_or_refuse(request, object_id)
    return HttpResponseRedirect(reverse("valkyr-studio-workflow", args=[workflow.pk]))


def open_execution(admin: OperatingAdmin, request: HttpRequest, object_id: str) -> HttpResponse:
    """Redirect to the studio, or to the execution's page if its workflow is archived."""
    execution: Any = admin.get_or_refuse(request, object_id)
    address = studio_of(execution)
    if not address:
        text = gettext("Workflow {workflow} is archived: there is no draft to open.").format(
            workflow=execution.workflow
        )
        admin.message_user(request, text, messages.ERROR)
        address = links.page("executions_workflowexecution", execution.pk)
    return HttpResponseRedirect(address)


WorkflowAdmin.show("studio", TITLE, ICON, open_workflow)
WorkflowExecutionAdmin.show("studio", TITLE, ICON, open_execution)
