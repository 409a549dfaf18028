"""Executions that share one message: the end of one claims the next, even in races with other
claimants.
"""

from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest
from kombu.exceptions import OperationalError

from executions import lifecycle
from executions.database import transaction
from executions.definition.versions import compiled
from executions.models import Workflow, WorkflowExecution
from runners.dispatch import estimates, messages
from runners.dispatch.canvas import Chain, Parcel
from runners.errors import LeaseLost, StepFailed
from runners.models import Run
from runners.pipeline import claim_run, execute, load_segment, receive, record_result
from runners.process import activity
from runners.segment.packs import ExecutionPack
from runners.segment.state import SegmentState
from runners.segment.work import Work
from tests.support.auditor import audit
from tests.support.modules import marks
from tests.support.rivals import Rivals
from tests.support.round_trips import round_trips
from tests.support.segments import claimed, lease_runs_out, run_of
from tests.support.single_thread import World, configured, world
from tests.support.workflows import (
    ACTOR,
    effect,
    limited_workspace,
    publish,
    start_many,
    states,
    task,
)

ONE = {"tasks": [task("only", "test.effect", **{"with": {"value": "{{ input.n }}"}})]}
SEGMENT = "only.main"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Parcel]]:
    """Collect the messages to publish; the time limits of packs are so long that a busy machine
    does not reach them.
    """
    found: list[Parcel] = []
    monkeypatch.setattr(messages, "publish", found.extend)
    with configured(pack_patience=600, pack_trial=600):
        yield found


def several(document: dict[str, Any], number: int) -> list[UUID]:
    return start_many(publish(document), [{"n": n} for n in range(number)])


def version_of(execution: UUID) -> UUID:
    return WorkflowExecution.objects.values_list("version_id", flat=True).get(pk=execution)


def begun(ids: list[UUID]) -> tuple[ExecutionPack[SegmentState], SegmentState, Work]:
    """Load a pack of these executions, and claim the first one."""
    pack = load_segment.load_pack(version_of(ids[0]), SEGMENT, ids)
    first = receive.next_execution(pack)
    assert first is not None
    return pack, *first


def end(state: SegmentState, work: Work) -> None:
    assert record_result.record(state, work, execute.perform(state, work)) is None


def sizes(parcels: list[Parcel]) -> list[int]:
    """Return the number of executions in each message."""
    return [1 + len(parcel.others) for parcel in parcels]


def carry(parcels: list[Parcel]) -> None:
    """Process these messages as a worker does."""
    for item in list(parcels):
        [canvas] = item.canvas
        assert isinstance(canvas, Chain)
        ids = [item.execution_id, *item.others]
        receive.run_executions(ids, item.version_id, canvas.links[0].segment)


def test_a_batch_goes_in_packs_of_at_most_so_many(engine: None, sent: list[Parcel]) -> None:
    several(ONE, 120)
    assert sizes(sent) == [40, 40, 40]
    with configured(pack_steps=7):
        sent.clear()
        several(ONE, 15)
        assert sizes(sent) == [5, 5, 5]


def test_a_pack_holds_no_more_work_than_its_time(engine: None, sent: list[Parcel]) -> None:
    workflow = publish(ONE)
    assert workflow.latest_version_id is not None
    estimates.note_duration(compiled(workflow.latest_version_id).graph.steps[0], 10.0)
    start_many(workflow, [{"n": n} for n in range(12)])
    assert sizes(sent) == [4, 4, 4], "50 ms of steps that take 10 ms"


@pytest.mark.parametrize(
    "document",
    [
        {"tasks": [{**task("only", "test.effect"), "queue": "io"}]},
        {"tasks": [task("only", "test.effect")], "variables": {"n": 1}},
    ],
    ids=["io", "variables"],
)
def test_what_waits_or_shares_variables_goes_alone(
    engine: None, sent: list[Parcel], document: dict[str, Any]
) -> None:
    several(document, 4)
    assert sizes(sent) == [1] * 4


