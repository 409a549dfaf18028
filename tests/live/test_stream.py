"""A viewer receives each change once, after its commit."""

from collections.abc import Callable
from uuid import UUID

from executions.models import Workflow
from tests.live import moving
from tests.live.moving import do, in_database, other_transaction, run_at
from tests.support.viewing import viewing
from tests.support.watching import LiveRun, watch
from tests.support.workflows import start

Address = Callable[[UUID], str]
Headers = dict[str, str]

EXECUTION = [
    "id", "workflowId", "version", "state", "epoch", "startedAt", "finishedAt", "createdAt",
    "deadlineAt", "priority", "place", "errorMessage", "compensation", "ending",
]  # fmt: skip
RUN = [
    "id", "stepPath", "module", "attempt", "epoch", "superseded", "state", "waitsFor", "worker",
    "queue", "queuedAt", "startedAt", "finishedAt", "retryAfter", "durationMs", "outcome", "error",
    "errorType", "recoveries", "cachedFrom", "childId",
]  # fmt: skip


def test_the_first_frame_holds_the_execution_and_its_runs(
    address: Address, ann: Headers, execution: UUID
) -> None:
    seen = watch(address(execution), ann, LiveRun(), frames=1)

    assert seen.events == ["snapshot"]
    assert list(seen.executions[str(execution)]) == EXECUTION
    assert [list(run) for run in seen.runs.values()] == [RUN] * 3
    assert seen.states() == in_database(execution)


def test_a_change_is_told_and_a_renewed_lease_is_not(
    address: Address, ann: Headers, execution: UUID
) -> None:
    a, b = run_at(execution, "a.main"), run_at(execution, "b.main")
    with viewing(address(execution), ann) as view:
        do(moving.TAKE, a.pk)
        view.until_run(a.pk, "RUNNING")
        before = len(view.seen.events)
        do(moving.RENEW, a.pk)
        do(moving.TAKE, b.pk)
        view.until_run(b.pk, "RUNNING")

    assert len(view.seen.events) == before + 1
    assert view.seen.runs[str(a.pk)]["worker"] == "hand@host"


def test_the_end_of_the_execution_ends_the_stream(
    address: Address, ann: Headers, execution: UUID
) -> None:
    a = run_at(execution, "a.main")
    with viewing(address(execution), ann) as view:
        with other_transaction() as other:
            other.execute(moving.TAKE, [a.pk])
            other.execute(moving.FINISH, [a.pk])
            other.execute(moving.END, [execution])
            other.commit()
        view.until(lambda seen: seen.ended, "the end")
        view.until(lambda _: view.finished, "the end of the stream")

    assert view.seen.executions[str(execution)]["state"] == "SUCCESS"
    assert view.seen.states()[str(a.pk)] == "SUCCESS"


def test_who_comes_after_the_end_gets_everything_and_the_end(
    address: Address, ann: Headers, execution: UUID
) -> None:
    do(moving.END, execution)

    seen = watch(address(execution), ann, LiveRun())

    assert seen.events == ["snapshot", "end"]


def test_what_is_committed_late_is_told(address: Address, ann: Headers, execution: UUID) -> None:
    a, b = run_at(execution, "a.main"), run_at(execution, "b.main")
    with viewing(address(execution), ann) as view, other_transaction() as late:
        late.execute(moving.TAKE, [a.pk])
        late.execute(moving.FINISH, [a.pk])
        for statement, state in ((moving.TAKE, "RUNNING"), (moving.FINISH, "SUCCESS")):
            do(statement, b.pk)  # so that the hub has read since
            view.until_run(b.pk, state)
        assert view.seen.states()[str(a.pk)] == "PENDING"

        late.commit()

        view.until_run(a.pk, "SUCCESS")


def test_a_savepoint_that_is_committed_late_is_told(
    address: Address, ann: Headers, execution: UUID
) -> None:
    a, b = run_at(execution, "a.main"), run_at(execution, "b.main")
    with viewing(address(execution), ann) as view, other_transaction() as late:
        late.execute("SELECT pg_current_xact_id()")
        do(moving.TAKE, b.pk)
        late.execute("SAVEPOINT one")
        late.execute(moving.TAKE, [a.pk])
        late.execute("RELEASE SAVEPOINT one")
        view.until_run(b.pk, "RUNNING")
        do(moving.FINISH, b.pk)
        view.until_run(b.pk, "SUCCESS")

        late.commit()

        view.until_run(a.pk, "RUNNING")


