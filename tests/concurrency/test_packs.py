"""One statement records a sibling and claims the next: only one worker wins, and late results are
fenced.
"""

import time
from collections import deque
from collections.abc import Iterator
from uuid import UUID

import pytest

from executions import lifecycle
from executions.definition.versions import compiled
from executions.models import WorkflowExecution
from runners.dispatch import estimates, messages
from runners.dispatch.canvas import Parcel
from runners.errors import LeaseLost
from runners.pipeline import claim_run, execute, receive, record_result
from runners.segment.packs import SiblingPack
from runners.segment.state import Segment, SegmentState
from runners.segment.work import Work
from tests.support.segments import claimed, lease_runs_out, recorded, run_of
from tests.support.single_thread import configured
from tests.support.workflows import ACTOR, publish, start, task

FAN = {
    "tasks": [
        *[task(f"b{n}", "test.effect") for n in range(3)],
        task("end", "test.effect", ["b0", "b1", "b2"]),
    ]
}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Parcel]]:
    """Collect the messages to publish; the time limits of packs are so long that a busy machine
    does not reach them.
    """
    found: list[Parcel] = []
    monkeypatch.setattr(messages, "publish", found.extend)
    with configured(pack_patience=600, pack_trial=600):
        yield found


def sizes(parcels: list[Parcel]) -> list[int]:
    """Return how many segments each message carries."""
    links = [canvas.links[0] for parcel in parcels for canvas in parcel.canvas]
    return [1 + len(link.others) for link in links]


def taken_up(execution: UUID, *, header: bool = True) -> tuple[SegmentState, Work]:
    """Take a message of all three siblings as a worker does, and claim the first one."""
    version = WorkflowExecution.objects.values_list("version_id", flat=True).get(pk=execution)
    others = deque(["b1.main", "b2.main"])
    taken = receive.claim_segment(
        execution, version, Segment("b0.main", "", ""), others, header=header
    )
    assert taken is not None
    state, work = taken
    assert work is not None
    return state, work


def go_on(state: SegmentState, work: Work) -> Work | None:
    return record_result.record(state, work, execute.perform(state, work))


def test_a_siblings_record_claims_the_next(engine: None, sent: list[Parcel]) -> None:
    execution = start(publish(FAN))
    state, work = taken_up(execution)
    following = go_on(state, work)
    assert following is not None
    assert (following.path, following.token) == ("b1.main", 1)
    first, second = run_of(execution, "b0.main"), run_of(execution, "b1.main")
    assert (first.state, second.state) == ("SUCCESS", "RUNNING")
    assert second.leased_by == following.holder
    assert second.idempotency_key
    assert second.started_at is not None
    assert first.finished_at is not None
    assert second.started_at >= first.finished_at


def test_a_sibling_that_somebody_took_is_passed_over(engine: None, sent: list[Parcel]) -> None:
    execution = start(publish(FAN))
    state, work = taken_up(execution)
    claimed(execution, "b1.main")
    assert go_on(state, work) is None
    assert run_of(execution, "b0.main").state == "SUCCESS"
    following = claim_run.claim_following(state)
    assert following is not None
    assert following.path == "b2.main"
    assert run_of(execution, "b1.main").lease_token == 1


def test_a_sibling_that_is_claimed_later_is_a_segment_of_its_own(
    engine: None, sent: list[Parcel]
) -> None:
    steps = [{"id": name, "use": "test.effect", "with": {}} for name in ("main", "next")]
    several = [{"id": f"b{n}", "modules": steps} for n in range(3)]
    joined = task("end", after=[branch["id"] for branch in several])
    execution = start(publish({"tasks": [*several, joined]}))
    state, work = taken_up(execution)
    claimed(execution, "b1.main")
    going = go_on(state, work)
    assert going is not None
    assert going.path == "b0.next", "the rest of its own segment comes before a sibling"
    while going is not None:
        going = go_on(state, going)
    following = claim_run.claim_following(state)
    assert following is not None
    last = go_on(state, following)
    assert last is not None
    found = {path: run_of(execution, path).segment for path in ("b0.next", "b2.next")}
    assert found == {"b0.next": "b0.main", "b2.next": "b2.main"}
    assert (state.carried, state.seconds) == (2, 2 * last.step.timeout_seconds)


@pytest.mark.parametrize("known", [True, False])
def test_a_worker_is_patient_with_siblings_of_which_the_durations_are_known(
    engine: None, sent: list[Parcel], known: bool
) -> None:
    workflow = publish(FAN)
    first = start(workflow)
    for path in ("b0.main", "b1.main", "b2.main"):
        held = claimed(first, path)
        recorded(held)
    if not known:
        workflow = publish({**FAN, "name": "other"})
    execution = start(workflow)
    estimates.forget_durations()  # as another process, which finds them in the table
    with configured(pack_patience=600, pack_trial=60):
        state, _ = taken_up(execution)
    assert state.pack is not None
    left = state.pack.until - time.monotonic()
    assert (500 < left < 600) if known else (50 < left < 60)


def test_pure_steps_are_written_before_a_sibling_is_claimed(
    engine: None, sent: list[Parcel]
) -> None:
    """Pure steps are written before a sibling is claimed: the record of a sibling has no room for
    them, so the next one is claimed separately.
    """
    pure = [task(f"b{n}") for n in range(3)] + [task("more", after="b0")]
    rest = [task("skipped", after="b1:error"), task("end", after=["more", "b1", "b2"])]
    execution = start(publish({"tasks": [*pure, *rest]}))
    with configured(stretch_steps=32):
        state, work = taken_up(execution)
        assert go_on(state, work) is None
        following = claim_run.claim_following(state)
        assert following is not None
        assert go_on(state, following) is None
    found = {path: run_of(execution, path).state for path in ("more.main", "skipped.main")}
    assert found == {"more.main": "SUCCESS", "skipped.main": "SKIPPED"}
    assert run_of(execution, "b2.main").state == "PENDING"


