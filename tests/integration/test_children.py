"""Sub-workflows: the effects of a parent and its children on each other."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction

from dlq.intake.quarantine import quarantine
from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions import lifecycle, payloads
from executions.admission.capacity import active
from executions.errors import WrongState
from executions.models import Activity, Workflow, WorkflowExecution
from executions.publishing import versioning
from runners.containers import child_executions
from runners.dispatch import messages
from runners.errors import LeaseLost
from runners.models import Run, Waiter
from runners.recovery.sweeper import executions as duty
from tests.support import modules
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.segments import claimed, recorded, run_of
from tests.support.single_thread import World, world
from tests.support.workflows import ACTOR, effect, limited_workspace, publish, start, states, task
from valkyr_plugins.timetravel.rollback import roll_back

pytestmark = pytest.mark.django_db(transaction=True)

TASKS: dict[str, Callable[[UUID], Any]] = {
    child_executions.ENDED: child_executions.wake_parent,
    child_executions.CANCEL: child_executions.cancel_of,
    child_executions.LEAVE: child_executions.leave,
}
ADD = {
    "input": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    "tasks": [effect("add", value="{{ input.n + 1 }}")],
    "output": "{{ tasks.add.output }}",
}


class Engine:
    """The queue of segments, and the messages about parents and children, which the test
    delivers.
    """

    def __init__(self, queue: World) -> None:
        self.queue = queue
        self.told: list[tuple[str, UUID]] = []

    def tell(self, name: str, subject: UUID) -> None:
        """Replaces `dispatch.tell`."""
        self.told.append((name, subject))

    def run(self) -> None:
        """Work until nothing is left; deliver the messages about parents and children first."""
        while self.told or self.queue.queue or self.queue.workers:
            if self.told:
                name, subject = self.told.pop()
                TASKS[name](subject)
            else:
                self.queue.turn()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    modules.install()
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as queue:
        made = Engine(queue)
        monkeypatch.setattr(messages, "tell", made.tell)
        yield made
    modules.forget()


def call(slug: str, name: str = "call", after: Any = None, **given: Any) -> dict[str, Any]:
    """Return a task that calls a workflow."""
    return task(name, "flow.subworkflow", after, **{"with": {"workflow": slug, **given}})


def parent_of(child: Workflow, **given: Any) -> Workflow:
    document = {
        "tasks": [call(child.slug, **given)],
        "output": "{{ tasks.call.output }}",
    }
    return publish(document, child.workspace)


def one(execution_id: UUID) -> WorkflowExecution:
    return WorkflowExecution.objects.get(pk=execution_id)


def child_of(execution_id: UUID) -> WorkflowExecution:
    return WorkflowExecution.objects.get(parent_id=execution_id)


def error_of(execution_id: UUID, path: str = "call.main") -> str:
    return run_of(execution_id, path).error


def a_while_ago(execution_id: UUID) -> None:
    """Let the execution have ended so long ago that its message must be lost."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE executions_workflowexecution SET finished_at = finished_at - interval '10 s' "
            "WHERE id = %s",
            [execution_id],
        )


def test_a_step_waits_for_its_child_and_goes_on_with_what_it_returns(engine: Engine) -> None:
    parent = start(parent_of(publish(ADD), input={"n": "{{ input.n * 2 }}"}), {"n": 3}, priority=8)
    engine.queue.drain()
    child = child_of(parent)
    assert (child.state, child.output) == ("SUCCESS", 7)
    assert (child.depth, child.priority, child.trigger_type) == (1, 8, "MANUAL")
    assert child.parent_run_id == run_of(parent, "call.main").pk
    waiting = run_of(parent, "call.main")
    assert (waiting.state, waiting.waits_for) == ("WAITING", "child")
    assert waiting.progress["executionId"] == str(child.pk)
    assert Waiter.objects.get(run=waiting).key == str(child.pk)
    engine.run()
    assert one(parent).state == "SUCCESS"
    assert one(parent).output == {"executionId": str(child.pk), "output": 7}
    assert not Waiter.objects.exists()