def test_who_comes_back_is_told_what_changed_meanwhile(
    address: Address, ann: Headers, execution: UUID
) -> None:
    a, b = run_at(execution, "a.main"), run_at(execution, "b.main")
    with other_transaction() as late:
        late.execute(moving.TAKE, [a.pk])
        seen = watch(address(execution), ann, LiveRun(), frames=1)
        do(moving.TAKE, b.pk)
        late.commit()

    back = watch(address(execution), ann, LiveRun(last=seen.last), frames=1)

    assert back.events == ["state"]
    assert back.states() == {str(a.pk): "RUNNING", str(b.pk): "RUNNING"}


def test_the_last_id_may_come_in_the_query(address: Address, ann: Headers, execution: UUID) -> None:
    seen = watch(address(execution), ann, LiveRun(), frames=1)

    back = watch(f"{address(execution)}?last={seen.last}", ann, LiveRun(), frames=1)

    assert back.events == ["state"]


def test_of_an_id_in_the_header_and_one_in_the_query_the_header_counts(
    address: Address, ann: Headers, execution: UUID
) -> None:
    seen = watch(address(execution), ann, LiveRun(), frames=1)

    back = watch(f"{address(execution)}?last=nowhere", ann, LiveRun(last=seen.last), frames=1)
    other = watch(f"{address(execution)}?last={seen.last}", ann, LiveRun(last="nowhere"), frames=1)

    assert (back.events, other.events) == (["state"], ["snapshot"])


def test_an_id_of_nowhere_gets_a_snapshot(address: Address, ann: Headers, execution: UUID) -> None:
    for last in ("9" * 18, "yesterday", "-1", "1.5"):
        assert watch(address(execution), ann, LiveRun(last=last), frames=1).events == ["snapshot"]


def test_who_comes_back_after_the_end_is_told_of_it(
    address: Address, ann: Headers, execution: UUID
) -> None:
    do(moving.END, execution)
    seen = watch(address(execution), ann, LiveRun())

    back = watch(address(execution), ann, LiveRun(last=seen.last))

    assert back.events == ["state", "end"]


def test_of_too_many_runs_the_live_ones_are_told(
    address: Address, ann: Headers, execution: UUID
) -> None:
    a = run_at(execution, "a.main")
    with viewing(address(execution), ann) as view:
        do(moving.COPY, 5_100, a.pk)
        view.until(lambda seen: seen.events.count("snapshot") == 2, "a new snapshot")

        told = {run["stepPath"] for run in view.seen.runs.values()}
        assert {"a.main", "b.main", "c.main"} < told
        do(moving.TAKE, a.pk)
        view.until_run(a.pk, "RUNNING")

    assert 5_000 <= len(view.seen.runs) <= 5_003


def test_no_payload_is_told(address: Address, ann: Headers, execution: UUID) -> None:
    a = run_at(execution, "a.main")
    do("UPDATE runners_run SET inputs = '\"canary\"', outputs = '\"canary\"' WHERE id = %s", a.pk)
    do("UPDATE executions_workflowexecution SET output = '\"canary\"' WHERE id = %s", execution)

    seen = watch(address(execution), ann, LiveRun(), frames=1)

    assert "canary" not in str(seen)


def test_a_workflow_tells_of_its_newest_executions(
    web: object, address: Address, ann: Headers, workflow: Workflow
) -> None:
    url = address(workflow.pk).replace(
        f"WorkflowExecution/{workflow.pk}/subscribe", f"vaiworkflow/subscribe/{workflow.pk}"
    )
    first = start(workflow)
    with viewing(url, ann) as view:
        assert view.seen.executions[str(first)]["state"] == "RUNNING"
        second = start(workflow)
        view.until(lambda seen: str(second) in seen.executions, "the new execution")
        do(moving.END, first)
        view.until(lambda seen: seen.executions[str(first)]["state"] == "SUCCESS", "its end")
        last = view.seen.last
    do(moving.END, second)

    back = watch(url, ann, LiveRun(last=last), frames=1)

    assert back.events == ["state"]
    assert back.executions[str(second)]["state"] == "SUCCESS"
