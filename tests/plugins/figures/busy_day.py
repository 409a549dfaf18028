"""Rows for a day with everything that a page of figures shows."""

from datetime import timedelta

from dlq.models import GroupHour
from executions.database.clock import database_now
from executions.models import Trigger, Workflow
from runners.models import Runner
from tests.support import admin_rows as rows
from tests.support.figure_rows import ended
from valkyr_plugins.circuits.models import CircuitBreaker
from valkyr_plugins.figures.ranges import HOUR, floor
from valkyr_plugins.figures.rollup import count_hour
from valkyr_plugins.limits.budgets import start_of
from valkyr_plugins.limits.models import Budget, BudgetUse
from valkyr_plugins.redrive.models import Redrive


def busy_day(of: Workflow) -> None:
    """Create the data of a dashboard: a week's executions, a busy live worker, a queue without a
    worker.
    """
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
