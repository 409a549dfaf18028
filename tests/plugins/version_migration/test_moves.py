"""Executions that move to another version keep their results and the events for which they wait."""

from typing import Any

import pytest

from executions import lifecycle as executions
from executions.models import Activity, WorkflowExecution
from runners.containers import child_executions
from runners.models import Run
from runners.pipeline import claim_run, load_segment
from runners.recovery.sweeper import waits
from runners.repair.version_changes import (
    CannotMove,
    NotOnVersion,
    StepRunning,
    move_execution,
)
from runners.segment.template_data import callback_url_of
from runners.states import WaitKind
from runners.waits import callbacks, events, wake_runs
from tests.support.single_thread import World
from tests.support.version_moves import begun, ended, move_of, outputs, versions
from tests.support.workflows import ACTOR, effect, publish, start, task

REST = task("rest", "flow.delay", "one", **{"with": {"seconds": 86_400}})
ASK = task("rest", "flow.approval", "one", **{"with": {"title": "Go on?"}})
EVENT = task("rest", "flow.wait_for_event", "one", **{"with": {"event": "paid"}})
CALL = [
    effect("url", value="{{ tasks.rest.callbackUrl }}"),
    task("rest", "flow.callback", "url", **{"with": {"title": "A call"}}),
]


def around(wait: dict[str, Any], *, new: bool) -> list[dict[str, Any]]:
    then = {"flow.approval": "rest:approved", "flow.wait_for_event": "rest:success"}.get(
        wait["use"], "rest"
    )
    after = [effect("check", then, value="3")] if new else []
    return [
        effect("one", value="1"), wait, *after,
        effect("last", "check" if new else then, value="new" if new else "old"),
    ]  # fmt: skip


def wake_timer(run: Run) -> None:
    assert wake_runs.wake(run.pk, WaitKind.TIMER, {"by": "timer"})


def wake_approval(run: Run) -> None:
    assert wake_runs.wake(
        run.pk,
        WaitKind.APPROVAL,
        {"by": "actor", "decision": "approved", "comment": "", "at": "", "actor": "Ann"},
    )


def wake_event(run: Run) -> None:
    execution = WorkflowExecution.objects.select_related("workspace").get(pk=run.execution_id)
    events.signal(execution, "paid", {"sum": 5}, actor=ACTOR)


@pytest.mark.parametrize(
    ("wait", "wake"),
    [(REST, wake_timer), (ASK, wake_approval), (EVENT, wake_event)],
    ids=["timer", "approval", "event"],
)
def test_a_wait_survives_and_the_execution_goes_on_in_the_new_version(
    queue: World, wait: dict[str, Any], wake: Any
) -> None:
    workflow = versions(around(wait, new=False), around(wait, new=True))
    execution = begun(workflow, queue)
    before = Run.objects.get(execution=execution, step_path="rest.main")
    first = Run.objects.get(execution=execution, step_path="one.main")

    found = move_execution(execution, move_of(workflow), actor=ACTOR, reason="fixed")
    queue.drain()

    waiting = Run.objects.get(execution=execution, step_path="rest.main")
    assert (found.at, waiting.pk, waiting.state) == (("rest",), before.pk, "WAITING")
    assert waiting.due_at == before.due_at
    wake(waiting)
    queue.drain()
    done = ended(execution)
    assert (done.state, done.version.number) == ("SUCCESS", 2)
    assert set(outputs(execution)) == {"one.main", "rest.main", "check.main", "last.main"}
    # The first step ran once, before the move.
    assert Run.objects.filter(execution=execution, step_path="one.main").get().pk == first.pk
    noted = Activity.objects.get(object_id=execution, action="execution.migrate")
    assert (noted.before, noted.after, noted.reason) == ({"version": 1}, {"version": 2}, "fixed")


def test_a_callback_that_is_in_use_wakes_the_moved_step(queue: World) -> None:
    tail = [effect("last", "rest:success", value="1"), effect("check", "last", value="2")]
    workflow = versions([*CALL, tail[0]], [*CALL, *tail])
    execution = begun(workflow, queue)
    token = callback_url_of(execution, "rest.main").rpartition("/")[2]

    move_execution(execution, move_of(workflow), actor=ACTOR)
    callbacks.receive(token, {"ok": True}, actor=ACTOR)
    queue.drain()

    assert ended(execution).state == "SUCCESS"
    assert "check.main" in outputs(execution)
    with pytest.raises(callbacks.CallbackUsed):
        callbacks.receive(token, {"ok": True}, actor=ACTOR)


