"""Executions at chosen times, for the tests of figures."""

from datetime import datetime, timedelta
from typing import Any

from uuid6 import uuid7

from dlq.models import GroupHour, Redrive
from executions.database.clock import database_now, first_id_at
from executions.figures.ranges import HOUR, floor
from executions.models import Trigger, Workflow, WorkflowExecution
from runners.budgets.periods import start_of
from runners.figures.rollup import count_hour
from runners.models import Budget, BudgetUse, CircuitBreaker, Run, Runner
from tests.support import admin_rows as rows


def ended(
    of: Workflow, state: str, at: datetime, *, took: float = 1.0, waited: float = 0.01
) -> WorkflowExecution:
    """An execution that ended then, after `took` seconds, with one run that waited so long."""
    started = at - timedelta(seconds=took)
    made = WorkflowExecution.objects.create(
        workspace_id=of.workspace_id,
        workflow=of,
        version=of.latest_version,
        state=state,
        created_at=started - timedelta(seconds=waited),
        started_at=started,
        finished_at=at,
        error_message="charge.main failed" if state == "FAILED" else "",
    )
    run(made, at, "DLQ" if state == "FAILED" else "SUCCESS", waited=waited)
    return made


def run(
    of: WorkflowExecution, at: datetime, state: str = "SUCCESS", *, waited: float = 0.01,
    **values: Any,
) -> Run:  # fmt: skip
    """A run that ended then; its id is as old as it is."""
    began = of.started_at or at
    queued = began - timedelta(seconds=waited)
    pk = first_id_at(queued).int | (uuid7().int & ((1 << 62) - 1))
    return rows.run(
        of,
        state=state,
        id=type(uuid7())(int=pk),
        **({"queued_at": queued, "started_at": began, "finished_at": at} | values),
    )


def busy_day(of: Workflow) -> None:
    """What a dashboard shows: executions of a week, a live worker at work, a queue unserved."""
    now = database_now()
    for number in range(120):
        at = now - timedelta(minutes=7 + 11 * number)
        state = {0: "FAILED", 5: "TIMEOUT", 9: "CANCELLED"}.get(number % 13, "SUCCESS")
        ended(of, state, at, took=0.4 * (1 + number % 17) ** 1.5, waited=0.005 * (1 + number % 9))
    for back in range(26):
        count_hour(floor(now, HOUR) - back * HOUR - HOUR)
    Runner.objects.create(name="io@box-1", host="box-1", pid=1, pool="threads", queues=["io"])
    Runner.objects.create(
        name="default@box-1", host="box-1", pid=2, pool="prefork", queues=["default"]
    )
    live = rows.execution(of)
    rows.run(live, "charge.main", "RUNNING", leased_by="io@box-1|1")
    rows.run(live, "render.main", "PENDING", queue="gpu", started_at=None)
    rows.execution(of, "PENDING")
    CircuitBreaker.objects.create(
        workspace=of.workspace, target="http.request:partner.test", state="OPEN",
        opened_at=now, next_retry_at=now + timedelta(seconds=40),
    )  # fmt: skip
    group = rows.failed_order(of).group
    GroupHour.objects.create(group=group, hour=floor(now, HOUR), count=12)
    GroupHour.objects.create(group=group, hour=floor(now, HOUR) - 30 * HOUR, count=3)
    Trigger.objects.create(
        workflow=of, type="CRON", settings={"cron": "0 6 * * *"}, next_at=now + timedelta(hours=2)
    )
    budget = Budget.objects.create(workspace=of.workspace, amount=100, currency="USD")
    BudgetUse.objects.create(
        budget=budget, starts_at=start_of("month", now, budget.created_at), spent=93
    )
    Redrive.objects.create(
        workspace=of.workspace, created_by_name="ada", reason="the partner is back", selection={},
        state="RUNNING", total=40, succeeded=12, failed_again=1,
    )  # fmt: skip