def test_roots_of_one_workflow_go_in_packs_of_their_own(engine: None, sent: list[Parcel]) -> None:
    several({"tasks": [task("a", "test.effect"), task("b", "test.effect")]}, 6)
    assert sorted(sizes(sent)) == [6, 6]


def test_the_end_of_one_claims_the_next(engine: None, sent: list[Parcel]) -> None:
    ids = several(ONE, 3)
    pack, state, work = begun(ids)
    end(state, work)
    assert states(ids) == {ids[0]: "SUCCESS", ids[1]: "RUNNING", ids[2]: "RUNNING"}
    second = run_of(ids[1], SEGMENT)
    assert (second.state, second.lease_token, second.leased_by) == ("RUNNING", 1, work.holder)
    assert second.inputs == {"value": 1}
    assert pack.claimed is not None
    following = receive.next_execution(pack)
    assert following is not None
    end(*following)
    assert states(ids)[ids[1]] == "SUCCESS"
    assert run_of(ids[1], SEGMENT).outputs == 1


def test_a_pack_of_twenty_asks_the_database_a_little_more_than_twenty_times(
    engine: None, sent: list[Parcel]
) -> None:
    ids = several(ONE, 20)
    version = version_of(ids[0])
    with round_trips() as trips:
        receive.run_executions(ids, version, SEGMENT)
    assert set(states(ids).values()) == {"SUCCESS"}
    assert len(trips) <= 20 + 4


def test_the_next_is_not_waited_for_where_somebody_has_it(
    engine: None, sent: list[Parcel], rivals: Rivals
) -> None:
    ids = several(ONE, 2)
    pack, state, work = begun(ids)
    with transaction.atomic():
        WorkflowExecution.objects.select_for_update().get(pk=ids[1])
        rivals.begin(end, state, work).result(60)
    assert states(ids) == {ids[0]: "SUCCESS", ids[1]: "RUNNING"}
    assert pack.claimed is None
    following = receive.next_execution(pack)
    assert following is not None, "claimed by itself, now that nobody has it"
    end(*following)
    assert states(ids)[ids[1]] == "SUCCESS"


@pytest.mark.parametrize("meddle", [lifecycle.cancel, lifecycle.pause])
def test_an_execution_that_was_stopped_meanwhile_is_passed_over(
    engine: None, sent: list[Parcel], meddle: Any
) -> None:
    ids = several(ONE, 3)
    pack, state, work = begun(ids)
    meddle(ids[1], actor=ACTOR)
    end(state, work)
    following = receive.next_execution(pack)
    assert following is not None
    assert following[0].context.execution_id == ids[2]
    assert not marks(ids[1])


def test_one_that_somebody_took_is_passed_over(engine: None, sent: list[Parcel]) -> None:
    ids = several(ONE, 3)
    pack, state, work = begun(ids)
    claimed(ids[1], SEGMENT)
    end(state, work)
    following = receive.next_execution(pack)
    assert following is not None
    assert following[0].context.execution_id == ids[2]
    assert run_of(ids[1], SEGMENT).lease_token == 1


def test_who_lost_one_goes_on_with_the_next(engine: None, sent: list[Parcel]) -> None:
    ids = several(ONE, 2)
    pack, state, work = begun(ids)
    lease_runs_out(work.run_id)
    claimed(ids[0], SEGMENT)
    with pytest.raises(LeaseLost):
        record_result.record(state, work, execute.perform(state, work))
    following = receive.next_execution(pack)
    assert following is not None
    end(*following)
    assert states(ids) == {ids[0]: "RUNNING", ids[1]: "SUCCESS"}