def test_a_renamed_step_keeps_its_wait_and_its_result(queue: World) -> None:
    old = around(REST, new=False)
    new = [
        effect("first", value="1"),
        task("pause", "flow.delay", "first", **{"with": {"seconds": 86_400}}),
        effect("last", "pause", value="{{ tasks.first.output }}"),
    ]
    workflow = versions(old, new)
    execution = begun(workflow, queue)
    kept = outputs(execution)["one.main"]

    with pytest.raises(CannotMove, match="`rest` is waiting and does not exist in version 2"):
        move_execution(execution, move_of(workflow), actor=ACTOR)
    move_execution(execution, move_of(workflow, one="first", rest="pause"), actor=ACTOR)
    wake_timer(Run.objects.get(execution=execution, step_path="pause.main"))
    queue.drain()

    assert ended(execution).state == "SUCCESS"
    assert outputs(execution)["first.main"] == kept
    assert set(outputs(execution)) == {"first.main", "pause.main", "last.main"}


@pytest.mark.parametrize(
    ("wait", "wake"),
    [(REST, wake_timer), (ASK, wake_approval), (EVENT, wake_event)],
    ids=["timer", "approval", "event"],
)
@pytest.mark.parametrize("names", [{}, {"one": "first"}], ids=["removed", "renamed"])
def test_a_wait_ends_although_the_step_that_began_its_segment_has_gone(
    queue: World, wait: dict[str, Any], wake: Any, names: dict[str, str]
) -> None:
    # A worker runs `one` and then `rest` from one message, which names `one`.
    old = around(wait, new=False)
    first = [effect("first", value="1")] if names else []
    new = [*first, wait | {"after": names.get("one", [])}, old[-1]]
    workflow = versions(old, new)
    execution = begun(workflow, queue)

    move_execution(execution, move_of(workflow, **names), actor=ACTOR)
    wake(Run.objects.get(execution=execution, step_path="rest.main"))
    queue.drain()

    assert ended(execution).state == "SUCCESS"


def test_a_refused_move_changes_nothing(queue: World) -> None:
    workflow = versions(around(REST, new=False), [effect("one", value="1")])
    execution = begun(workflow, queue)

    with pytest.raises(CannotMove, match="Map it to a step of version 2"):
        move_execution(execution, move_of(workflow), actor=ACTOR)

    assert WorkflowExecution.objects.get(pk=execution).version.number == 1
    assert not Activity.objects.filter(object_id=execution, action="execution.migrate").exists()


def test_a_payload_must_match_the_new_input_schema(queue: World) -> None:
    schema = {"type": "object", "required": ["order"]}
    workflow = versions(around(REST, new=False), around(REST, new=True), input=schema)
    without, with_order = begun(workflow, queue), begun(workflow, queue, {"order": 7})

    with pytest.raises(CannotMove, match="input schema of version 2"):
        move_execution(without, move_of(workflow), actor=ACTOR)
    move_execution(with_order, move_of(workflow), actor=ACTOR)


def test_new_variables_have_their_defaults(queue: World) -> None:
    new = [
        effect("one", value="1"), REST, effect("last", "rest", value="{{ vars.limit }}"),
    ]  # fmt: skip
    workflow = versions(around(REST, new=False), new, variables={"limit": 9})
    execution = begun(workflow, queue)

    move_execution(execution, move_of(workflow), actor=ACTOR)
    wake_timer(Run.objects.get(execution=execution, step_path="rest.main"))
    queue.drain()

    assert ended(execution).state == "SUCCESS"
    assert WorkflowExecution.objects.get(pk=execution).context_data == {"limit": 9}


def test_a_new_branch_starts_at_once(queue: World) -> None:
    new = [*around(REST, new=False), effect("letter", "one", value="x")]
    workflow = versions(around(REST, new=False), new)
    execution = begun(workflow, queue)

    found = move_execution(execution, move_of(workflow), actor=ACTOR)
    queue.drain()

    assert found.starts == ("letter",)
    assert "letter.main" in outputs(execution)


def test_a_paused_execution_moves_and_stays_paused(queue: World) -> None:
    workflow = versions(around(REST, new=False), around(REST, new=True))
    execution = begun(workflow, queue)
    executions.pause(execution, actor=ACTOR)

    move_execution(execution, move_of(workflow), actor=ACTOR)
    queue.drain()

    assert WorkflowExecution.objects.get(pk=execution).state == "PAUSED"
    executions.resume(execution, actor=ACTOR)
    wake_timer(Run.objects.get(execution=execution, step_path="rest.main"))
    queue.drain()
    assert ended(execution).state == "SUCCESS"


