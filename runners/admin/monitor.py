"""The live monitor: one running execution, its graph, its timeline and its runs.

The page is a static frame; `executions/frontend/src/monitor` fills it from the API and from the
stream of states.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.template.response import TemplateResponse
from django.utils.translation import gettext

from executions import addresses
from executions.admin import links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.execution import WorkflowExecutionAdmin
from executions.admin.studio import studio_of
from executions.definition.versions import compiled
from executions.language import lazy
from executions.models import WorkflowExecution
from runners.repair.forks import fork_execution

# The placeholder for an id in the addresses that the scripts complete.
ANY = UUID(int=0)
EXECUTION = "executions_workflowexecution"
# Shown on the monitor in this order, if installed; the execution's own page has the other actions.
BUTTONS = ("pause", "resume", "cancel", "undo", "replay", "fork")
RARE = {"undo"}  # shown only if available: few workflows have undo steps


@dataclass(frozen=True, slots=True)
class Button:
    """An operation on the execution; `refusal` says why it is unavailable, or ""."""

    name: str
    title: str
    icon: str
    address: str
    refusal: str


def monitor(admin: OperatingAdmin, request: HttpRequest, object_id: str) -> HttpResponse:
    """Show the page; the execution's JSON stays in the database until requested."""
    execution = admin.get_or_refuse(request, object_id)
    get_token(request)  # the dialogs and decisions post with it
    context = {
        **admin.admin_site.each_context(request),
        "title": gettext("Monitor"),
        "opts": admin.opts,
        "execution": execution,
        "page": links.page(EXECUTION, execution.pk),
        "workflow": links.to("executions_workflow", execution.workflow_id, execution.workflow),
        "version": links.to(
            "executions_workflowversion",
            execution.version_id,
            f"v{compiled(execution.version_id).number}",
        ),
        "test": marks.test_run() if compiled(execution.version_id).test else "",
        "studio": studio_of(execution),
        "forks": fork_execution.provided,
        "buttons": list(_buttons(admin, request, execution)),
        "facts": _facts(execution),
        "id": marks.copyable(execution.pk),
        "trace": marks.trace_mark(execution.trace_id),
        "is_fullwidth": "1",
    }
    return TemplateResponse(request, "runners/monitor.html", context)


def _buttons(
    admin: OperatingAdmin, request: HttpRequest, execution: WorkflowExecution
) -> Iterator[Button]:
    by_name = {operation.name: operation for operation in admin.operations}
    for operation in [by_name[name] for name in BUTTONS if name in by_name]:
        name = operation.name
        if admin.may_operate(request, operation, execution):
            refusal = operation.operation.refuse(execution)
        else:
            refusal = gettext("Your role in this workspace does not allow it.")
        if refusal and name in RARE:
            continue
        address = addresses.admin(f"{EXECUTION}_operate_{name}", execution.pk)
        yield Button(name, operation.title, operation.icon, address, refusal)


def _facts(execution: WorkflowExecution) -> dict[str, Any]:
    """Return the scripts' initial `data-` attributes; ANY is a placeholder for an ID in URLs."""
    return {
        "api": addresses.root(),
        "execution": execution.pk,
        "workflow": str(execution.workflow),
        "run-page": links.page("runners_run", ANY),
        "approval-page": links.page("runners_approval", ANY),
        "monitor-page": _monitor_of(ANY),
        "dead-letters": links.listing("dlq_deadletterentry", q=str(ANY)),
        "executions": links.listing(EXECUTION),
        "children": links.listing(EXECUTION, q=str(execution.pk)),
        "runs": links.listing("runners_run", q=str(execution.pk)),
        "runners": links.listing("runners_runner"),
        "sign-in": f"{addresses.sign_in()}?next={_monitor_of(execution.pk)}",
    }


def _monitor_of(pk: UUID) -> str:
    return addresses.admin(f"{EXECUTION}_monitor", pk)


WorkflowExecutionAdmin.show("monitor", lazy("Monitor"), "monitoring", monitor, primary=True)