def test_a_failure_is_its_own_executions_alone(engine: None, sent: list[Parcel]) -> None:
    odd = {"n": "{{ input.n }}", "failTimes": "{{ 9 if input.n == 1 else 0 }}"}
    step = task("only", "test.effect", retry={"maxAttempts": 1}, **{"with": odd})
    del odd["n"]
    ids = several({"tasks": [step]}, 4)
    with pytest.raises(StepFailed, match="1 of 4 executions; the first: StepError: try 1 fails"):
        receive.run_executions(ids, version_of(ids[0]), SEGMENT)
    assert [states(ids)[pk] for pk in ids] == ["SUCCESS", "FAILED", "SUCCESS", "SUCCESS"]


def test_a_late_worker_leaves_the_rest_to_others(engine: None, sent: list[Parcel]) -> None:
    ids = several(ONE, 10)
    pack, state, work = begun(ids)
    end(state, work)
    following = receive.next_execution(pack)
    assert following is not None
    pack.until = 0
    sent.clear()
    end(*following)
    assert pack.claimed is None, "nothing more is begun by who is late"
    pack.hand_back()
    assert sizes(sent) == [2, 2, 2, 2], "packs of what was carried in time"
    carry(sent)
    assert set(states(ids).values()) == {"SUCCESS"}
    assert [len(marks(pk)) for pk in ids] == [1] * 10


@pytest.mark.parametrize(("column", "suspect"), [("suspect", True), ("lease_token", False)])
def test_one_that_was_tried_before_is_claimed_by_itself(
    engine: None, sent: list[Parcel], column: str, suspect: bool
) -> None:
    """An execution that was tried before is claimed separately: the steps after a suspect's step
    get their own runs, which can be blamed.
    """
    ids = several(ONE, 2)
    Run.objects.filter(execution_id=ids[1]).update(**{column: 1})
    pack, state, work = begun(ids)
    end(state, work)
    assert pack.claimed is None
    assert run_of(ids[1], SEGMENT).state == "PENDING"
    following = receive.next_execution(pack)
    assert following is not None
    assert following[0].hands_over is suspect
    end(*following)
    assert set(states(ids).values()) == {"SUCCESS"}


def test_a_worker_that_ends_begins_no_more_of_a_pack(engine: None, sent: list[Parcel]) -> None:
    ids = several(ONE, 4)
    sent.clear()
    activity.begin_draining()
    try:
        receive.run_executions(ids, version_of(ids[0]), SEGMENT)
    finally:
        activity.forget_draining()
    assert [states(ids)[pk] for pk in ids] == ["SUCCESS", "RUNNING", "RUNNING", "RUNNING"]
    assert sum(sizes(sent)) == 3


