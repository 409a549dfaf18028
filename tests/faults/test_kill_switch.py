"""The kill switch of a budget, with real workers: the spender's live executions end."""

from decimal import Decimal

from executions.models import Activity
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from tests.support.workflows import (
    ACTOR,
    describe,
    effect,
    limited_workspace,
    publish,
    start,
    task,
    wait_for_end,
)
from valkyr_plugins.limits.budgets import BUDGETS
from valkyr_plugins.limits.models import CostEntry


def test_a_spent_budget_ends_the_spenders_executions_and_their_children(fleet: Fleet) -> None:
    workspace = limited_workspace(100)
    facts = {"period": "day", "amount": Decimal(5), "currency": "USD", "kill_switch": True}
    BUDGETS.create(workspace, facts, user_id=None, actor=ACTOR)
    child = publish({"tasks": [effect("long", seconds=300, timeoutSeconds=600)]}, workspace)
    calls = task("call", "flow.subworkflow", **{"with": {"workflow": child.slug}})
    parent = start(publish({"tasks": [calls]}, workspace))
    begun = child.executions.filter(state="RUNNING")
    wait_until(begun.exists, 60, "the child", lambda: describe([parent]))
    spender = task("pay", "test.spender", **{"with": {"amount": "6"}})

    paid = start(
        publish(
            {
                "tasks": [
                    spender,
                    task("nap", "flow.delay", after="pay", **{"with": {"seconds": 300}}),
                ]
            },
            workspace,
        )
    )
    spent = CostEntry.objects.filter(execution_id=paid)
    wait_until(spent.exists, 60, "the cost", lambda: describe([paid, parent]))

    ended = wait_for_end([parent, paid])
    assert set(ended.values()) == {"CANCELLED"}
    children = list(child.executions.values_list("pk", flat=True))
    assert set(wait_for_end(children).values()) == {"CANCELLED"}
    told = Activity.objects.filter(object_id=str(paid), action="execution.cancel")
    assert "is spent" in told.get().reason