def test_one_that_ended_or_is_elsewhere_does_not_move(queue: World) -> None:
    workflow = versions(around(REST, new=False), around(REST, new=True))
    execution = begun(workflow, queue)
    move_execution(execution, move_of(workflow), actor=ACTOR)

    with pytest.raises(NotOnVersion, match="is on version 2, not on version 1"):
        move_execution(execution, move_of(workflow), actor=ACTOR)
    executions.cancel(execution, actor=ACTOR)
    with pytest.raises(NotOnVersion, match="is CANCELLED"):
        move_execution(execution, move_of(workflow), actor=ACTOR)


def test_a_worker_that_loaded_the_old_step_cannot_claim_it(queue: World) -> None:
    old = [effect("one", value="old"), effect("two", "one", value="old")]
    new = [effect("one", value="new"), effect("two", "one", value="new")]
    workflow = versions(old, new)
    execution = start(workflow, version=1)
    move = move_of(workflow)
    loaded = load_segment.load(execution, move.source_id, "one.main")
    assert loaded is not None

    move_execution(execution, move, actor=ACTOR)

    assert claim_run.claim(*loaded) is None
    queue.drain()  # the old message, with the old version, and the new one
    assert ended(execution).state == "SUCCESS"
    assert set(outputs(execution).values()) == {"new"}


def test_a_step_that_a_worker_executes_is_not_interrupted(queue: World) -> None:
    steps = [effect("one", value="1"), effect("other", value="1"), effect("two", "one", value="2")]
    workflow = versions(steps, [*steps, effect("three", "two", value="3")])
    execution = start(workflow, version=1)
    move = move_of(workflow)

    for path, running in (
        ("one.main", "^Step `one` is running"),
        ("other.main", r"^These steps are running or due: `one`, `other`\."),
    ):
        loaded = load_segment.load(execution, move.source_id, path)
        assert loaded is not None
        assert claim_run.claim(*loaded) is not None
        with pytest.raises(StepRunning, match=running):
            move_execution(execution, move, actor=ACTOR)


MAP = {"items": "{{ [1, 2, 3] }}"}


def mapped(*body: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        effect("one", value="1"),
        task("each", "flow.map", "one", **{"with": MAP, "body": {"tasks": list(body)}}),
        effect("last", "each", value="end"),
    ]  # fmt: skip


def test_the_items_of_a_map_go_on_in_the_new_version(queue: World) -> None:
    inner = task("rest", "flow.delay", **{"with": {"seconds": 86_400}})
    workflow = versions(mapped(inner), mapped(inner, effect("check", "rest", value="{{ item }}")))
    execution = begun(workflow, queue)
    first = Run.objects.get(execution=execution, step_path="each[0].rest.main")

    found = move_execution(execution, move_of(workflow), actor=ACTOR)
    for run in Run.objects.filter(execution=execution, step_path__startswith="each["):
        wake_timer(run)
    queue.drain()

    assert found.at == ("each", "each.rest")
    assert Run.objects.get(pk=first.pk).state == "SUCCESS"
    assert ended(execution).state == "SUCCESS"
    assert {f"each[{n}].check.main" for n in range(3)} <= set(outputs(execution))


def test_a_child_wakes_its_moved_parent(queue: World) -> None:
    child = publish({"tasks": [task("rest", "flow.delay", **{"with": {"seconds": 86_400}})]})
    call = task("call", "flow.subworkflow", "one", **{"with": {"workflow": child.slug}})
    old = [effect("one", value="1"), call, effect("last", "call", value="2")]
    workflow = versions(old, [*old, effect("more", "last", value="3")])
    execution = begun(workflow, queue)
    inner = WorkflowExecution.objects.get(parent=execution)

    move_execution(execution, move_of(workflow), actor=ACTOR)
    wake_timer(Run.objects.get(execution=inner, step_path="rest.main"))
    queue.drain()
    child_executions.wake_parent(inner.pk)
    queue.drain()

    assert ended(execution).state == "SUCCESS"
    assert "more.main" in outputs(execution)


def test_a_due_timer_and_a_move_do_not_lose_each_other(queue: World) -> None:
    soon = task("rest", "flow.delay", "one", **{"with": {"seconds": 86_400}})
    workflow = versions(around(soon, new=False), around(soon, new=True))
    execution = begun(workflow, queue)
    run = Run.objects.get(execution=execution, step_path="rest.main")
    wake_timer(run)  # woken, but no worker has taken it

    move_execution(execution, move_of(workflow), actor=ACTOR)
    queue.drain()
    waits.due_timers()

    assert ended(execution).state == "SUCCESS"
    assert Run.objects.filter(execution=execution, step_path="rest.main").count() == 1
