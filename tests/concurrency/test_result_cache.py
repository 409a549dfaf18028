"""Equal steps reuse a result across executions, within its scope and its lifetime."""

from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from executions import lifecycle
from executions.models import Workflow, WorkflowExecution
from executions.publishing import versioning
from runners.errors import LeaseLost
from runners.models import Run
from runners.models.run import CachedResult
from runners.pipeline import result_cache
from runners.recovery.sweeper import old_rows as duty
from tests.support.auditor import audit
from tests.support.modules import marks
from tests.support.segments import claimed, recorded, run_of
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, limited_workspace, publish, start, states

WEEK = 604_800


@pytest.fixture(autouse=True)
def nothing_kept(queue: World) -> None:
    CachedResult.objects.all().delete()


def asking(
    use: str = "test.effect", workspace: Any = None, inputs: Any = None, **cache: Any
) -> Workflow:
    """Publish a workflow whose only step returns its input, with a cache."""
    rule = {"ttlSeconds": WEEK, **cache}
    given = inputs or {"value": "{{ input.city }}"}
    task = {"id": "ask", "use": use, "with": given, "cache": rule}
    document = {"tasks": [task], "output": "{{ tasks.ask.output }}"}
    return publish(document, workspace)


def run(queue: World, workflow: Workflow, city: Any = "Bonn") -> UUID:
    """Run an execution to its end; return its id."""
    execution = start(workflow, {"city": city})
    queue.drain()
    assert states([execution])[execution] == "SUCCESS"
    return execution


def ran(execution: UUID) -> bool:
    """Return whether the step had its effect in this execution."""
    return bool(marks(execution))


def expire() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runners_cachedresult SET expires_at = clock_timestamp()")


def test_an_equal_step_takes_the_result_and_does_not_run(queue: World) -> None:
    workflow = asking()
    first, second = run(queue, workflow), run(queue, workflow)
    assert (ran(first), ran(second)) == (True, False)
    made, reused = run_of(first, "ask.main"), run_of(second, "ask.main")
    assert reused.cached_from == made.pk
    assert (reused.state, reused.outcome, reused.outputs) == ("SUCCESS", "success", "Bonn")
    assert reused.duration_ms == 0
    assert reused.logs[0]["message"] == f"reused the result of run {made.pk}"
    assert WorkflowExecution.objects.get(pk=second).output == "Bonn"
    assert made.cached_from is None


def test_other_inputs_run_anew(queue: World) -> None:
    workflow = asking()
    run(queue, workflow, "Bonn")
    assert ran(run(queue, workflow, "Ulm"))


def test_after_its_time_a_result_is_made_anew_and_kept_again(queue: World) -> None:
    workflow = asking()
    run(queue, workflow)
    expire()
    third = run(queue, workflow)
    assert ran(third)
    fourth = run(queue, workflow)
    assert not ran(fourth)
    assert run_of(fourth, "ask.main").cached_from == run_of(third, "ask.main").pk


def test_a_result_of_a_workflow_is_its_own(queue: World) -> None:
    run(queue, asking(scope="workflow"))
    assert ran(run(queue, asking(scope="workflow")))


def test_a_result_of_a_workspace_is_for_all_its_workflows_and_no_other(queue: World) -> None:
    run(queue, asking(scope="workspace"))
    assert not ran(run(queue, asking(scope="workspace")))
    assert ran(run(queue, asking(scope="workspace", workspace=limited_workspace(5))))


def test_a_new_version_with_the_same_step_takes_the_result_of_the_old(queue: World) -> None:
    workflow = asking()
    run(queue, workflow)
    told = {"definition": {**workflow.definition, "description": "as before"}}
    versioning.update_workflow(workflow.pk, told, actor=ACTOR, expected_revision=None)
    versioning.publish(workflow.pk, actor=ACTOR)
    workflow.refresh_from_db()
    assert not ran(run(queue, workflow))


def test_a_gate_takes_the_same_way_again(queue: World) -> None:
    gate = {"value": 1, "outcome": "left", "outcomes": ["left", "right"]}
    tasks = [
        {"id": "ask", "use": "test.effect", "with": gate, "cache": {"ttlSeconds": WEEK}},
        {"id": "l", "use": "flow.noop", "after": ["ask:left"]},
        {"id": "r", "use": "flow.noop", "after": ["ask:right"]},
    ]
    workflow = publish({"tasks": tasks})
    run(queue, workflow)
    second = run(queue, workflow)
    assert run_of(second, "ask.main").cached_from is not None
    assert run_of(second, "ask.main").outcome == "left"
    assert (run_of(second, "l.main").state, run_of(second, "r.main").state) == (
        "SUCCESS",
        "SKIPPED",
    )


