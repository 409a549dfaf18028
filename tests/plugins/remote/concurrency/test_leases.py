"""Tests of races for runs of remote queues: leases, late reports, expired leases."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions import credentials, lifecycle
from executions.models import WorkflowExecution, Workspace
from runners.models import Run
from runners.pipeline import leased_runs
from runners.process.cause_of_death import crash
from runners.recovery.sweeper import leases, messages
from runners.segment.run_rows import release
from runners.states import ErrorType
from tests.support.auditor import audit
from tests.support.preparing import prepare_remote_runs
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.round_trips import round_trips
from tests.support.segments import extend_leases, lease_runs_out, run_of
from tests.support.single_thread import World
from tests.support.watched import watched
from tests.support.workflows import (
    ACTOR,
    default_workspace,
    limited_workspace,
    publish,
    start,
    start_many,
    states,
    task,
)
from valkyr_plugins.remote import leasing, reporting
from valkyr_plugins.remote.leasing import Leased
from valkyr_plugins.remote.reporting import LeaseOver, Reported


def remote(name: str, after: Any = None, **inputs: Any) -> dict[str, Any]:
    return task(name, "remote.step", after, **{"with": {"handler": "do", **inputs}}, queue="gpu")


OUTPUT = {"output": "{{ tasks.one.output }}"}
ONE = {"tasks": [remote("one")], **OUTPUT}


def leased(limit: int = 1, workspace: Workspace | None = None, runner: str = "r") -> list[Leased]:
    place = workspace or default_workspace()
    prepare_remote_runs()
    return leasing.lease(runner, [place.pk], ["gpu"], limit, actor=ACTOR)


def leased_now(place: Workspace) -> list[Leased]:
    """Return a runner's lease of the prepared runs."""
    return leasing.lease("r", [place.pk], ["gpu"], 1, actor=ACTOR)


def done(held: Leased, outputs: Any = None, outcome: str = "success") -> None:
    reporting.complete(held.run, held.token, Reported(outputs, outcome))


def ids(found: Sequence[Leased]) -> set[UUID]:
    return {held.run.pk for held in found}


@pytest.fixture
def place(queue: World) -> Workspace:
    """Create a separate workspace, so that no other runs are leased."""
    return limited_workspace(10_000)


def test_no_run_is_handed_out_twice(place: Workspace, rivals: Rivals) -> None:
    started = start_many(publish(ONE, place), [{}] * 250)

    def client(number: int) -> list[UUID]:
        mine: list[UUID] = []
        while found := leased(10, place, f"r{number}"):
            mine += [held.run.pk for held in found]
        return mine

    with Rivals(16) as sixteen:
        parts = [sixteen.begin(client, number) for number in range(16)]
        all_of_them = [pk for part in parts for pk in part.result(60)]

    assert len(all_of_them) == len(set(all_of_them)) == 250
    held = Run.objects.filter(execution_id__in=started, state="LEASED", lease_token=1)
    assert held.count() == 250
    extend_leases(started)


def test_sixteen_runners_do_all_items_of_one_map(place: Workspace) -> None:
    body = {"tasks": [remote("one", value="{{ item }}")], "edges": []}
    items = list(range(60))
    document = {
        "tasks": [task("all", "flow.map", **{"with": {"items": items}}, body=body)],
        "output": "{{ tasks.all.output }}",
    }
    execution = start(publish(document, place))
    _drain(execution)

    def client() -> int:
        count = 0
        while states([execution])[execution] == "RUNNING":
            for held in leased(3, place):
                done(held, held.inputs["value"] + 100)
                count += 1
            _planned(execution)
        return count

    with Rivals(16) as sixteen:
        counts = [part.result(60) for part in [sixteen.begin(client) for _ in range(16)]]

    assert sum(counts) == 60
    assert states([execution])[execution] == "SUCCESS"


def test_a_late_result_is_fenced_once_the_lease_ran_out(place: Workspace) -> None:
    execution = start(publish(ONE, place))
    [late] = leased(1, place)
    lease_runs_out(late.run.pk)

    with pytest.raises(LeaseOver):
        done(late, "late")
    assert leases.expired_leases() >= 1
    with pytest.raises(LeaseOver):
        done(late, "late")
    [again] = leased(1, place)
    with pytest.raises(LeaseOver):
        done(late, "late")
    done(again, "again")

    run = run_of(execution, "one.main")
    assert (run.state, run.outputs, run.recoveries, run.attempt) == ("SUCCESS", "again", 1, 1)
    assert again.run.idempotency_key == late.run.idempotency_key != ""
    assert states([execution])[execution] == "SUCCESS"
    audit([execution])


