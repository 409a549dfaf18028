"""The live monitor: one execution as it runs, its graph, its timeline and what each run did.

The page itself is a frame with what does not change; `static/executions/monitor` fills it from the
API and from the stream of states.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.template.response import TemplateResponse
from django.urls import reverse

from executions.admin import elsewhere, links, marks
from executions.admin.execution import WorkflowExecutionAdmin
from executions.admin.operating import OperatingAdmin
from executions.admin.studio import studio_of
from executions.definition.versions import compiled
from executions.models import WorkflowExecution

# What stands for an id in the addresses that the scripts fill in.
ANY = UUID(int=0)
# Shown on the monitor in this order; what else can be done is on the execution's own page.
BUTTONS = ("pause", "resume", "cancel", "replay", "fork")
FILTERS = ("all", "failed", "running", "slowest")
KEYS = (
    ("n  p", "the next, the previous failed run"),
    ("↑ ↓", "in the timeline: the run above, below"),
    ("← →", "in the timeline: earlier, later; in the graph: move"),
    ("+  -", "zoom the time in, out"),
    ("f", "fit the graph and the time"),
    ("l", "follow now"),
    ("/", "find a task"),
    ("1 … 6", "the tabs of the details"),
    ("Escape", "select nothing: show the execution"),
    ("?", "this list"),
)


@dataclass(frozen=True, slots=True)
class Button:
    """Something that can be done to the execution; `refusal` says why not now, or ""."""

    name: str
    title: str
    icon: str
    address: str
    refusal: str


def monitor(admin: OperatingAdmin, request: HttpRequest, object_id: str) -> HttpResponse:
    """The page; the execution's JSON stays in the database until somebody asks for it."""
    execution = admin.get_or_refuse(request, object_id)
    get_token(request)  # the dialogs and decisions post with it
    context = {
        **admin.admin_site.each_context(request),
        "title": "Monitor",
        "opts": admin.opts,
        "execution": execution,
        "page": links.page("executions_workflowexecution", execution.pk),
        "workflow": links.to("executions_workflow", execution.workflow_id, execution.workflow),
        "version": links.to(
            "executions_workflowversion",
            execution.version_id,
            f"v{compiled(execution.version_id).number}",
        ),
        "test": marks.test_run() if compiled(execution.version_id).test else "",
        "studio": studio_of(execution),
        "buttons": list(_buttons(admin, request, execution)),
        "addresses": addresses(execution.pk),
        "id": marks.copyable(execution.pk),
        "trace": elsewhere.trace_mark(execution.trace_id),
        "workflow_name": str(execution.workflow),
        "dead_letters": links.listing("dlq_deadletterentry", q=str(execution.pk)),
        "filters": FILTERS,
        "keys": KEYS,
        "is_fullwidth": "1",
    }
    return TemplateResponse(request, "runners/monitor.html", context)


def _buttons(
    admin: OperatingAdmin, request: HttpRequest, execution: WorkflowExecution
) -> Iterator[Button]:
    by_name = {operation.name: operation for operation in admin.operations}
    for name in BUTTONS:
        operation = by_name[name]
        if admin.may_operate(request, operation, execution):
            refusal = operation.refuse(execution)
        else:
            refusal = "Your role in its workspace does not allow it."
        address = reverse(f"admin:executions_workflowexecution_operate_{name}", args=[execution.pk])
        yield Button(name, operation.title, operation.icon, address, refusal)


def addresses(pk: UUID) -> dict[str, Any]:
    """Where the scripts find things, by `data-` attribute; ANY stands for another id."""
    api = f"/v1/WorkflowExecution/{pk}"
    return {
        "stream": f"{api}/subscribe",
        "graph": f"{api}/graph",
        "explain": f"{api}/explain",
        "execution": api,
        "run": f"/v1/Run/{ANY}",
        "run-page": links.page("runners_run", ANY),
        "approval-page": links.page("runners_approval", ANY),
        "child-page": reverse("admin:executions_workflowexecution_monitor", args=[ANY]),
        "dead-letters": links.listing("dlq_deadletterentry", q=str(ANY)),
        "executions": links.listing("executions_workflowexecution"),
        "children": links.listing("executions_workflowexecution", q=str(pk)),
        "runs": links.listing("runners_run", q=str(pk)),
        "runners": links.listing("runners_runner"),
        "sign-in": f"{reverse('admin:login')}?next={_monitor_of(pk)}",
    }


def _monitor_of(pk: UUID) -> str:
    return reverse("admin:executions_workflowexecution_monitor", args=[pk])


WorkflowExecutionAdmin.show("monitor", "Monitor", "monitoring", monitor)