def test_a_failure_is_not_kept(queue: World) -> None:
    workflow = asking(inputs={"failTimes": 1, "errorType": "PERMANENT"})
    execution = start(workflow, {})
    queue.drain()
    assert states([execution])[execution] == "FAILED"
    assert not CachedResult.objects.exists()


def test_a_result_that_was_refused_is_not_kept(queue: World) -> None:
    execution = start(asking(), {"city": "Bonn"})
    held = claimed(execution, "ask.main")
    lifecycle.cancel(execution, actor=ACTOR)
    with pytest.raises(LeaseLost):
        recorded(held)
    assert not CachedResult.objects.exists()


def test_a_step_without_a_cache_neither_looks_nor_keeps(queue: World) -> None:
    plain = {"id": "ask", "use": "test.effect", "with": {"value": "{{ input.city }}"}}
    workflow = publish({"tasks": [plain]})
    run(queue, workflow)
    assert ran(run(queue, workflow))
    assert not CachedResult.objects.exists()


@pytest.mark.plugins
def test_a_pure_step_with_a_cache_is_reused_as_well(queue: World) -> None:
    workflow = asking("data.set", inputs={"values": {"city": "{{ input.city }}"}})
    run(queue, workflow)
    second = run(queue, workflow)
    assert run_of(second, "ask.main").cached_from is not None
    assert WorkflowExecution.objects.get(pk=second).output == {"city": "Bonn"}


def test_the_same_step_twice_in_one_execution_runs_once(queue: World) -> None:
    def ask(name: str, **more: Any) -> dict[str, Any]:
        given = {"value": 7}
        rule = {"ttlSeconds": WEEK}
        return {"id": name, "use": "test.effect", "with": given, "cache": rule, **more}

    last = {"id": "last", "use": "test.effect", "after": ["two"]}
    workflow = publish({"tasks": [ask("one"), ask("two", after=["one"]), last]})
    execution = run(queue, workflow)
    assert run_of(execution, "two.main").cached_from == run_of(execution, "one.main").pk
    assert [mark["step"] for mark in marks(execution)] == ["one.main", "last.main"]


def test_a_step_whose_result_is_not_kept_has_ended_all_the_same(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr(result_cache, "store", fail)
    assert ran(run(queue, asking()))


@pytest.mark.parametrize("value", [None, 0, "", [], {"a": [1, None]}, "ä\"'\\", 1.5])
def test_every_value_comes_back_as_it_was(queue: World, value: Any) -> None:
    workflow = asking(inputs={"value": value})
    run(queue, workflow)
    second = run(queue, workflow)
    assert run_of(second, "ask.main").cached_from is not None
    assert run_of(second, "ask.main").outputs == value


def test_of_two_that_make_a_result_at_once_the_later_is_kept(queue: World) -> None:
    workflow = asking()
    first, second = start(workflow, {"city": "Bonn"}), start(workflow, {"city": "Bonn"})
    mine, other = claimed(first, "ask.main"), claimed(second, "ask.main")
    for state, work in (mine, other):
        assert result_cache.lookup(state, work.step, work.prepared) is None  # type: ignore[arg-type]
    recorded(mine)
    recorded(other)
    kept = CachedResult.objects.get()
    assert kept.run_id in {run_of(first, "ask.main").pk, run_of(second, "ask.main").pk}


def test_old_results_are_forgotten_batch_by_batch(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    workflow = asking()
    for city in ("Bonn", "Ulm", "Jena"):
        run(queue, workflow, city)
    expire()
    run(queue, workflow, "Kiel")
    monkeypatch.setattr(duty, "BATCH", 2)
    assert [duty.expired_results(), duty.expired_results(), duty.expired_results()] == [2, 1, 0]
    assert CachedResult.objects.get().outputs == "Kiel"


def test_an_execution_that_reused_a_result_passes_the_audit(queue: World) -> None:
    workflow = asking()
    ids = [run(queue, workflow), run(queue, workflow)]
    audit(ids)
    assert Run.objects.filter(execution_id__in=ids, cached_from=None).count() == 1
