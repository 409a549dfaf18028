"""Quotas on module types and tokens are never exceeded, and a waiting step uses no attempt."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model

from executions.access.actor import Actor
from executions.database import alias
from executions.database.clock import database_now
from executions.models import Membership, QuotaUse, Workflow, Workspace
from executions.triggers.start import start_execution
from runners import statements
from runners.explain.holds import hold_reasons
from runners.explain.steps import Around, step_reason
from runners.gates import gates
from runners.models import Run, Waiter
from runners.modules import registry
from runners.modules.base import Wait
from runners.recovery.sweeper import waits
from tests.support.modules import marks
from tests.support.rivals import Rivals
from tests.support.segments import claimed, recorded, run_of
from tests.support.single_thread import World
from tests.support.windows import wait_for_a_long_hour
from tests.support.workflows import ACTOR, effect, limited_workspace, publish, task
from valkyr_plugins.limits import known_limits
from valkyr_plugins.limits import quota_gate as quotas
from valkyr_plugins.limits import statements as limits_statements
from valkyr_plugins.limits.models import Quota, QuotaHold

FIRST = "pay.main"
ONE = {"tasks": [effect("pay")]}


@pytest.fixture(autouse=True)
def _no_window_ends_meanwhile(engine: None) -> None:
    wait_for_a_long_hour(30)


@pytest.fixture
def workspace(engine: None) -> Workspace:
    return limited_workspace(1_000)


@pytest.fixture
def ada(workspace: Workspace) -> Any:
    user = get_user_model().objects.create_user(f"ada-{workspace.slug}")
    Membership.objects.create(user=user, workspace=workspace, role="WORKFLOW")
    return user


def limit(workspace: Workspace, **facts: Any) -> Quota:
    """Create a quota, by default on `test.effect`."""
    what = {"resource": "module", "target": "test.effect"} | facts
    made = Quota.objects.create(workspace=workspace, **what)
    known_limits.forget()
    return made


def begun(workflow: Workflow, user: Any = None) -> UUID:
    actor = ACTOR if user is None else Actor.of(user)
    return start_execution(workflow, {}, actor=actor).execution.pk


def once(workflow: Workflow, user: Any = None) -> Run:
    """Start an execution, and try its first step once; return the step's run."""
    execution = begun(workflow, user)
    recorded(claimed(execution, FIRST))
    return run_of(execution, FIRST)


def used(workspace: Workspace, window: str = "hour", **more: Any) -> int:
    rows = QuotaUse.objects.filter(workspace=workspace, window=window, **more)
    return sum(rows.exclude(resource="executions").values_list("used", flat=True))


def tried_again(run: Run) -> Run:
    """Try a run again after its wait; return the run."""
    Run.objects.filter(pk=run.pk, state="WAITING").update(due_at=database_now())
    waits.due_timers()
    recorded(claimed(run.execution_id, FIRST))
    return run_of(run.execution_id, FIRST)


@pytest.mark.parametrize("window", ["hour", "day"])
def test_fifty_steps_at_once_run_exactly_as_often_as_the_quota_allows(
    queue: World, workspace: Workspace, window: str
) -> None:
    limit(workspace, **{f"max_per_{window}": 20})
    workflow = publish(ONE, workspace)
    held = [claimed(begun(workflow), FIRST) for _ in range(50)]

    with Rivals(16) as rivals:
        for future in [rivals.begin(recorded, each) for each in held]:
            future.result(60)

    runs = Run.objects.filter(execution__workflow=workflow)
    assert runs.filter(state="SUCCESS").count() == used(workspace, window) == 20
    assert runs.filter(state="WAITING", waits_for="quota").count() == 30


def test_a_step_over_its_quota_waits_for_the_window_without_using_an_attempt(
    queue: World, workspace: Workspace
) -> None:
    quota = limit(workspace, max_per_hour=1)
    workflow = publish(ONE, workspace)
    once(workflow)

    run = once(workflow)

    hour = database_now().replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    assert (run.state, run.waits_for, run.due_at, run.attempt) == ("WAITING", "quota", hour, 1)
    assert run.progress["quotaId"] == str(quota.pk)
    assert (run.progress["limit"], run.progress["used"]) == (1, 1)
    now = database_now()
    reason = step_reason(run, Around(now=now, holds=hold_reasons(workspace.pk, [run], {}, now)))
    assert (reason.code, reason.until) == ("waiting_for_quota", hour)
    assert "1 of 1 this hour" in reason.message
    assert marks(run.execution_id) == []
    assert tried_again(run).state == "WAITING"

    QuotaUse.objects.filter(workspace=workspace).delete()  # the next hour
    assert (tried_again(run).state, run.attempt) == ("SUCCESS", 1)


