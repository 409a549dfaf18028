"""Keys, slots, error workflows and reused results on real workers, some of which are killed."""

from executions.admission.capacity import active
from executions.models import WorkflowExecution
from runners.models.run import CachedResult
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.modules import marks
from tests.support.segments import run_of
from tests.support.waiting import wait_until
from tests.support.workflows import (
    effect,
    limited_workspace,
    publish,
    start,
    start_many,
    task,
    wait_for_end,
)


def test_executions_with_one_key_never_run_at_once_though_workers_die(fleet: Fleet) -> None:
    rule = {"key": "{{ input.customer }}"}
    tasks = [effect("one", killTimes=1), effect("two", after="one")]
    workflow = publish({"settings": {"concurrency": rule}, "tasks": tasks})
    ids = start_many(workflow, [{"customer": customer} for customer in "abab"])
    assert set(wait_for_end(ids, 90).values()) == {"SUCCESS"}
    found = [WorkflowExecution.objects.get(pk=pk) for pk in ids]
    for first, second in ((found[0], found[2]), (found[1], found[3])):
        assert first.finished_at is not None
        assert second.started_at is not None
        assert first.finished_at <= second.started_at
    audit(ids)


def test_twenty_sleep_at_once_in_a_workspace_with_two_slots(fleet: Fleet) -> None:
    workspace = limited_workspace(2)
    nap = task("nap", "test.wait", **{"with": {"seconds": 3}})
    workflow = publish({"tasks": [nap, effect("after", after="nap")]}, workspace)
    ids = [start(workflow) for _ in range(20)]
    found = WorkflowExecution.objects.filter(pk__in=ids)
    wait_until(
        lambda: active(workspace.pk) <= 2 and found.filter(place="FREE").count() > 2,
        30,
        "more sleepers than slots",
    )
    assert set(wait_for_end(ids, 90).values()) == {"SUCCESS"}
    assert not found.exclude(place="HELD").exists()


def test_whoever_fails_is_told_of_once(fleet: Fleet) -> None:
    ops = publish({"tasks": [effect("tell")]})
    broken = effect("break", failTimes=9, errorType="PERMANENT")
    workflow = publish({"settings": {"onFailure": {"workflow": ops.slug}}, "tasks": [broken]})
    ids = start_many(workflow, [{"n": n} for n in range(5)])
    assert set(wait_for_end(ids).values()) == {"FAILED"}
    told = WorkflowExecution.objects.filter(failure_of__in=ids)
    assert sorted(told.values_list("failure_of", flat=True)) == sorted(ids)
    assert set(wait_for_end(told.values_list("pk", flat=True)).values()) == {"SUCCESS"}


def test_a_result_is_reused_by_another_worker(fleet: Fleet) -> None:
    cached = effect("ask", value={"n": "{{ input.n }}"}) | {"cache": {"ttlSeconds": 600}}
    workflow = publish({"tasks": [cached], "output": "{{ tasks.ask.output }}"})

    first = start(workflow, {"n": 7})
    wait_for_end([first])
    made = run_of(first, "ask.main")
    # A result is stored after it was recorded.
    wait_until(lambda: CachedResult.objects.filter(run_id=made.pk).exists())
    second = start(workflow, {"n": 7})
    wait_for_end([second])
    assert run_of(second, "ask.main").cached_from == made.pk
    assert WorkflowExecution.objects.get(pk=second).output == {"n": 7}
    assert marks(second) == []