def test_a_pause_lets_no_sibling_begin(engine: None, sent: list[Parcel]) -> None:
    execution = start(publish(FAN))
    state, work = taken_up(execution)
    lifecycle.pause(execution, actor=ACTOR)
    assert go_on(state, work) is None
    assert claim_run.claim_following(state) is None
    states = [run_of(execution, f"b{n}.main").state for n in range(3)]
    assert states == ["SUCCESS", "PENDING", "PENDING"]


def test_a_worker_that_lost_its_lease_records_and_claims_nothing(
    engine: None, sent: list[Parcel]
) -> None:
    execution = start(publish(FAN))
    state, work = taken_up(execution)
    lease_runs_out(work.run_id)
    claimed(execution, "b0.main")
    with pytest.raises(LeaseLost):
        go_on(state, work)
    assert run_of(execution, "b1.main").state == "PENDING"
    sent.clear()
    receive.hand_back(state, None)
    segments = [canvas.links[0].segment for parcel in sent for canvas in parcel.canvas]
    assert segments == ["b1.main", "b2.main"], "the one it was about to claim among them"


def test_a_late_worker_leaves_the_others_to_others(engine: None, sent: list[Parcel]) -> None:
    execution = start(publish(FAN))
    state, work = taken_up(execution)
    assert state.pack is not None
    state.pack.until = 0
    sent.clear()
    assert go_on(state, work) is None
    assert sizes(sent) == [1, 1]
    assert not state.pack.left


@pytest.mark.parametrize(("begun", "left"), [(0, [1] * 9), (2, [2, 2, 2, 1]), (5, [4])])
def test_what_is_handed_back_goes_in_packs_of_what_was_carried_in_time(
    engine: None, sent: list[Parcel], begun: int, left: list[int]
) -> None:
    branches = [task(f"b{n}", "test.effect") for n in range(10)]
    workflow = publish(
        {"tasks": [*branches, task("end", "test.effect", [b["id"] for b in branches])]}
    )
    assert workflow.latest_version_id is not None
    pack = SiblingPack(
        compiled(workflow.latest_version_id),
        deque(f"b{n}.main" for n in range(1, 10)),
        until=0,
        priority=5,
        execution_id=start(workflow),
    )
    for _ in range(begun):
        pack.left.popleft()
    sent.clear()
    pack.hand_back()
    assert sizes(sent) == left
    assert sum(left) == 9 - begun


def test_a_pack_with_a_step_that_nobody_timed_is_carried_on_trial(
    engine: None, sent: list[Parcel]
) -> None:
    workflow = publish(FAN)
    assert workflow.latest_version_id is not None
    with configured(pack_patience=600, pack_trial=0.1):
        state, _ = taken_up(start(workflow))
        assert state.pack is not None
        assert state.pack.until - time.monotonic() <= 0.1
        for step in compiled(workflow.latest_version_id).graph.steps:
            estimates.note_duration(step, 1.0)
        state, _ = taken_up(start(workflow))
        assert state.pack is not None
        assert state.pack.until - time.monotonic() > 500


def test_a_process_learns_from_the_newest_runs_what_it_has_not_seen(
    engine: None, sent: list[Parcel]
) -> None:
    workflow = publish(FAN)
    state, work = taken_up(start(workflow))
    go_on(state, work)
    estimates.forget_durations()
    assert workflow.latest_version_id is not None
    graph = compiled(workflow.latest_version_id).graph
    first, second = (graph.steps[graph.by_path[f"b{n}.main"]] for n in range(2))
    estimates.learn_durations(workflow.pk, [first, second])
    assert (
        estimates.estimate_duration(first)
        == run_of(state.context.execution_id, "b0.main").duration_ms
    )
    assert estimates.estimate_duration(second) is None


def test_a_slower_run_is_believed_sooner_than_a_quicker_one(engine: None) -> None:
    version_id = publish(FAN).latest_version_id
    assert version_id is not None
    step = compiled(version_id).graph.steps[0]
    estimates.note_duration(step, 10)
    estimates.note_duration(step, 110)
    assert estimates.estimate_duration(step) == 60
    estimates.note_duration(step, 10)
    assert estimates.estimate_duration(step) == 50


def test_siblings_before_the_last_leave_the_join_to_it(engine: None, sent: list[Parcel]) -> None:
    execution = start(publish(FAN))
    state, work = taken_up(execution, header=False)
    second = go_on(state, work)
    assert second is not None
    third = go_on(state, second)
    assert third is not None
    after = go_on(state, third)
    assert after is not None
    assert after.path == "end.main"
    assert not state.owes_join


def test_a_join_is_looked_at_though_the_last_sibling_was_done_by_somebody_else(
    engine: None, sent: list[Parcel]
) -> None:
    execution = start(publish(FAN))
    state, work = taken_up(execution, header=False)
    for path in ("b1.main", "b2.main"):
        recorded(claimed(execution, path))
    assert go_on(state, work) is None
    assert claim_run.claim_following(state) is None
    assert state.owes_join
    sent.clear()
    receive.settle(state)
    [parcel] = sent
    [canvas] = parcel.canvas
    assert canvas.links[0].segment == "end.main"