def test_of_two_reports_at_once_one_is_recorded(place: Workspace, rivals: Rivals) -> None:
    execution = start(publish(ONE, place))
    [held] = leased(1, place)
    with transaction.atomic():
        done(held, "first")
        other = rivals.begin(done, held, "second")
        wait_until_blocked(my_session())
    with pytest.raises(LeaseOver):
        other.result(60)
    assert run_of(execution, "one.main").outputs == "first"


def test_a_report_that_comes_again_is_answered_alike(place: Workspace, rivals: Rivals) -> None:
    execution = start(publish(ONE, place))
    [held] = leased(1, place)
    with transaction.atomic():
        done(held, {"a": [1.5]})
        other = rivals.begin(done, held, {"a": [1.5]})
        wait_until_blocked(my_session())
    other.result(60)
    assert run_of(execution, "one.main").outputs == {"a": [1.5]}
    audit([execution])


def test_a_lease_does_not_slip_past_a_cancel(place: Workspace, rivals: Rivals) -> None:
    execution = start(publish(ONE, place))
    prepare_remote_runs()
    with transaction.atomic():
        lifecycle.cancel(execution, actor=ACTOR)
        assert rivals.begin(leased_now, place).result(60) == []
    assert leased(1, place) == []
    assert run_of(execution, "one.main").state == "CANCELLED"


def test_a_lease_does_not_slip_past_a_pause(place: Workspace, rivals: Rivals) -> None:
    execution = start(publish(ONE, place))
    prepare_remote_runs()
    with transaction.atomic():
        lifecycle.pause(execution, actor=ACTOR)
        assert rivals.begin(leased_now, place).result(60) == []
    assert leased(1, place) == []
    lifecycle.resume(execution, actor=ACTOR)
    assert len(leased(1, place)) == 1


def test_a_cancel_fences_the_report_that_waits_for_it(place: Workspace, rivals: Rivals) -> None:
    execution = start(publish(ONE, place))
    [held] = leased(1, place)
    with transaction.atomic():
        lifecycle.cancel(execution, actor=ACTOR)
        report = rivals.begin(done, held)
        wait_until_blocked(my_session())
    with pytest.raises(LeaseOver):
        report.result(60)
    beat = reporting.beat(Run.objects.get(pk=held.run.pk), held.token)
    assert (beat.lease_until, beat.wanted) == (None, False)
    audit([execution])


def test_a_result_during_a_pause_is_recorded_and_what_follows_waits(place: Workspace) -> None:
    execution = start(publish({"tasks": [remote("one"), remote("two", "one")]}, place))
    [held] = leased(1, place)
    lifecycle.pause(execution, actor=ACTOR)

    assert reporting.beat(held.run, held.token).wanted
    done(held)

    assert run_of(execution, "one.main").state == "SUCCESS"
    assert run_of(execution, "two.main").state == "PENDING"
    assert leased(1, place) == []
    lifecycle.resume(execution, actor=ACTOR)
    done(*leased(1, place))
    assert states([execution])[execution] == "SUCCESS"


def test_a_step_over_which_three_runners_fell_silent_is_dead(place: Workspace) -> None:
    execution = start(publish(ONE, place))
    for _ in range(3):
        [held] = leased(1, place)
        reporting.beat(held.run, held.token)
        lease_runs_out(held.run.pk)
        leases.expired_leases()

    run = run_of(execution, "one.main")
    assert (run.state, run.attempt) == ("DLQ", 1)
    assert "stopped reporting during this step 3 times" in run.error
    assert leased(1, place) == []
    assert states([execution])[execution] == "FAILED"
    audit([execution])


def test_a_runner_that_falls_silent_over_several_steps_blames_none(place: Workspace) -> None:
    execution = start(publish({"tasks": [remote("one"), remote("two"), remote("three")]}, place))
    for _ in range(4):
        for held in leased(3, place):
            lease_runs_out(held.run.pk)
        assert leases.expired_leases() >= 3

    runs = Run.objects.filter(execution_id=execution)
    assert set(runs.values_list("state", "crashes", "recoveries")) == {("PENDING", 0, 4)}
    for held in leased(3, place):
        done(held)
    assert states([execution])[execution] == "SUCCESS"


def test_a_step_past_its_time_ends_as_a_time_out(place: Workspace) -> None:
    slow = remote("one") | {"timeoutSeconds": 0.1, "retry": "none"}
    execution = start(publish({"tasks": [slow]}, place))
    [held] = leased(1, place)
    run = Run.objects.get(pk=held.run.pk)
    assert run.deadline_at is not None
    assert run.lease_until is not None
    assert (run.lease_until - run.deadline_at).total_seconds() == pytest.approx(2, abs=0.1)
    _time_is_over(run)

    assert leases.expired_leases() >= 1

    run.refresh_from_db()
    assert (run.state, run.error_type) == ("DLQ", "TIMEOUT")
    assert states([execution])[execution] == "FAILED"


