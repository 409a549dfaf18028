"""A backtest of 1,000 executions that call a partner, which counts the calls: none is repeated.

The draft charges another amount, so that each execution is different. Target: 1,000 executions in
60 s on 2 cores, and no request to the partner.
"""

import time
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.options import Options
from tests.benchmarks.programs import beat, control_worker, engine_worker
from tests.benchmarks.sides import BATCH, wait
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say
from tests.support.partner import Partner

EXECUTIONS = 1_000
PATIENCE = 900.0
GOAL_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Backtested:
    """The number of compared executions, the seconds from the request to the end, and the requests
    to the partner.
    """

    executions: int
    different: int
    seconds: float
    heard_before: int
    heard: int

    @property
    def a_second(self) -> float:
        return self.executions / self.seconds


def definition(url: str, amount: str) -> dict[str, Any]:
    """Return a workflow of ten steps: decisions, data, two calls and a map with a call for each
    line.
    """

    def call(name: str, **body: Any) -> dict[str, Any]:
        inputs = {"url": f"{url}/echo", "method": "POST", "json": body}
        return {"id": name, "use": "http.request", "with": inputs}

    lines = {"items": "{{ input.lines }}"}
    return {
        "schema": "valkyr/1",
        "name": "backtested",
        "output": "{{ tasks.sum.output }}",
        "tasks": [
            {"id": "large", "use": "flow.if", "with": {"condition": "{{ input.amount > 100 }}"}},
            call("review", order="{{ input.order }}"),
            {"id": "pass", "use": "flow.noop"},
            call("charge", amount=amount, order="{{ input.order }}"),
            {
                "id": "each", "use": "flow.map", "with": lines,
                "body": {"tasks": [
                    {"id": "line", "use": "flow.noop", "with": {"value": "{{ item.sku }}"}},
                    call("reserve", sku="{{ item.sku }}") | {"after": "line"},
                ]},
            },
            {
                "id": "sum", "use": "flow.noop", "after": "each",
                "with": {"value": "{{ tasks.each.output | length }}"},
            },
        ],
        "edges": [
            {"from": "large", "to": "review", "on": "true"},
            {"from": "large", "to": "pass", "on": "false"},
            {"from": "review", "to": "charge"},
            {"from": "pass", "to": "charge"},
            {"from": "charge", "to": "each"},
        ],
    }  # fmt: skip


def measure(stage: Stage, options: Options) -> Backtested:
    """Run the executions, then backtest a draft on them with the same workers."""
    partner = Partner()
    try:
        return _measured(stage, options, partner)
    finally:
        partner.stop()


def report(found: Backtested) -> None:
    """Print the result and its targets; raise if the partner received a request."""
    print(
        f"{found.executions:,} executions compared in {found.seconds:.1f} s "
        f"(goal {GOAL_SECONDS:.0f}): {found.a_second:.0f} a second; {found.different:,} different; "
        f"the partner heard {found.heard_before:,} requests before and {found.heard} since"
    )
    if found.heard:
        raise RuntimeError(f"the backtest sent {found.heard} requests; expected none")


def _measured(stage: Stage, options: Options, partner: Partner) -> Backtested:
    from executions.access.actor import Actor
    from executions.models import WorkflowExecution, Workspace
    from executions.publishing import versioning
    from executions.triggers.start import start_batch
    from valkyr_plugins.backtest import lifecycle
    from valkyr_plugins.backtest.lifecycle import BacktestWish
    from valkyr_plugins.backtest.models import Backtest

    actor, number = Actor.system("benchmark"), max(20, round(EXECUTIONS * options.scale))
    workflow = versioning.create_workflow(
        Workspace.objects.get(slug="default"),
        name="backtested",
        definition=definition(partner.url, "{{ input.amount }}"),
        actor=actor,
    )
    versioning.publish(workflow.pk, actor=actor)
    workflow.refresh_from_db()
    stage.add(engine_worker(stage.folder, concurrency=2, queues="default,io"))
    stage.add(control_worker(stage.folder))
    stage.add(beat(stage.folder))
    orders = [
        {"order": n, "amount": n % 200, "lines": [{"sku": f"{n}-{line}"} for line in range(3)]}
        for n in range(number)
    ]
    for first in range(0, number, BATCH):
        start_batch(workflow, orders[first : first + BATCH], actor=actor)
    ended = WorkflowExecution.objects.filter(workflow=workflow, state="SUCCESS")
    wait(lambda: ended.count() == number, stage, 0.5, PATIENCE)
    versioning.update_workflow(
        workflow.pk, {"definition": definition(partner.url, "0")}, actor=actor,
        expected_revision=None,
    )  # fmt: skip
    before = len(partner.received)
    say(f"{number:,} executions have ended; comparing them with the draft")
    began = time.perf_counter()
    made = lifecycle.create(workflow.pk, BacktestWish(most=number, selection={}), actor=actor)
    over = Backtest.objects.filter(pk=made.pk, finished_at__isnull=False)
    wait(over.exists, stage, 0.05, PATIENCE)
    seconds = time.perf_counter() - began
    made.refresh_from_db()
    if made.state != "DONE" or made.done != number:
        raise RuntimeError(f"the backtest ended as {made.state} after {made.done}: {made.error}")
    different = number - made.counts.get("SAME", 0) - made.counts.get("NOT_COMPARABLE", 0)
    return Backtested(number, different, seconds, before, len(partner.received) - before)