def test_a_step_that_does_not_wait_is_done_at_once_and_its_child_outlives_the_parent(
    engine: Engine,
) -> None:
    parent = start(parent_of(publish(ADD), input={"n": 1}, wait=False))
    engine.queue.queue = [m for m in engine.queue.queue if m.execution == parent]
    while one(parent).state == "RUNNING":
        engine.queue.turn()
    child = child_of(parent)
    assert one(parent).state == "SUCCESS"
    assert one(parent).output == {"executionId": str(child.pk)}
    assert (child.parent_run_id, child.parent_id) == (None, parent)
    engine.run()
    assert one(child.pk).state == "SUCCESS"


def test_a_child_that_fails_fails_the_step_which_takes_its_error_edge(engine: Engine) -> None:
    fails = publish({"tasks": [effect("a", failTimes=9, errorType="PERMANENT", retry="none")]})
    told = {"value": "{{ tasks.call.error.message }}"}
    parent = start(
        publish(
            {
                "tasks": [
                    call(fails.slug),
                    task("mend", "flow.noop", "call:error", **{"with": told}),
                ],
                "output": "{{ tasks.mend.output }}",
            }
        )
    )
    engine.run()
    child = child_of(parent)
    assert (one(parent).state, child.state) == ("SUCCESS", "FAILED")
    assert str(child.pk) in one(parent).output
    assert child.error_message in one(parent).output
    failed = run_of(parent, "call.main")
    assert failed.error_type == "PERMANENT"
    assert failed.error_details["details"] == {"executionId": str(child.pk), "state": "FAILED"}


def test_a_requeued_call_starts_a_new_child(engine: Engine) -> None:
    fails = publish(
        {
            "tasks": [effect("a", failTimes="{{ input.times }}", retry="none")],
            "output": "{{ tasks.a.outcome }}",
        }
    )
    parent = start(parent_of(fails, input={"times": 9}))
    engine.run()
    assert one(parent).state == "FAILED"
    letter = DeadLetterEntry.objects.get(execution_id=parent)
    requeue(letter.pk, actor=ACTOR, overrides={"input": {"times": 0}})
    engine.run()
    assert one(parent).state == "SUCCESS"
    found = WorkflowExecution.objects.filter(parent_id=parent).order_by("created_at")
    assert [child.state for child in found] == ["FAILED", "SUCCESS"]


def test_a_child_that_goes_on_after_its_failure_does_not_move_the_parent(engine: Engine) -> None:
    fails = publish({"tasks": [effect("a", failTimes=9, retry="none")]})
    parent = start(parent_of(fails))
    engine.run()
    letter = DeadLetterEntry.objects.get(execution=child_of(parent))
    requeue(letter.pk, actor=ACTOR, overrides={"failTimes": 0})
    duty.child_executions()
    engine.run()
    assert child_of(parent).state == "SUCCESS"
    assert one(parent).state == "FAILED"
    assert run_of(parent, "call.main").state == "DLQ"


def _unknown(child: Workflow) -> dict[str, Any]:
    return call("no-such-workflow")


def _disabled(child: Workflow) -> dict[str, Any]:
    versioning.update_workflow(child.pk, {"enabled": False}, actor=ACTOR, expected_revision=None)
    return call(child.slug, input={"n": 1})


def _archived(child: Workflow) -> dict[str, Any]:
    versioning.archive_workflow(child.pk, actor=ACTOR)
    return call(child.slug, input={"n": 1})


def _no_version(child: Workflow) -> dict[str, Any]:
    return call(child.slug, input={"n": 1}, version=7)


def _bad_payload(child: Workflow) -> dict[str, Any]:
    return call(child.slug, input={"n": "many"})


