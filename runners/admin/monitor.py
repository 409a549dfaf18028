"""The live part of an execution's page: the state, the graph, the timeline and the data.

The server renders the HTML; `executions/frontend/src/monitor` adds the data from the API and from
the stream of states.
"""

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from executions import addresses
from executions.admin import links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.execution import live_part, title_of
from executions.admin.studio import studio_of
from executions.models import WorkflowExecution
from executions.states import TriggerType, VersionKind
from runners.repair.forks import fork_execution

# A placeholder for an ID in URLs. The page's scripts replace it with a real ID.
ANY = UUID(int=0)
EXECUTION = "executions_workflowexecution"


@live_part.provide
def monitor(
    admin: OperatingAdmin, request: HttpRequest, execution: WorkflowExecution, title: str
) -> SafeString:
    """Return the monitor's HTML frame; the browser then requests the execution's JSON."""
    get_token(request)  # creates the CSRF token that the page's dialogs and approval forms send
    test = execution.version.kind == VersionKind.TEST
    context = {
        "title": title,
        "test": marks.test_run() if test else "",
        "state": marks.state(execution.state),
        "trigger": TriggerType(execution.trigger_type).label,
        "started": marks.ago(execution.started_at) if execution.started_at else "",
        "took": marks.between(execution.started_at, execution.finished_at),
        "short": marks.short(execution.pk),
        "execution": execution,
        "facts": _facts(execution) | _changes(admin, request, execution),
    }
    return SafeString(render_to_string("runners/monitor.html", context, request))


def _changes(
    admin: OperatingAdmin, request: HttpRequest, execution: WorkflowExecution
) -> dict[str, str]:
    """Return the URLs of the fork form and the studio; "" if a step cannot be forked there."""
    fork = next((one for one in admin.operations if one.name == "fork"), None)
    if not fork_execution.provided or fork is None:
        return {"fork": "", "studio": ""}
    allowed = admin.may_operate(request, fork, execution)
    return {
        "fork": addresses.admin(f"{EXECUTION}_operate_fork", execution.pk) if allowed else "",
        "studio": studio_of(execution),
    }


def _facts(execution: WorkflowExecution) -> dict[str, Any]:
    """Return the frame's `data-` attributes for the scripts; in URLs, ANY stands for an ID."""
    return {
        "api": addresses.root(),
        "execution": execution.pk,
        "workflow": str(execution.workflow),
        "called": title_of(execution, shown=False),
        "state": f"{execution.state} {execution.compensation}",
        "run-page": links.page("runners_run", ANY),
        "approval-page": links.page("runners_approval", ANY),
        "execution-page": links.page(EXECUTION, ANY),
        "dead-letters": links.listing("dlq_deadletterentry", q=str(ANY)),
        "executions": links.listing(EXECUTION),
        "children": links.listing(EXECUTION, q=str(execution.pk)),
        "runs": links.listing("runners_run", q=str(execution.pk)),
        "runners": links.listing("runners_runner"),
        "sign-in": f"{addresses.sign_in()}?next={links.page(EXECUTION, execution.pk)}",
    }