def test_no_more_steps_run_at_once_than_the_quota_allows(
    queue: World, workspace: Workspace
) -> None:
    limit(workspace, max_concurrent=5)
    workflow = publish(ONE, workspace)
    held = [claimed(begun(workflow), FIRST) for _ in range(30)]

    with Rivals(16) as rivals:
        answers = [future.result(60) for future in [rivals.begin(_asked, one) for one in held]]

    permits = [answer for answer in answers if not isinstance(answer, Wait)]
    assert len(permits) == QuotaHold.objects.filter(quota__workspace=workspace).count() == 5
    for permit in permits:
        permit.ended(None)
    assert not QuotaHold.objects.filter(quota__workspace=workspace).exists()


def _asked(held: Any) -> Any:
    state, work = held
    return quotas.ask(gates.Asked(state.context, work, registry.get("test.effect"), None, None))


def test_who_waits_for_a_place_is_woken_when_one_is_free(
    queue: World, workspace: Workspace
) -> None:
    quota = limit(workspace, max_concurrent=1)
    workflow = publish(ONE, workspace)
    permit = _asked(claimed(begun(workflow), FIRST))
    first, second = once(workflow), once(workflow)
    assert Waiter.objects.filter(kind="quota", key=str(quota.pk)).count() == 2

    permit.ended(None)

    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, second.state) == ("PENDING", "WAITING")
    recorded(claimed(first.execution_id, FIRST))
    second.refresh_from_db()
    assert second.state == "PENDING"


def test_a_place_of_a_holder_who_never_came_back_is_free(
    queue: World, workspace: Workspace
) -> None:
    limit(workspace, max_concurrent=1)
    workflow = publish(ONE, workspace)
    _asked(claimed(begun(workflow), FIRST))
    QuotaHold.objects.update(until=database_now())

    assert once(workflow).state == "SUCCESS"


def test_a_run_that_is_taken_over_keeps_its_place(queue: World, workspace: Workspace) -> None:
    limit(workspace, max_concurrent=1)
    held = claimed(begun(publish(ONE, workspace)), FIRST)
    _asked(held)

    assert not isinstance(_asked(held), Wait)


def test_a_step_held_back_by_another_gate_is_not_counted(
    queue: World, workspace: Workspace
) -> None:
    limit(workspace, max_concurrent=1, max_per_hour=5, max_per_day=5)
    held = claimed(begun(publish(ONE, workspace)), FIRST)

    permit = _asked(held)
    assert used(workspace) == 1
    permit.undo()

    assert used(workspace) == used(workspace, "day") == 0
    assert not QuotaHold.objects.filter(quota__workspace=workspace).exists()


def test_a_members_quota_holds_that_member_alone(
    queue: World, workspace: Workspace, ada: Any
) -> None:
    limit(workspace, user=ada, max_per_hour=0)
    workflow = publish(ONE, workspace)

    assert once(workflow, ada).state == "WAITING"
    assert once(workflow).state == "SUCCESS"


def test_other_module_types_are_not_held(queue: World, workspace: Workspace) -> None:
    limit(workspace, target="test.spender", max_per_hour=0)

    assert once(publish(ONE, workspace)).state == "SUCCESS"


def chats(model: str, tokens: int) -> dict[str, Any]:
    inputs = {"model": model, "tokens": tokens}
    return {"tasks": [task("pay", "test.spender", **{"with": inputs})]}


def test_tokens_used_up_hold_the_next_step_that_costs(queue: World, workspace: Workspace) -> None:
    limit(workspace, resource="tokens", target="", max_per_hour=100)
    workflow = publish(chats("m-1", 60), workspace)

    runs = [once(workflow) for _ in range(3)]

    assert [run.state for run in runs] == ["SUCCESS", "SUCCESS", "WAITING"]
    assert used(workspace) == 120
    assert once(publish(ONE, workspace)).state == "SUCCESS"


def test_a_quota_on_one_models_tokens_holds_steps_with_that_model(
    queue: World, workspace: Workspace
) -> None:
    limit(workspace, resource="tokens", target="m-1", max_per_day=50)
    one, two = (publish(chats(name, 50), workspace) for name in ("m-1", "m-2"))
    once(one)
    once(two)

    assert used(workspace, "day") == 50
    assert once(one).state == "WAITING"
    assert once(two).state == "SUCCESS"


def test_fifty_results_at_once_count_every_token(queue: World, workspace: Workspace) -> None:
    limit(workspace, resource="tokens", target="", max_per_hour=10_000, max_per_day=10_000)
    workflow = publish(chats("m-1", 3), workspace)
    held = [claimed(begun(workflow), FIRST) for _ in range(50)]

    with Rivals(16) as rivals:
        for future in [rivals.begin(recorded, each) for each in held]:
            future.result(60)

    assert used(workspace) == used(workspace, "day") == 150


def test_where_nothing_is_limited_a_gate_asks_nothing(
    queue: World, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = claimed(begun(publish(ONE, workspace)), FIRST)
    known_limits.known()
    monkeypatch.setitem(known_limits._until, alias(), float("inf"))

    def refuse(name: str, given: Any) -> Any:
        raise AssertionError(f"asked {name}")

    for where in (statements, limits_statements):
        monkeypatch.setattr(where, "fetch", refuse)

    assert _asked(held) is None
