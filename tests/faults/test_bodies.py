"""Loops and maps on real workers."""

from pathlib import Path
from uuid import UUID

import pytest

from dlq.intake.quarantine import quarantine
from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions import lifecycle
from executions.errors import WrongState
from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, describe, effect, publish, start, task, wait_for_end


def run(document, payload=None):
    execution = start(publish(document), payload)
    wait_for_end([execution], 60)
    return WorkflowExecution.objects.get(pk=execution)


def loop(body, **given):
    more = {key: given.pop(key) for key in ("after",) if key in given}
    return {"id": "refine", "use": "flow.loop", "with": given, "body": body, **more}


def each(body, items="{{ input.items }}", **given):
    more = {key: given.pop(key) for key in ("after",) if key in given}
    return {
        "id": "batch", "use": "flow.map", "with": {"items": items, **given}, "body": body, **more
    }  # fmt: skip


B_FAILS = effect("a", value="{{ item }}", failTimes="{{ 9 if item == 'b' else 0 }}", retry="none")
OUTPUT = {"output": "{{ tasks.refine.output }}"}


def test_a_count_loop_runs_one_iteration_after_another(fleet: Fleet) -> None:
    before = "{{ loop.previous.a if loop.index else -1 }}"
    body = {"tasks": [effect("a", value="{{ loop.index }}"), effect("b", "a", value=before)]}
    done = run({"tasks": [loop(body, count=3)], **OUTPUT})
    assert done.state == "SUCCESS", describe([done.pk])
    assert done.output == {"iterations": 3, "last": {"a": 2, "b": 1}}


def test_a_loop_ends_when_its_condition_holds(fleet: Fleet) -> None:
    good = {"condition": "{{ tasks.draft.output >= 2 }}"}
    body = {
        "tasks": [
            effect("draft", value="{{ loop.index }}"),
            task("review", "flow.if", "draft", **{"with": good}),
        ]
    }
    done = run({"tasks": [loop(body, until="{{ tasks.review.outcome == 'true' }}")], **OUTPUT})
    assert done.state == "SUCCESS", describe([done.pk])
    assert done.output["iterations"] == 3


@pytest.mark.parametrize("count", [0, 1, 7, 300])
def test_a_map_of_pure_items_gives_their_outputs_in_order(fleet: Fleet, count: int) -> None:
    values = {"n": "{{ item * 2 }}", "i": "{{ index }}"}
    body = {"tasks": [task("double", "data.set", **{"with": {"values": values}})]}
    done = run(
        {"tasks": [each(body)], "output": "{{ tasks.batch.output }}"},
        {"items": list(range(count))},
    )
    assert done.state == "SUCCESS", describe([done.pk])
    assert done.output == [{"n": 2 * n, "i": n} for n in range(count)]


def test_a_map_of_effects_runs_so_many_at_a_time(fleet: Fleet) -> None:
    shout = effect("b", "a", value="{{ tasks.a.output }}!")
    body = {"tasks": [effect("a", value="{{ item }}"), shout]}
    done = run(
        {"tasks": [each(body, maxConcurrency=3)], "output": "{{ tasks.batch.output }}"},
        {"items": list("abcdefghij")},
    )
    assert done.state == "SUCCESS", describe([done.pk])
    assert done.output == [f"{letter}!" for letter in "abcdefghij"]


def test_a_map_goes_on_past_failed_items_when_told(fleet: Fleet) -> None:
    body = {"tasks": [B_FAILS, effect("z", "a", value="{{ tasks.a.output }}")]}
    done = run(
        {"tasks": [each(body, onItemError="continue")], "output": "{{ tasks.batch.output }}"},
        {"items": list("abc")},
    )
    assert done.state == "SUCCESS", describe([done.pk])
    assert done.output[0] == "a"
    assert done.output[2] == "c"
    assert done.output[1]["error"]["step"] == "batch[1].a.main"


def test_a_failed_item_fails_the_map_which_takes_its_error_edge(fleet: Fleet) -> None:
    told = {"value": "{{ tasks.batch.error.message }}"}
    body = {"tasks": [B_FAILS]}
    done = run(
        {
            "tasks": [each(body), task("mend", "flow.noop", "batch:error", **{"with": told})],
            "output": "{{ tasks.mend.output }}",
        },
        {"items": list("abc")},
    )
    assert done.state == "SUCCESS", describe([done.pk])
    assert "batch[1].a.main" in done.output