def _elsewhere(child: Workflow) -> dict[str, Any]:
    return call(publish(ADD, limited_workspace(9)).slug, input={"n": 1})


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (_unknown, "there is no workflow 'no-such-workflow' in this workspace"),
        (_disabled, "is disabled"),
        (_archived, "there is no workflow"),
        (_no_version, "has no published version 7"),
        (_bad_payload, "input.n: it is not of type 'integer'"),
        (_elsewhere, "in this workspace"),
    ],
)
def test_a_child_that_cannot_be_started_fails_the_step_for_good(
    engine: Engine, prepare: Callable[[Workflow], dict[str, Any]], reason: str
) -> None:
    parent = start(publish({"tasks": [prepare(publish(ADD))]}))
    engine.run()
    assert one(parent).state == "FAILED"
    run = run_of(parent, "call.main")
    assert (run.state, run.error_type) == ("DLQ", "PERMANENT")
    assert reason in run.error
    assert not WorkflowExecution.objects.filter(parent_id=parent).exists()
    assert not Waiter.objects.exists()


def test_a_workflow_that_calls_itself_for_ever_is_cut_and_the_chain_is_named(
    engine: Engine,
) -> None:
    slug = f"again-{uuid4().hex[:8]}"
    workflow = versioning.create_workflow(
        publish(ADD).workspace,
        name="again",
        slug=slug,
        definition={"schema": "valkyr/1", "name": "again", "tasks": [call(slug)]},
        actor=ACTOR,
    )
    versioning.publish(workflow.pk, actor=ACTOR)
    workflow.refresh_from_db()
    root = start(workflow)
    engine.run()
    found = WorkflowExecution.objects.filter(workflow=workflow)
    assert sorted(found.values_list("depth", flat=True)) == list(range(17))
    assert {e.state for e in found} == {"FAILED"}
    deepest = error_of(found.get(depth=16).pk)
    assert "at most 16 are allowed" in deepest
    assert " > ".join([slug] * 18) in deepest
    assert one(root).error_message.startswith("Step call.main failed permanently")


def test_a_child_takes_no_place_of_its_workspace_and_no_key(engine: Engine) -> None:
    workspace = limited_workspace(1)
    keyed = publish({**ADD, "settings": {"concurrency": {"key": "all", "limit": 1}}}, workspace)
    parent = start(parent_of(keyed, input={"n": 1}))
    held = start(keyed, {"n": 5})
    assert states([parent, held]) == {parent: "RUNNING", held: "PENDING"}
    engine.run()
    assert one(parent).state == "SUCCESS"
    assert child_of(parent).concurrency_key is None
    assert one(held).state == "SUCCESS", "it was let in when the parent had ended"
    assert active(workspace.pk) == 0


def test_the_child_of_an_error_workflow_belongs_to_its_failure(engine: Engine) -> None:
    fails = effect("a", failTimes=9, errorType="PERMANENT", retry="none")
    slug = f"notify-{uuid4().hex[:8]}"
    inner = publish({"tasks": [fails], "settings": {"onFailure": {"workflow": slug}}})
    notify = versioning.create_workflow(
        inner.workspace,
        name="notify",
        slug=slug,
        definition={"schema": "valkyr/1", "name": "notify", "tasks": [call(inner.slug)]},
        actor=ACTOR,
    )
    versioning.publish(notify.pk, actor=ACTOR)
    start(inner)
    engine.run()
    assert WorkflowExecution.objects.filter(workflow=notify).count() == 1


def family_root() -> UUID:
    """Start the first of three generations; the last has a ready step."""
    return start(parent_of(parent_of(publish({"tasks": [effect("a")]}))))


def grown(engine: Engine, root: UUID) -> list[UUID]:
    """Deliver only the calls; return the family's ids, the eldest first."""
    family = [root]
    for _ in range(2):
        engine.queue.queue = [m for m in engine.queue.queue if m.execution == family[-1]]
        while run_of(family[-1], "call.main").state != "WAITING":
            engine.queue.turn()
        family.append(child_of(family[-1]).pk)
    return family


def test_cancelling_a_parent_cancels_its_children_and_theirs(engine: Engine) -> None:
    root = family_root()
    family = grown(engine, root)
    lifecycle.cancel(root, actor=ACTOR)
    engine.run()
    assert set(states(family).values()) == {"CANCELLED"}
    assert not Waiter.objects.exists()
    assert one(family[1]).error_message == "Cancelled by its parent execution."
    assert Activity.objects.filter(object_id=family[2], action="execution.cancel").count() == 1


