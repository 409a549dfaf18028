"""Costs of steps are written with their results, and a spent budget stops its workspace."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext

from executions.access.actor import Actor
from executions.errors import QuotaExceeded
from executions.events import ReportedCondition, condition_began
from executions.models import Activity, Membership, Workflow, Workspace
from executions.triggers.start import start_execution
from runners import statements
from runners.errors import LeaseLost
from runners.pipeline import execute, record_result
from runners.recovery.sweeper import waits
from tests.support.rivals import Rivals
from tests.support.segments import claimed, lease_runs_out, recorded, run_of
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, limited_workspace, publish, states, task
from valkyr_plugins.limits import budget_enforcement as duty
from valkyr_plugins.limits import known_limits
from valkyr_plugins.limits import statements as limits_statements
from valkyr_plugins.limits.budgets import BUDGETS, uses_of
from valkyr_plugins.limits.models import Budget, BudgetUse, CostEntry

FIRST = "pay.main"


def spends(**inputs: Any) -> dict[str, Any]:
    return {"tasks": [task("pay", "test.spender", **{"with": inputs}), task("end", after="pay")]}


@pytest.fixture
def workspace(engine: None) -> Workspace:
    return limited_workspace(1_000)


@pytest.fixture
def ada(workspace: Workspace) -> Any:
    user = get_user_model().objects.create_user(f"ada-{workspace.slug}")
    Membership.objects.create(user=user, workspace=workspace, role="WORKFLOW")
    return user


def budget(workspace: Workspace, amount: str, currency: str = "USD", **more: Any) -> Budget:
    user_id = more.pop("user_id", None)
    facts = {"period": "month", "amount": Decimal(amount), "currency": currency, **more}
    made = BUDGETS.create(workspace, facts, user_id=user_id, actor=ACTOR)
    known_limits.forget()
    return made


def begun(workflow: Workflow, user: Any = None) -> UUID:
    actor = ACTOR if user is None else Actor.of(user)
    return start_execution(workflow, {}, actor=actor).execution.pk


def once(workspace: Workspace, user: Any = None, **inputs: Any) -> UUID:
    """Start an execution, and run and record its first step."""
    execution = begun(publish(spends(**inputs), workspace), user)
    recorded(claimed(execution, FIRST))
    return execution


def entries(execution: UUID) -> list[tuple[Any, ...]]:
    rows = CostEntry.objects.filter(execution_id=execution).order_by("id")
    return list(rows.values_list("model", "tokens", "amount", "currency"))


def spent(of: Budget) -> Decimal:
    return uses_of([of])[of.pk].spent


def told(of: Budget) -> list[str]:
    rows = Activity.objects.filter(object_type="Budget", object_id=str(of.pk), actor_name="budgets")
    return list(rows.order_by("created_at").values_list("action", flat=True))


def test_a_step_that_costs_leaves_an_entry_with_its_result(
    queue: World, workspace: Workspace, ada: Any
) -> None:
    execution = once(workspace, ada, model="m-1", tokens=120, amount="0.25")

    entry = CostEntry.objects.get(execution_id=execution)
    run = run_of(execution, FIRST)
    assert entries(execution) == [("m-1", 120, Decimal("0.25"), "USD")]
    assert (entry.workspace_id, entry.user_id) == (workspace.pk, ada.pk)
    assert (entry.run_id, entry.module) == (run.pk, "test.spender")
    assert (run.state, run.cost_tokens, run.cost_amount) == ("SUCCESS", 120, Decimal("0.25"))


def test_a_failed_attempt_has_cost_what_it_cost(queue: World, workspace: Workspace) -> None:
    execution = once(workspace, tokens=7, then="fail")

    assert run_of(execution, FIRST).state == "DLQ"
    assert entries(execution) == [("", 7, Decimal(0), "USD")]


def test_a_step_that_waits_costs_before_and_after(queue: World, workspace: Workspace) -> None:
    execution = once(workspace, tokens=7, amount="1", then="wait")
    assert [row[1] for row in entries(execution)] == [7]

    waits.due_timers()
    recorded(claimed(execution, FIRST))

    assert [row[1] for row in entries(execution)] == [7, 7]
    assert run_of(execution, FIRST).cost_tokens == 14


def test_a_refused_result_writes_no_entry_and_spends_nothing(
    queue: World, workspace: Workspace
) -> None:
    limited = budget(workspace, "10")
    execution = begun(publish(spends(tokens=5, amount="2"), workspace))
    state, work = claimed(execution, FIRST)
    unit = execute.perform(state, work)
    lease_runs_out(work.run_id)
    claimed(execution, FIRST)

    with pytest.raises(LeaseLost):
        record_result.record(state, work, unit)

    assert entries(execution) == []
    assert spent(limited) == 0


def test_a_step_that_costs_nothing_pays_nothing(
    queue: World, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget(workspace, "10")
    free = {"tasks": [task("pay", "test.effect"), task("end", after="pay")]}
    execution = begun(publish(free, workspace))
    state, work = claimed(execution, FIRST)
    known_limits.known()
    asked: list[str] = []
    for where in (statements, limits_statements):
        for way in ("fetch", "fetch_one"):
            own = getattr(where, way)
            monkeypatch.setattr(
                where, way, lambda name, given, own=own: asked.append(name) or own(name, given)
            )

    unit = execute.perform(state, work)
    with CaptureQueriesContext(connection) as captured:
        record_result.record(state, work, unit)

    assert asked == ["record_and_begin_next"]
    assert not captured.captured_queries


def test_budgets_count_what_is_theirs(queue: World, workspace: Workspace, ada: Any) -> None:
    ours, hers = budget(workspace, "100"), budget(workspace, "100", user_id=ada.pk)
    tokens, euros = budget(workspace, "1000", ""), budget(workspace, "100", "EUR")

    once(workspace, ada, tokens=10, amount="3")
    once(workspace, tokens=20, amount="4")

    assert [spent(each) for each in (ours, hers, tokens, euros)] == [7, 3, 30, 0]


def test_fifty_steps_at_once_lose_nothing(queue: World, workspace: Workspace, ada: Any) -> None:
    ours, hers = budget(workspace, "100000"), budget(workspace, "100000", user_id=ada.pk)
    workflow = publish(spends(tokens=2, amount="0.01"), workspace)
    held = [claimed(begun(workflow, ada), FIRST) for _ in range(50)]

    with Rivals(16) as rivals:
        for future in [rivals.begin(recorded, each) for each in held]:
            future.result(60)

    assert spent(ours) == spent(hers) == Decimal("0.50")
    assert CostEntry.objects.filter(workspace=workspace).count() == 50


def test_a_step_that_costs_is_refused_once_a_budget_is_spent(
    queue: World, workspace: Workspace
) -> None:
    budget(workspace, "5")
    once(workspace, amount="5")

    execution = once(workspace, amount="1")

    run = run_of(execution, FIRST)
    assert (run.state, run.error_type) == ("DLQ", "PERMANENT")
    assert run.error_details["exception"] == "BudgetSpent"
    assert "is spent: 5 of 5 USD; it resets at" in run.error
    assert entries(execution) == []


def test_the_error_names_the_budget_that_never_resets(queue: World, workspace: Workspace) -> None:
    budget(workspace, "5")
    budget(workspace, "5", period="total")
    once(workspace, amount="5")

    run = run_of(once(workspace, amount="1"), FIRST)

    assert "it does not reset automatically" in run.error


def test_who_has_money_left_goes_on_beside_who_has_not(
    queue: World, workspace: Workspace, ada: Any
) -> None:
    budget(workspace, "5", user_id=ada.pk)
    once(workspace, ada, amount="6")

    refused, other = once(workspace, ada), once(workspace)

    assert run_of(refused, FIRST).state == "DLQ"
    assert run_of(other, FIRST).state == "SUCCESS"


def test_a_raised_budget_lets_steps_through_again(queue: World, workspace: Workspace) -> None:
    limited = budget(workspace, "5")
    once(workspace, amount="5")

    BUDGETS.change(limited.pk, {"amount": Decimal(10)}, actor=ACTOR)

    assert run_of(once(workspace, amount="1"), FIRST).state == "SUCCESS"


def test_people_are_told_once_each_of_the_soft_threshold_and_the_end(
    queue: World, workspace: Workspace
) -> None:
    limited = budget(workspace, "10", soft_percent=50)
    heard: list[str] = []

    def hear(sender: Any, condition: ReportedCondition, **_: Any) -> None:
        heard.append(f"{condition.object_id} {condition.kind}")

    condition_began.connect(hear)
    try:
        for amount in ("4", "1", "1", "5"):
            once(workspace, amount=amount)
    finally:
        condition_began.disconnect(hear)

    assert told(limited) == ["budget.soft", "budget.spent"]
    assert heard == [f"{limited.pk} BUDGET_SOFT", f"{limited.pk} BUDGET_SPENT"]


def test_the_end_is_told_again_when_a_raised_budget_is_spent_anew(
    queue: World, workspace: Workspace
) -> None:
    limited = budget(workspace, "1", soft_percent=None)
    once(workspace, amount="1")
    BUDGETS.change(limited.pk, {"amount": Decimal(2)}, actor=ACTOR)

    once(workspace, amount="1")

    assert told(limited) == ["budget.spent", "budget.spent"]


def test_a_budget_begins_anew_with_its_period(queue: World, workspace: Workspace) -> None:
    limited = budget(workspace, "5")
    once(workspace, amount="5")
    BudgetUse.objects.filter(budget=limited).update(starts_at="2020-01-01T00:00:00Z")

    execution = once(workspace, amount="1")

    assert run_of(execution, FIRST).state == "SUCCESS"
    assert spent(limited) == 1


def test_a_kill_switch_ends_what_the_spender_has_under_way_and_nobody_elses(
    queue: World, workspace: Workspace, ada: Any
) -> None:
    limited = budget(workspace, "5", user_id=ada.pk, kill_switch=True)
    workflow = publish(spends(amount="5"), workspace)
    hers, others = [begun(workflow, ada) for _ in range(3)], begun(workflow)
    assert duty.sweep() == 0
    recorded(claimed(hers[0], FIRST))

    assert duty.sweep() == 3
    assert duty.sweep() == 0

    assert set(states(hers).values()) == {"CANCELLED"}
    assert states([others])[others] == "RUNNING"
    why = Activity.objects.get(object_id=str(hers[1]), action="execution.cancel").reason
    assert f"Budget {limited.pk} is spent" in why


def test_a_kill_switch_of_a_workspace_ends_what_waits_for_a_place(queue: World) -> None:
    narrow = limited_workspace(1)
    budget(narrow, "5", kill_switch=True)
    workflow = publish(spends(amount="5"), narrow)
    running, waiting = begun(workflow), begun(workflow)
    recorded(claimed(running, FIRST))

    duty.sweep()

    assert set(states([running, waiting]).values()) == {"CANCELLED"}


def test_nothing_starts_for_a_spender_who_was_stopped(
    queue: World, workspace: Workspace, ada: Any
) -> None:
    budget(workspace, "5", user_id=ada.pk, kill_switch=True)
    once(workspace, ada, amount="5")
    workflow = publish(spends(), workspace)

    with pytest.raises(QuotaExceeded) as refused:
        begun(workflow, ada)

    assert refused.value.code == "budget_spent"
    assert 1 <= refused.value.retry_after <= 31 * 86_400
    assert begun(workflow)


def test_without_a_kill_switch_executions_start_and_run_what_is_free(
    queue: World, workspace: Workspace
) -> None:
    budget(workspace, "5")
    once(workspace, amount="5")

    assert begun(publish(spends(), workspace))


def test_a_budget_deleted_while_a_step_is_recorded_leaves_nothing_behind(
    queue: World, workspace: Workspace
) -> None:
    limited = budget(workspace, "100")
    held = claimed(begun(publish(spends(amount="1"), workspace)), FIRST)
    BUDGETS.delete(limited.pk, actor=ACTOR)

    recorded(held)

    assert not BudgetUse.objects.filter(budget_id=limited.pk).exists()