def test_a_run_that_was_claimed_just_before_its_worker_ends_is_given_back(
    engine: None, sent: list[Parcel], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = several(ONE, 4)
    sent.clear()
    ask = claim_run.request_next

    def asked(*args: Any) -> Any:
        request = ask(*args)
        activity.begin_draining()  # the worker learns it while it claims the next run
        return request

    monkeypatch.setattr(claim_run, "request_next", asked)
    try:
        receive.run_executions(ids, version_of(ids[0]), SEGMENT)
    finally:
        activity.forget_draining()
    assert [states(ids)[pk] for pk in ids] == ["SUCCESS", "RUNNING", "RUNNING", "RUNNING"]
    assert run_of(ids[1], SEGMENT).state == "PENDING"
    assert sum(sizes(sent)) == 3
    monkeypatch.undo()
    carry(sent)
    assert set(states(ids).values()) == {"SUCCESS"}


def test_an_error_of_the_engine_in_one_execution_holds_up_no_other(
    engine: None, sent: list[Parcel], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = several(ONE, 5)
    sent.clear()
    perform = execute.perform

    def broken(state: SegmentState, work: Work) -> Any:
        if state.context.execution_id == ids[1]:
            raise RuntimeError("a defect")
        return perform(state, work)

    with monkeypatch.context() as patch:
        patch.setattr(execute, "perform", broken)
        with pytest.raises(RuntimeError, match="a defect"):
            receive.run_executions(ids, version_of(ids[0]), SEGMENT)
    assert sum(sizes(sent)) == 3
    carry(sent)
    assert [states(ids)[pk] for pk in ids] == ["SUCCESS", "RUNNING", *["SUCCESS"] * 3]


def test_a_worker_that_lost_one_begins_no_other_where_it_ends(
    engine: None, sent: list[Parcel], monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = several(ONE, 3)
    sent.clear()
    perform = execute.perform

    def overtaken(state: SegmentState, work: Work) -> Any:
        unit = perform(state, work)
        lease_runs_out(work.run_id)
        claimed(state.context.execution_id, SEGMENT)
        activity.begin_draining()
        return unit

    with monkeypatch.context() as patch:
        patch.setattr(execute, "perform", overtaken)
        try:
            receive.run_executions(ids, version_of(ids[0]), SEGMENT)
        finally:
            activity.forget_draining()
    assert sum(sizes(sent)) == 2
    assert not marks(ids[1])


def test_a_message_that_comes_twice_does_nothing_twice(engine: None, sent: list[Parcel]) -> None:
    ids = several(ONE, 5)
    carry(sent)
    carry(sent)
    assert set(states(ids).values()) == {"SUCCESS"}
    assert [len(marks(pk)) for pk in ids] == [1] * 5


def test_a_message_of_a_segment_that_nobody_knows_does_nothing(
    engine: None, sent: list[Parcel]
) -> None:
    ids = several(ONE, 2)
    receive.run_executions(ids, version_of(ids[0]), "elsewhere.main")
    assert set(states(ids).values()) == {"RUNNING"}


@pytest.mark.parametrize(
    "tasks",
    [
        [effect("a"), effect("b", "a", value="{{ tasks.a.output }}"), effect("c", "b")],
        [task("a"), effect("b", "a"), effect("c", "a"), effect("d", ["b", "c"])],
        [task("a", "flow.map", **{"with": {"items": [1, 2]}}, body={"tasks": [effect("x")]})],
        [task("a", "test.wait", **{"with": {"seconds": 0.01}}), effect("b", "a")],
        [],
    ],
    ids=["chain", "fan", "map", "wait", "nothing"],
)
def test_executions_of_every_shape_end_though_they_come_in_packs(
    queue: World, tasks: list[dict[str, Any]]
) -> None:
    ids = several({"tasks": tasks}, 6)
    assert any(message.more for message in queue.queue) == bool(tasks)
    for execution in ids:
        queue.drain_with_retries(execution)
    assert set(states(ids).values()) == {"SUCCESS"}
    audit(ids)


def test_what_could_not_be_sent_is_noted_of_all(
    engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("nobody answers")

    monkeypatch.setattr(messages, "_send", away)
    ids = several(ONE, 3)
    assert (
        list(Run.objects.filter(execution__in=ids).values_list("published_at", flat=True))
        == [None] * 3
    )


def test_what_is_sent_again_goes_in_packs(engine: None, sent: list[Parcel]) -> None:
    ids = several(ONE, 6)
    version = version_of(ids[0])
    sent.clear()
    messages.resend([(pk, version, 5, SEGMENT, "default", SEGMENT) for pk in ids])
    assert sizes(sent) == [6]


def test_a_full_workspace_sends_those_that_got_a_place_together(
    engine: None, sent: list[Parcel]
) -> None:
    workflow: Workflow = publish(ONE, limited_workspace(3))
    start_many(workflow, [{"n": n} for n in range(5)])
    assert sizes(sent) == [3]


@pytest.mark.parametrize("seed", range(12))
def test_whatever_workers_and_messages_do_each_execution_of_a_pack_ends_once(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    tasks = [[effect("a")], [effect("a"), effect("b", "a")], [task("a"), effect("b", "a")]]
    with world(Random(seed), monkeypatch, lose=0.1, double=0.2, die=0.1, pause=0.02) as chaotic:
        ids = several({"tasks": tasks[seed % 3]}, 8)
        for execution in ids:
            chaotic.run(execution)
        assert set(states(ids).values()) == {"SUCCESS"}
    audit(ids)