def test_a_parent_that_runs_out_of_time_takes_its_children_along(engine: Engine) -> None:
    root = family_root()
    family = grown(engine, root)
    lifecycle.time_out(root)
    engine.run()
    assert [one(pk).state for pk in family] == ["TIMEOUT", "CANCELLED", "CANCELLED"]


def test_a_cancelled_child_fails_the_step_that_waits_for_it(engine: Engine) -> None:
    root = family_root()
    family = grown(engine, root)
    lifecycle.cancel(family[1], actor=ACTOR)
    engine.run()
    assert [one(pk).state for pk in family] == ["FAILED", "CANCELLED", "CANCELLED"]
    assert "was cancelled: Cancelled by tests." in error_of(root)


def test_a_pause_does_not_reach_children_and_their_end_waits_for_the_resume(
    engine: Engine,
) -> None:
    parent = start(parent_of(publish(ADD), input={"n": 1}))
    while run_of(parent, "call.main").state != "WAITING":
        engine.queue.turn()
    lifecycle.pause(parent, actor=ACTOR)
    engine.run()
    assert (one(parent).state, child_of(parent).state) == ("PAUSED", "SUCCESS")
    lifecycle.resume(parent, actor=ACTOR)
    engine.run()
    assert one(parent).state == "SUCCESS"


def test_the_sweeper_tells_the_parent_what_a_lost_message_would_have(engine: Engine) -> None:
    parent = start(parent_of(publish(ADD), input={"n": 1}))
    engine.queue.drain()
    engine.told.clear()
    assert duty.child_executions() == 0, "the message may still be on its way"
    a_while_ago(child_of(parent).pk)
    assert duty.child_executions() == 1
    assert duty.child_executions() == 0
    engine.run()
    assert one(parent).state == "SUCCESS"


def test_the_sweeper_cancels_children_whose_parent_is_gone(engine: Engine) -> None:
    root = family_root()
    family = grown(engine, root)
    lifecycle.cancel(root, actor=ACTOR)
    for _ in family[1:]:
        engine.told.clear()
        assert duty.child_executions() == 1
    engine.told.clear()
    assert duty.child_executions() == 0
    assert set(states(family).values()) == {"CANCELLED"}


def test_a_child_told_of_twice_wakes_its_parent_once(engine: Engine) -> None:
    parent = start(parent_of(publish(ADD), input={"n": 1}))
    engine.queue.drain()
    child = child_of(parent).pk
    assert [child_executions.wake_parent(child) for _ in range(3)] == [True, False, False]
    engine.run()
    assert one(parent).state == "SUCCESS"
    assert Run.objects.filter(execution_id=parent).count() == 1


def test_a_quarantined_call_lets_go_of_its_child(engine: Engine) -> None:
    parent = start(parent_of(publish(ADD), input={"n": 1}))
    while run_of(parent, "call.main").state != "WAITING":
        engine.queue.turn()
    letter = quarantine(run_of(parent, "call.main").pk, actor=ACTOR, reason="wrong warehouse")
    engine.run()
    assert (one(parent).state, child_of(parent).state) == ("FAILED", "CANCELLED")
    requeue(letter.pk, actor=ACTOR)
    engine.run()
    assert one(parent).state == "SUCCESS"
    found = WorkflowExecution.objects.filter(parent_id=parent).order_by("created_at")
    assert [child.state for child in found] == ["CANCELLED", "SUCCESS"]


def test_a_roll_back_cancels_the_child_of_the_step_it_undoes(engine: Engine) -> None:
    child = publish({"tasks": [effect("a")]})
    tasks = [effect("before"), call(child.slug, after="before")]
    parent = start(publish({"tasks": tasks}))
    while not WorkflowExecution.objects.filter(parent_id=parent).exists():
        engine.queue.turn()
    first = child_of(parent).pk
    roll_back(parent, step_path="before.main", actor=ACTOR)
    engine.run()
    found = dict(WorkflowExecution.objects.filter(parent_id=parent).values_list("pk", "state"))
    assert found.pop(first) == "CANCELLED"
    assert list(found.values()) == ["SUCCESS"]
    assert one(parent).state == "SUCCESS"