def test_what_follows_a_time_out_is_sent_to_workers_at_once(place: Workspace, queue: World) -> None:
    slow = remote("one") | {"timeoutSeconds": 0.1, "retry": "none"}
    tasks = [slow, task("mend", "flow.noop", "one:error")]
    document = {"tasks": tasks, "output": "{{ [input.order, tasks.one.error.type] }}"}
    execution = start(publish(document, place), {"order": 7})
    [held] = leased(1, place)
    _time_is_over(held.run)
    leases.expired_leases()

    mend = run_of(execution, "mend.main")
    assert (mend.state, mend.lease_token) == ("PENDING", 0)
    queue.drain()

    assert states([execution])[execution] == "SUCCESS"
    ended = WorkflowExecution.objects.get(pk=execution)
    assert ended.output == [7, "TIMEOUT"]


def test_the_oldest_of_the_highest_priority_comes_first(place: Workspace) -> None:
    workflow = publish(ONE, place)
    low, older, newer = (start(workflow, priority=number) for number in (1, 7, 7))

    order = [held.run.execution_id for _ in range(3) for held in leased(1, place)]

    assert order == [older, newer, low]


def test_one_workspaces_runners_get_nothing_of_anothers(place: Workspace) -> None:
    start(publish(ONE, place))

    assert leased(5, limited_workspace(5)) == []
    assert len(leased(5, place)) == 1


def test_what_waits_for_a_runner_is_sent_to_nobody(place: Workspace, queue: World) -> None:
    execution = start(publish(ONE, place))
    prepare_remote_runs()
    run = run_of(execution, "one.main")
    Run.objects.filter(pk=run.pk).update(due_at=run.queued_at)
    queue.queue.clear()

    messages.lost_messages()  # may send messages of other tests

    assert not [message for message in queue.queue if str(execution) in repr(message)]
    assert run_of(execution, "one.main").publications == 1


def test_an_execution_goes_from_workers_to_runners_and_back(place: Workspace, queue: World) -> None:
    tasks = [
        task("begin", "flow.noop", **{"with": {"value": 1}}),
        remote("left", "begin", n="{{ tasks.begin.output }}"),
        task("right", "test.effect", "begin", **{"with": {"value": 2}}),
        task("far", "flow.noop", "left", **{"with": {"value": "{{ tasks.left.output + 1 }}"}}),
        task("join", "test.effect", ["far", "right"]) | {"join": "all"},
        remote("judge", "join", outcomes=["good", "bad"]),
        task("good", "flow.noop", "judge:good"),
        task("bad", "flow.noop", "judge:bad"),
    ]
    document = {"tasks": tasks, "output": "{{ [tasks.far.output, tasks.right.output] }}"}
    execution = start(publish(document, place))
    queue.drain()
    [held] = leased(9, place)
    assert held.inputs == {"handler": "do", "n": 1}
    done(held, 10)
    queue.drain()
    [held] = leased(9, place)
    done(held, None, "good")
    queue.drain()

    assert states([execution])[execution] == "SUCCESS"
    assert run_of(execution, "good.main").state == "SUCCESS"
    assert run_of(execution, "bad.main").state == "SKIPPED"
    audit([execution])


def test_a_failure_is_retried_along_the_policy_and_then_goes_along_its_edge(
    place: Workspace, queue: World
) -> None:
    once = {"maxAttempts": 2, "baseSeconds": 0, "jitter": 0}
    tasks = [remote("one") | {"retry": once}, task("mend", "flow.noop", "one:error")]
    execution = start(publish({"tasks": tasks}, place))
    for _ in range(2):
        [held] = leased(1, place)
        reporting.fail(held.run, held.token, "the disk is full", ErrorType.TRANSIENT, None)
    queue.drain()

    assert [r.state for r in Run.objects.filter(execution=execution, step_path="one.main")] == [
        "FAILED",
        "FAILED",
    ]
    assert run_of(execution, "mend.main").state == "SUCCESS"
    assert states([execution])[execution] == "SUCCESS"
    audit([execution])


def test_inputs_that_cannot_be_made_fail_the_run_and_hand_nothing_out(place: Workspace) -> None:
    bad = remote("one", n="{{ input.missing.deep }}") | {"retry": "none"}
    execution = start(publish({"tasks": [bad]}, place))

    assert prepare_remote_runs() == 0, "nothing can be leased"
    assert leased(1, place) == []

    run = run_of(execution, "one.main")
    assert (run.state, run.error_type) == ("DLQ", "PERMANENT")
    assert states([execution])[execution] == "FAILED"


def _drain(execution: UUID) -> None:
    """Let one of Valkyr's workers open the map."""
    from runners.pipeline import receive

    version = Run.objects.filter(execution_id=execution).values_list(
        "execution__version_id", flat=True
    )[0]
    receive.run_segment(execution, version, "all.main")