def test_an_unminded_failure_is_a_dead_letter_and_goes_on_when_requeued(fleet: Fleet) -> None:
    body = {"tasks": [B_FAILS]}
    done = run(
        {"tasks": [each(body, maxConcurrency=1)], "output": "{{ tasks.batch.output }}"},
        {"items": list("abcd")},
    )
    assert done.state == "FAILED", describe([done.pk])
    letter = DeadLetterEntry.objects.get(execution=done)
    assert letter.step_path == "batch[1].a.main"
    assert Run.objects.filter(execution=done, step_path__startswith="batch[").count() == 2
    requeue(letter.pk, actor=ACTOR, overrides={"failTimes": 0})
    wait_for_end([done.pk])
    done.refresh_from_db()
    assert done.state == "SUCCESS", describe([done.pk])
    assert done.output == list("abcd")


def test_bodies_nest(fleet: Fleet) -> None:
    seen = "{{ [loop.index, index, item, tasks.begin.output] }}"
    inner = each({"tasks": [effect("x", value=seen)]}, after="begin")
    body = {"tasks": [effect("begin", value="{{ loop.index }}"), inner]}
    done = run({"tasks": [loop(body, count=2)], **OUTPUT}, {"items": ["p", "q"]})
    assert done.state == "SUCCESS", describe([done.pk])
    assert done.output["last"]["batch"] == [[1, 0, "p", 1], [1, 1, "q", 1]]


def test_a_loop_that_never_ends_is_a_dead_letter_that_names_it(fleet: Fleet) -> None:
    body = {"tasks": [task("a", "flow.if", **{"with": {"condition": False}})]}
    document = {
        "tasks": [loop(body, until="{{ tasks.a.outcome == 'true' }}", maxIterations=4)],
        **OUTPUT,
    }
    done = run(document)
    assert done.state == "FAILED", describe([done.pk])
    letter = DeadLetterEntry.objects.get(execution=done)
    assert letter.step_path == "refine.main"
    assert "4 times" in letter.failure_reason
    requeue(letter.pk, actor=ACTOR, overrides={"maxIterations": 6})
    wait_for_end([done.pk])
    assert DeadLetterEntry.objects.filter(execution=done, failure_reason__contains="6 times")
    anew = Run.objects.filter(execution=done, step_path__startswith="refine[", superseded=False)
    assert anew.count() == 6


def test_what_is_no_list_fails_the_map_by_name(fleet: Fleet) -> None:
    done = run({"tasks": [each({"tasks": [effect("a")]})]}, {"items": "abc"})
    assert done.state == "FAILED"
    assert "must be a list; found text" in done.error_message


def test_a_pause_in_the_middle_of_a_map_changes_nothing(fleet: Fleet, held: Path) -> None:
    last = "{{ input.held if index > 3 else '' }}"
    slow = effect("a", value="{{ item }}", whileThere=last)
    document = {
        "tasks": [each({"tasks": [slow]}, maxConcurrency=2)],
        "output": "{{ tasks.batch.output }}",
    }
    execution = start(publish(document), {"items": list(range(8)), "held": str(held)})
    wait_until(lambda: _done(execution) >= 2, 20)
    lifecycle.pause(execution, actor=ACTOR)
    held.unlink()
    wait_until(lambda: not Run.objects.filter(execution=execution, state="RUNNING").exists(), 20)
    assert _done(execution) < 8
    lifecycle.resume(execution, actor=ACTOR)
    wait_for_end([execution], 30)
    done = WorkflowExecution.objects.get(pk=execution)
    assert done.output == list(range(8)), describe([execution])


def test_cancelling_ends_a_container_and_everything_in_it(fleet: Fleet) -> None:
    slow = effect("a", seconds=20)
    execution = start(
        publish({"tasks": [each({"tasks": [slow]})]}), {"items": list(range(5))}
    )  # fmt: skip
    held = Run.objects.filter(execution=execution)
    wait_until(lambda: held.filter(state="RUNNING", step_path="batch[0].a.main").exists(), 20)
    container = held.get(step_path="batch.main")
    with pytest.raises(WrongState, match="is a container whose body is running"):
        quarantine(container.pk, actor=ACTOR, reason="by mistake")
    lifecycle.cancel(execution, actor=ACTOR)
    assert not held.filter(state__in=["PENDING", "RUNNING", "WAITING"]).exists()


def _done(execution: UUID) -> int:
    paths = Run.objects.filter(execution=execution, step_path__startswith="batch[")
    return paths.filter(state="SUCCESS").count()
