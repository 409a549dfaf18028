"""Rows of executions to watch: an order of about forty runs, and a chain of thousands."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from executions.database.ids import uuid7
from executions.models import WorkflowExecution
from runners.models import Run
from tests.support import admin_rows as rows
from tests.support.workflows import publish, task

HOSTILE = "<b>bold</b> & <script>alert(1)</script>"
PACKED = {"tasks": [task("pick"), task("pack", after="pick")]}
ORDER = {
    "name": "Order fulfilment",
    "tasks": [
        task("validate"),
        task("reserve", after="validate"),
        task("orders", "flow.map", "validate", **{"with": {"items": [1]}, "body": PACKED}),
        {
            "id": "charge",
            "after": "reserve",
            "modules": [{"id": name, "use": "flow.noop"} for name in ("render", "pay", "note")],
        },
        task("ask", "flow.approval", "charge", **{"with": {"title": "Ship it?"}}),
        task("refund", after="charge:error"),
        task("ship", join="all", after=["orders", "ask:approved"]),
    ],
}


def order(items: int = 12) -> WorkflowExecution:
    """Create a running order: retried, mapped, with one dead item and an open approval."""
    made = rows.execution(publish(ORDER))
    Run.objects.bulk_create(list(_order_runs(made, items)))
    return made


def _order_runs(made: WorkflowExecution, items: int) -> Any:
    yield _run(made, "validate.main", "SUCCESS", 1, 2, 7)
    refused = {"error": "Connection refused", "error_type": "TRANSIENT"}
    yield _run(made, "reserve.main", "FAILED", 7, 9, 20, **refused)
    yield _run(made, "reserve.main", "FAILED", 20, 35, 50, attempt=2, retry=34, **refused)
    yield _run(made, "reserve.main", "SUCCESS", 50, 62, 70, attempt=3, retry=60)
    yield _run(made, "orders.main", "WAITING", 7, 8, module="flow.map", waits_for="body")
    for item in range(items):
        at = 8 + 3 * item
        yield _run(made, f"orders[{item}].pick.main", "SUCCESS", at, at + 1, at + 12)
        state = {7: "DLQ", items - 1: "RUNNING"}.get(item, "SUCCESS")
        end = None if state == "RUNNING" else at + 32
        wrong = {"error": f"Item 7 is not there: {HOSTILE}", "error_type": "PERMANENT"}
        more = wrong if state == "DLQ" else {}
        yield _run(made, f"orders[{item}].pack.main", state, at + 12, at + 14, end, **more)
    for name, start, end in (("render", 71, 75), ("pay", 75, 110), ("note", 110, 112)):
        yield _run(made, f"charge.{name}", "SUCCESS", start - 1, start, end)
    yield _run(
        made, "ask.main", "WAITING", 112, 113, module="flow.approval", waits_for="approval",
        progress={"title": "Ship it?"},
    )  # fmt: skip


def chain(steps: int) -> WorkflowExecution:
    """Create an execution of a chain of tasks, the last of which is running."""
    tasks = [task("s0"), *(task(f"s{n}", after=f"s{n - 1}") for n in range(1, steps))]
    made = rows.execution(publish({"name": "Long", "tasks": tasks}))
    last = steps - 1
    share = 170 / steps
    Run.objects.bulk_create(
        _run(
            made,
            f"s{number}.main",
            "RUNNING" if number == last else "SUCCESS",
            number * share,
            number * share,
            None if number == last else (number + 1) * share,
        )
        for number in range(steps)
    )
    return made


def _run(
    made: WorkflowExecution,
    path: str,
    state: str,
    queued: float,
    started: float,
    ended: float | None = None,
    *,
    retry: float | None = None,
    **values: Any,
) -> Run:
    """Return a run with its times, in seconds after the execution was created."""

    def at(seconds: float | None) -> Any:
        return None if seconds is None else made.created_at + timedelta(seconds=seconds)

    held = state == "RUNNING"
    return Run(
        **{
            "execution": made,
            "segment": path,
            "step_path": path,
            "task_id": uuid7(),
            "module_id": uuid7(),
            "module": "flow.noop",
            "queue": "default",
            "state": state,
            "queued_at": at(queued),
            "started_at": at(started),
            "finished_at": at(ended),
            "retry_after": at(retry),
            "duration_ms": None if ended is None else 1000 * (ended - started),
            "leased_by": "default@box" if held else "",
            "lease_token": int(held),
            "lease_until": timezone.now() + timedelta(hours=1) if held else None,
            "inputs": {"order": 1047, "password": "hunter2"},
            "error_details": {"traceback": "File x.py"} if values.get("error") else None,
            "logs": [{"level": "info", "message": "picked"}],
            **values,
        }
    )