def _planned(execution: UUID) -> None:
    """Let one of Valkyr's workers collect the map, after its body has woken it."""
    run = run_of(execution, "all.main")
    if run.state == "PENDING":
        _drain(execution)


def _time_is_over(run: Run) -> None:
    from django.db import connection

    lease_runs_out(run.pk)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runners_run SET deadline_at = clock_timestamp() - interval '3 s' WHERE id = %s",
            [run.pk],
        )


def test_a_result_that_is_kept_is_reused_without_a_lease(place: Workspace, queue: World) -> None:
    kept = remote("one") | {"cache": {"ttlSeconds": 60}}
    workflow = publish({"tasks": [kept, task("two", after="one")], **OUTPUT}, place)
    first = start(workflow)
    [held] = leased(1, place)
    done(held, "result")
    second = start(workflow)
    assert leased(1, place) == []
    queue.drain()
    assert states([first, second]) == {first: "SUCCESS", second: "SUCCESS"}
    row = run_of(second, "one.main")
    assert (row.state, row.outputs, row.cached_from) == ("SUCCESS", "result", held.run.pk)
    assert row.duration_ms == 0
    assert WorkflowExecution.objects.get(pk=second).output == "result"
    audit([first, second])


def test_only_a_report_after_another_runner_looks_for_more_than_its_step(place: Workspace) -> None:
    """Only a report after another runner's lease looks for more than its step.

    The earlier runner may have known more than the rows say; the first runner knew nothing.
    """
    trips = []
    for again in (False, True):
        execution = start(publish({"tasks": [remote("one"), remote("two")]}, place))
        found = {held.run.step_path: held for held in leased(2, place)}
        if again:
            lease_runs_out(found["one.main"].run.pk)
            assert leases.expired_leases() >= 1
            found |= {held.run.step_path: held for held in leased(2, place)}
        with round_trips() as counted:
            done(found["one.main"])
        trips.append(len(counted))
        lifecycle.cancel(execution, actor=ACTOR)
    assert trips[0] < trips[1]


def test_the_watchdog_is_told_whose_inputs_a_worker_renders_for_a_runner(
    place: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watchdog learns whose inputs a worker renders for a runner, because templates may stall
    the process.
    """
    execution = start(publish(ONE, place))
    run = run_of(execution, "one.main")
    render, notes = leased_runs._rendered, []

    def rendered(*given: Any) -> bool:
        notes.append(memory.note())
        return render(*given)

    monkeypatch.setattr(leased_runs, "_rendered", rendered)
    with watched(monkeypatch) as memory:
        assert prepare_remote_runs() == 1
        assert memory.note() is None
    [note] = notes
    assert note is not None
    assert (note.run_id, note.token) == (run.pk, 0)
    lifecycle.cancel(execution, actor=ACTOR)


def test_inputs_that_stalled_three_processes_are_not_rendered_again(
    place: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inputs that stalled three processes are not rendered again: the watchdog only counts a stall,
    and the process that ends such a run may have died.
    """
    execution = start(publish(ONE, place))
    for token in range(3):
        run = run_of(execution, "one.main").pk
        release(execution, run, token, crash("it stalled its worker process"))
    rendered: list[Any] = []
    monkeypatch.setattr(leased_runs, "_rendered", lambda *given: rendered.append(given))

    assert prepare_remote_runs() == 0

    assert rendered == []
    run = run_of(execution, "one.main")
    assert (run.state, run.crashes) == ("DLQ", 3)
    assert "ended its worker process 3 times" in run.error
    audit([execution])


def test_a_reference_to_a_secret_that_a_person_wrote_is_refused_before_a_lease(
    place: Workspace,
) -> None:
    """A reference to a secret that a user wrote is rejected before a lease: otherwise the runner
    would get the secret as plain text, or one that the step does not name there.
    """
    given = {"type": "secret", "fields": {"value": "canary"}, "hosts": ["*"], "remote": True}
    credentials.create(place, name="farm", actor=ACTOR, **given)
    fails = remote("one", key="{{ secrets.farm }}") | {"retry": "none"}
    execution = start(publish({"tasks": [fails]}, place))
    [held] = leased(1, place)
    assert held.inputs["key"] == "canary"
    reporting.fail(held.run, held.token, "no", ErrorType.PERMANENT, None)
    letter = DeadLetterEntry.objects.get(execution=execution)
    requeue(letter.pk, actor=ACTOR, overrides={"note": "[secret:farm]"})
    assert leased(1, place) == []
    run = run_of(execution, "one.main")
    assert (run.attempt, run.state) == (2, "DLQ")
    assert "note was changed, so [secret:farm]" in run.error