def test_a_parent_that_is_cancelled_first_starts_no_child(engine: Engine) -> None:
    parent = start(parent_of(publish(ADD), input={"n": 1}))
    held = claimed(parent, "call.main")
    with Rivals() as rivals, transaction.atomic():
        lifecycle.cancel(parent, actor=ACTOR)
        late = rivals.begin(recorded, held)
        wait_until_blocked(my_session())
    with pytest.raises(LeaseLost):
        late.result(60)
    assert not WorkflowExecution.objects.filter(parent_id=parent).exists()


def test_a_child_that_is_started_first_is_cancelled_with_its_parent(engine: Engine) -> None:
    parent = start(parent_of(publish(ADD), input={"n": 1}))
    held = claimed(parent, "call.main")
    with Rivals() as rivals, transaction.atomic():
        assert recorded(held) is None
        late = rivals.begin(lifecycle.cancel, parent, actor=ACTOR)
        wait_until_blocked(my_session())
    late.result(60)
    engine.run()
    assert (one(parent).state, child_of(parent).state) == ("CANCELLED", "CANCELLED")


def test_a_child_and_its_parent_that_end_at_once_never_wait_in_a_circle(engine: Engine) -> None:
    parents = [start(parent_of(publish(ADD), input={"n": 1})) for _ in range(8)]
    engine.queue.drain()
    engine.told.clear()
    found = [child_of(parent).pk for parent in parents]
    with Rivals(16) as rivals:
        acts = [rivals.begin(child_executions.wake_parent, child) for child in found]
        acts += [rivals.begin(lifecycle.cancel, parent, actor=ACTOR) for parent in parents]
        for act in acts:
            act.result(60)
    assert set(states(parents).values()) == {"CANCELLED"}
    assert set(states(found).values()) == {"SUCCESS"}
    assert not Waiter.objects.exists()


def test_a_failed_child_of_a_cancelled_parent_cannot_go_on(engine: Engine) -> None:
    fails = publish({"tasks": [effect("a", failTimes=9, retry="none")]})
    later = {"tasks": [call(fails.slug, wait=False), effect("b", "call")]}
    parent = start(publish(later))
    while not WorkflowExecution.objects.filter(parent_id=parent).exists():
        engine.queue.turn()
    child = child_of(parent).pk
    engine.queue.queue = [m for m in engine.queue.queue if m.execution == child]
    engine.queue.workers.clear()
    engine.run()
    assert one(child).state == "FAILED"
    lifecycle.cancel(parent, actor=ACTOR)
    letter = DeadLetterEntry.objects.get(execution_id=child)
    with pytest.raises(WrongState, match="its parent execution"):
        requeue(letter.pk, actor=ACTOR)
    letter.refresh_from_db()
    assert letter.resolution == "PENDING"


def test_children_are_called_from_the_items_of_a_map(engine: Engine) -> None:
    add = publish(ADD)
    body = {"tasks": [call(add.slug, input={"n": "{{ item }}"})]}
    each = task("all", "flow.map", **{"with": {"items": [1, 2, 3], "maxConcurrency": 2}}, body=body)
    parent = start(
        publish(
            {"tasks": [each], "output": "{{ tasks.all.output | map(attribute='output') | list }}"}
        )
    )
    engine.run()
    assert one(parent).state == "SUCCESS"
    assert one(parent).output == [2, 3, 4]


def test_an_empty_child_ends_within_its_start(engine: Engine) -> None:
    parent = start(parent_of(publish({"tasks": []})))
    engine.run()
    assert one(parent).output == {"executionId": str(child_of(parent).pk), "output": None}


def test_an_output_that_only_just_fits_the_child_fails_the_step_by_name(engine: Engine) -> None:
    parent = start(parent_of(publish(ADD), input={"n": 1}))
    engine.queue.drain()
    large = "x" * (payloads.MAX_BYTES - 2)
    WorkflowExecution.objects.filter(parent_id=parent).update(output=large)
    engine.run()
    assert "its output cannot be used" in error_of(parent)
