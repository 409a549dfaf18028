"""Test runs from the studio: the real engine executes them, and the page shows them."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from playwright.sync_api import expect

from executions.models import Workflow, WorkflowExecution
from runners.errors import StepFailed
from runners.models import Run
from runners.pipeline import receive
from tests.support.workflows import task


def named(name: str, title: str, value: Any) -> dict[str, Any]:
    """Return a task that returns a value."""
    return task(name) | {"name": title, "with": {"value": value}}


# The steps are simple, so that the studio is tested: two values, and their sum.
THREE: dict[str, Any] = {
    "tasks": [
        named("first", "First number", "{{ input.n }}"),
        named("second", "Second number", 2),
        named("sum", "Sum", "{{ tasks.first.output + tasks.second.output }}"),
    ],
    "edges": [{"from": "first", "to": "second"}, {"from": "second", "to": "sum"}],
}


def open_run(page: Any) -> Any:
    """Open the run dialog from the top bar, and return it."""
    page.get_by_role("button", name="Run…", exact=True).click()
    return run_dialog(page)


def run_dialog(page: Any) -> Any:
    """Return the open run dialog."""
    dialog = page.get_by_role("dialog", name="Run", exact=True)
    expect(dialog).to_be_visible()
    return dialog


def payload(page: Any, text: str) -> None:
    """Type a payload into the open dialog."""
    run_dialog(page).get_by_label("Payload (JSON)").fill(text)


def part(page: Any, kind: str, name: str) -> None:
    """Choose a part of the workflow, and its task, in the open dialog."""
    run_dialog(page).get_by_label("Part", exact=True).select_option(kind)
    run_dialog(page).get_by_label("Task", exact=True).select_option(name)


def start_test(page: Any, of: Workflow) -> UUID:
    """Start the test run of the open dialog; return the execution's id when the page watches it."""
    with page.expect_response(f"**/v1/Workflow/{of.pk}/test") as sent:
        run_dialog(page).get_by_role("button", name="Run test").click()
    assert sent.value.status == 202, sent.value.text()
    expect(page.get_by_role("dialog")).to_have_count(0)
    return UUID(sent.value.json()["id"])


def bar(page: Any) -> Any:
    """Return the bar of the run on screen, at the bottom of the canvas."""
    return page.get_by_role("region", name="Run", exact=True)


def run_state(page: Any, word: str) -> None:
    """Wait until the bar shows this text."""
    expect(bar(page).get_by_role("status", name="Execution state")).to_contain_text(word)


def carry(execution: UUID) -> str:
    """Work until no step is ready; return the execution's state."""
    row = WorkflowExecution.objects.get(pk=execution)
    ready = Run.objects.filter(execution=row, state="PENDING")
    while segments := list(ready.values_list("segment", flat=True)):
        for segment in segments:
            with suppress(StepFailed):  # as a worker's task does
                receive.run_segment(row.pk, row.version_id, segment)
    row.refresh_from_db()
    return str(row.state)


def steps(execution: UUID) -> dict[str, str]:
    """Return the states of an execution's steps, by path."""
    runs = Run.objects.filter(execution_id=execution, superseded=False)
    return dict(runs.values_list("step_path", "state"))


def modules(execution: UUID) -> dict[str, str]:
    """Return the modules of an execution's steps, by path."""
    return dict(Run.objects.filter(execution_id=execution).values_list("step_path", "module"))


def refused(page: Any, status: int) -> None:
    """Ignore Chromium's console message about an answer that the test expects."""
    known = f"status of {status}"
    assert any(known in problem for problem in page.problems), page.problems
    page.problems[:] = [problem for problem in page.problems if known not in problem]
