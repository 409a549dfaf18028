"""Why it is not running, on the execution's page."""

from django.http import HttpRequest
from django.utils.html import format_html

from executions.admin import execution as execution_admin
from executions.admin import links, marks
from executions.admin.sections import PageSection
from executions.explain.reason import Reason
from executions.models import WorkflowExecution
from executions.states import FINAL, ExecutionState
from runners.explain.explanation import Explained, explain

TITLE = "Why is it not running?"
SHOWN = 50
HEADERS = ("Step", "State", "Why", "Since", "Until")


def explanation(request: HttpRequest, execution: WorkflowExecution) -> PageSection:
    """The execution's own reason, and a row for each step that is not done."""
    if execution.state in FINAL and execution.state != ExecutionState.FAILED:
        return PageSection(TITLE, body="It is over.", folded=True)
    found = explain(execution)
    own = ["the execution", marks.state(found.state), *_why(found.reason)]
    cut = found.more or len(found.steps) > SHOWN
    return PageSection(
        TITLE,
        headers=HEADERS,
        rows=[own, *(_row(step) for step in found.steps[:SHOWN])],
        more=f"Only the first {SHOWN} steps are shown." if cut else "",
    )


def _row(step: Explained) -> list[str]:
    path = marks.path(step.path)
    return [
        links.to("runners_run", step.run_id, path) if step.run_id else path,
        marks.state(step.state) if step.state else marks.mark("not begun", "pending", "grey"),
        *_why(step.reason),
    ]


def _why(reason: Reason) -> list[str]:
    child = reason.details.get("executionId")
    message = reason.message
    if child:
        link = links.to("executions_workflowexecution", child, "Show it")
        message = format_html("{} {}", message, link)
    return [message, marks.ago(reason.since), marks.ago(reason.until)]


execution_admin.panels.append(explanation)
