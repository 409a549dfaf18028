"""Runs that remote runners lease pass the gates as in a worker: quotas, budgets and circuits."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread
from typing import Any, ClassVar
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from executions import lifecycle
from executions.database.clock import database_now
from executions.models import QuotaUse, Workspace
from runners.explain.explanation import explain
from runners.gates import gates, held_permits
from runners.models import HeldPermit, Run
from runners.modules import registry
from runners.modules.base import StepError, Wait
from runners.recovery.sweeper import leases, waits
from runners.states import ErrorType, WaitKind
from tests.support import targets
from tests.support.preparing import prepare_remote_runs
from tests.support.rivals import Rivals
from tests.support.segments import claimed, lease_runs_out, recorded, run_of
from tests.support.single_thread import World
from tests.support.targets import Call, behaviour, circuit_of
from tests.support.windows import wait_for_a_long_hour
from tests.support.workflows import ACTOR, limited_workspace, publish, start, start_many, task
from valkyr_plugins.circuits import breaker_rows, gate
from valkyr_plugins.circuits.memory import Key
from valkyr_plugins.circuits.models import CircuitRule
from valkyr_plugins.limits import known_limits
from valkyr_plugins.limits.models import Budget, BudgetUse, CostEntry, Quota, QuotaHold
from valkyr_plugins.remote import leasing, reporting
from valkyr_plugins.remote.leasing import Leased
from valkyr_plugins.remote.reporting import Expense, Reported

# In one snapshot: the valid leases, and those of them without a slot under their token.
LIVE = """
SELECT count(*), count(*) FILTER (WHERE h.id IS NULL)
  FROM runners_run r
  JOIN executions_workflowexecution e ON e.id = r.execution_id
  LEFT JOIN executions_quotahold h ON h.run_id = r.id AND h.token = r.lease_token
 WHERE e.workspace_id = %s AND r.state IN ('LEASED', 'RUNNING')
   AND r.lease_until > clock_timestamp()
"""


class DearCall(Call):
    """Calls a target and has costs."""

    type: ClassVar[str] = "test.dear_call"
    costs: ClassVar[bool] = True


@pytest.fixture(autouse=True)
def _as_before(engine: None) -> Iterator[None]:
    """Remove the gates that a test registers, and this process's cached circuits."""
    targets.install()
    if "test.dear_call" not in registry.specs():
        registry.add(DearCall())
    registered, order = dict(gates._stages), list(gates._gates)
    gate.memory().forget()
    yield
    gates._stages.clear()
    gates._stages.update(registered)
    gates._gates[:] = order
    gate.memory().forget()
    behaviour.clear()
    HeldPermit.objects.all().delete()


@pytest.fixture
def place(queue: World) -> Workspace:
    """Create a separate workspace, so that no other runs are leased."""
    return limited_workspace(10_000)


def remote(use: str = "remote.step", **inputs: Any) -> dict[str, Any]:
    given = {"handler": "do", **inputs} if use == "remote.step" else inputs
    return {"tasks": [task("one", use, **{"with": given}, queue="gpu")]}


def local(use: str, **inputs: Any) -> dict[str, Any]:
    return {"tasks": [task("one", use, **{"with": inputs})]}


def lease(place: Workspace, limit: int = 1, runner: str = "r") -> list[Leased]:
    prepare_remote_runs()
    return leasing.lease(runner, [place.pk], ["gpu"], limit, actor=ACTOR)


def complete(held: Leased, *spent: Expense) -> None:
    reporting.complete(held.run, held.token, Reported(None, spent=spent))


def fail(held: Leased, kind: ErrorType = ErrorType.TRANSIENT) -> None:
    reporting.fail(held.run, held.token, "out of order", kind, None)


def limit(place: Workspace, **facts: Any) -> Quota:
    """Create a quota, by default on remote steps."""
    what = {"resource": "module", "target": "remote.step"} | facts
    made = Quota.objects.create(workspace=place, **what)
    known_limits.forget()
    return made


def spent_budget(place: Workspace) -> Budget:
    budget = Budget.objects.create(workspace=place, amount=10, period="total")
    BudgetUse.objects.create(budget=budget, starts_at=budget.created_at, spent=10)
    known_limits.forget()
    return budget


def circuit(place: Workspace, target: str) -> Any:
    return breaker_rows.look(Key(place.pk, circuit_of(target)))[0]


def open_circuit(place: Workspace, target: str) -> None:
    """Let five calls by remote runners fail, which opens the circuit."""
    start_many(publish(remote("test.call", target=target), place), [{}] * 5)
    for held in lease(place, 10):
        fail(held)
    assert circuit(place, target).state == "OPEN"


def why(run: Run) -> tuple[str, str, str, str]:
    """Return the explanation of a held run, without its times."""
    [step] = explain(run.execution).steps
    assert step.reason is not None
    told = re.sub(r"\d\d:\d\d:\d\d", "…", step.reason.message)
    return run.state, run.waits_for, step.reason.code, told


def tried(place: Workspace, use: str, **inputs: Any) -> tuple[Run, Run]:
    """Return the runs of two equal steps: one that a worker tried, and one that a runner
    requested.
    """
    by_worker = start(publish(local(use, **inputs), place))
    recorded(claimed(by_worker, "one.main"))
    by_runner = start(publish(remote(use, **inputs), place))
    assert lease(place, 10) == []
    return run_of(by_worker, "one.main"), run_of(by_runner, "one.main")


def placed(place: Workspace) -> int:
    return QuotaHold.objects.filter(quota__workspace=place).count()


def used(place: Workspace) -> int:
    return sum(
        QuotaUse.objects.filter(workspace=place, resource="module", window="hour").values_list(
            "used", flat=True
        )
    )


@contextmanager
def watched(place: Workspace) -> Iterator[list[tuple[int, int]]]:
    """Collect another session's view of the leases during the block."""
    seen: list[tuple[int, int]] = []
    over = Event()

    def watch() -> None:
        try:
            while not over.is_set():
                with connection.cursor() as cursor:
                    cursor.execute(LIVE, [place.pk])
                    seen.append(cursor.fetchone())
        finally:
            connection.close()

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def test_no_more_leases_hold_at_once_than_the_quota_has_places(place: Workspace) -> None:
    limit(place, max_concurrent=2)
    started = start_many(publish(remote(), place), [{}] * 30)
    prepare_remote_runs()
    runs = Run.objects.filter(execution_id__in=started)

    def client(number: int) -> int:
        count = 0
        while runs.exclude(state="SUCCESS").exists():
            for held in leasing.lease(f"r{number}", [place.pk], ["gpu"], 5, actor=ACTOR):
                complete(held)
                count += 1
            waits.due_timers()
        return count

    with watched(place) as seen, Rivals(12) as twelve:
        counts = [part.result(100) for part in [twelve.begin(client, n) for n in range(12)]]

    assert sum(counts) == 30
    assert max(live for live, _ in seen) == 2
    assert {unplaced for _, unplaced in seen} == {0}
    assert placed(place) == HeldPermit.objects.count() == 0


def test_a_window_lets_exactly_as_many_be_leased_as_it_says(place: Workspace) -> None:
    wait_for_a_long_hour(30)
    limit(place, max_per_hour=20)
    started = start_many(publish(remote(), place), [{}] * 50)
    prepare_remote_runs()

    def client(number: int) -> int:
        count = 0
        while found := leasing.lease(f"r{number}", [place.pk], ["gpu"], 7, actor=ACTOR):
            count += len(found)
        return count

    with Rivals(8) as eight:
        counts = [part.result(60) for part in [eight.begin(client, n) for n in range(8)]]
    lease(place, 100)

    runs = Run.objects.filter(execution_id__in=started)
    assert sum(counts) == used(place) == runs.filter(state="LEASED").count() == 20
    assert runs.filter(state="WAITING", waits_for="quota").count() == 30


def test_a_run_over_its_quota_waits_as_in_a_worker(place: Workspace) -> None:
    limit(place, target="test.call", max_per_hour=0)

    by_worker, by_runner = tried(place, "test.call", target="any")

    assert why(by_runner) == why(by_worker)
    assert why(by_runner)[:3] == ("WAITING", "quota", "waiting_for_quota")
    assert (by_runner.progress, by_runner.attempt) == (by_worker.progress, 1)
    assert (by_runner.due_at, by_runner.lease_until) == (by_worker.due_at, None)


def test_a_run_whose_circuit_is_open_waits_as_in_a_worker(place: Workspace) -> None:
    open_circuit(place, "dead")

    by_worker, by_runner = tried(place, "test.call", target="dead")

    assert why(by_runner) == why(by_worker)
    assert why(by_runner)[:2] == ("WAITING", "circuit")
    assert by_runner.progress == by_worker.progress


def test_a_run_whose_budget_is_spent_fails_as_in_a_worker(place: Workspace) -> None:
    spent_budget(place)

    by_worker, by_runner = tried(place, "test.dear_call", target="any")

    def told(run: Run) -> Any:
        return run.state, run.error_type, run.error, run.error_details["details"]

    assert told(by_runner) == told(by_worker)
    assert by_runner.state == "DLQ"
    assert "is spent" in by_runner.error


@pytest.mark.parametrize(("costs", "state"), [(True, "DLQ"), (False, "LEASED")])
def test_a_remote_step_that_says_it_costs_draws_on_budgets(
    place: Workspace, costs: bool, state: str
) -> None:
    spent_budget(place)
    execution = start(publish(remote(costs=costs), place))

    lease(place)

    assert run_of(execution, "one.main").state == state


def test_a_circuit_that_was_open_for_too_long_fails_the_run(place: Workspace) -> None:
    open_circuit(place, "dead")
    document = remote("test.call", target="dead")
    document["tasks"][0]["circuitWaitSeconds"] = 0
    execution = start(publish(document, place))

    assert lease(place) == []

    run = run_of(execution, "one.main")
    assert (run.state, run.error_type) == ("DLQ", "CIRCUIT_OPEN")
    assert "circuitWaitSeconds" in run.error


def test_reports_are_counted_by_circuits(place: Workspace) -> None:
    start_many(publish(remote("test.call", target="new"), place), [{}] * 20)

    first = lease(place, 20)

    assert len(first) == circuit(place, "new").trials == 5  # as many as may still fail
    fail(first[0])
    fail(first[1], ErrorType.PERMANENT)
    assert (circuit(place, "new").failures, circuit(place, "new").trials) == (1, 3)
    complete(first[2])
    assert circuit(place, "new").proven_at is not None
    assert HeldPermit.objects.count() == 2


def test_one_of_many_leased_runs_probes_a_target_that_rested(place: Workspace) -> None:
    open_circuit(place, "back")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runners_circuitbreaker SET next_retry_at = clock_timestamp()")
    gate.memory().forget()
    executions = start_many(publish(remote("test.call", target="back"), place), [{}] * 8)

    [probe] = lease(place, 8)

    assert circuit(place, "back").probe_run_id == probe.run.pk
    waiting = Run.objects.filter(execution_id__in=executions, waits_for="circuit", state="WAITING")
    assert waiting.count() == 7
    complete(probe)
    assert circuit(place, "back").state == "CLOSED"
    assert not waiting.exists()  # they were woken
    assert len(lease(place, 8)) == 7


def test_a_probe_whose_lease_ran_out_makes_way_for_another(place: Workspace) -> None:
    open_circuit(place, "back")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runners_circuitbreaker SET next_retry_at = clock_timestamp()")
    gate.memory().forget()
    start(publish(remote("test.call", target="back"), place))
    [lost] = lease(place)
    lease_runs_out(lost.run.pk)
    assert held_permits.reclaim() == 0
    leases.expired_leases()

    assert held_permits.reclaim() == 1

    [probe] = lease(place)
    assert circuit(place, "back").probe_token == probe.run.lease_token


@pytest.mark.parametrize("report", [complete, fail])
def test_a_report_frees_the_place_and_wakes_who_waits_for_it(
    place: Workspace, report: Callable[..., None]
) -> None:
    limit(place, max_concurrent=1)
    start_many(publish(remote(), place), [{}] * 2)
    [held] = lease(place, 2)
    assert lease(place) == []
    waiting = Run.objects.get(execution__workspace=place, waits_for="quota")
    assert waiting.state == "WAITING"

    report(held)

    waiting.refresh_from_db()
    assert waiting.state == "PENDING"
    assert HeldPermit.objects.count() == placed(place) == 0
    assert len(lease(place)) == 1


def test_what_a_lost_lease_leaves_frees_no_place_of_the_next(place: Workspace) -> None:
    limit(place, max_concurrent=1)
    start_many(publish(remote(), place), [{}] * 2)
    [late] = lease(place)
    lease_runs_out(late.run.pk)
    leases.expired_leases()
    [again] = lease(place)
    assert again.run.pk == late.run.pk
    assert HeldPermit.objects.count() == 2

    assert held_permits.reclaim() == 1
    assert held_permits.reclaim() == 0

    assert HeldPermit.objects.get().token == again.run.lease_token
    assert placed(place) == 1
    assert lease(place) == []


def test_a_cancelled_run_keeps_its_place_until_its_runner_must_have_heard(
    place: Workspace,
) -> None:
    limit(place, max_concurrent=1)
    execution = start(publish(remote(), place))
    [held] = lease(place)
    lifecycle.cancel(execution, actor=ACTOR)

    assert held_permits.reclaim() == 0
    assert placed(place) == 1

    Run.objects.update(heartbeat_at=database_now() - timedelta(hours=1))
    assert held_permits.reclaim() == 1
    assert placed(place) == 0
    assert held.run.pk == run_of(execution, "one.main").pk


def test_what_is_left_after_a_report_is_told_as_it_ended(place: Workspace) -> None:
    """Permits that are left after a report end as the step did: the web process ended between the
    record of the report and the end of its permits.
    """
    start_many(publish(remote("test.call", target="new"), place), [{}] * 2)
    failed, done = lease(place, 2)
    kept = list(HeldPermit.objects.all())
    fail(failed)
    complete(done)
    before = circuit(place, "new")
    HeldPermit.objects.bulk_create(kept)

    assert held_permits.reclaim() == 2

    after = circuit(place, "new")
    assert (after.failures, before.failures) == (2, 1)
    assert after.proven_at > before.proven_at


def test_a_permit_of_a_run_that_is_gone_ends(place: Workspace) -> None:
    HeldPermit.objects.create(run_id=uuid4(), token=1, gate="quotas", kept={})
    HeldPermit.objects.create(run_id=uuid4(), token=1, gate="of a plugin left out", kept={})

    assert held_permits.reclaim() == 2
    assert not HeldPermit.objects.exists()


def test_a_run_that_a_later_gate_holds_is_taken_off_the_quota(place: Workspace) -> None:
    wait_for_a_long_hour(30)
    open_circuit(place, "dead")
    limit(place, target="test.call", max_concurrent=50, max_per_hour=50, max_per_day=50)
    start_many(publish(remote("test.call", target="dead"), place), [{}] * 6)
    start_many(publish(remote("test.call", target="fine"), place), [{}] * 3)

    assert len(lease(place, 9)) == used(place) == placed(place) == 3


def test_a_gate_of_somebodys_plugin_holds_leases_too(place: Workspace) -> None:
    def hold(asked: gates.Asked) -> Wait:
        return Wait(WaitKind.QUOTA, seconds=60, facts={"by": asked.work.path})

    gates.register(hold, gates.Stage.REFUSE)
    execution = start(publish(remote(), place))

    assert lease(place) == []
    run = run_of(execution, "one.main")
    assert (run.state, run.progress) == ("WAITING", {"by": "one.main"})


def test_a_gate_that_gives_permits_it_cannot_keep_is_refused(place: Workspace) -> None:
    gates.register(lambda _: gates.OPEN, gates.Stage.REFUSE)  # type: ignore[arg-type,return-value]
    execution = start(publish(remote(), place))

    with pytest.raises(TypeError, match="LeaseGate"):
        lease(place)

    run = run_of(execution, "one.main")
    assert (run.state, run.lease_until) == ("PENDING", None)


def test_a_gate_may_fail_one_run_of_many(place: Workspace) -> None:
    ids = start_many(publish(remote(), place), [{}] * 3)

    def refuse(asked: gates.Asked) -> None:
        if asked.context.execution_id == ids[1]:
            raise StepError("not this one")

    gates.register(refuse, gates.Stage.REFUSE)

    assert {held.run.execution_id for held in lease(place, 3)} == {ids[0], ids[2]}
    assert run_of(ids[1], "one.main").error == "not this one"


def test_gates_ask_as_much_about_many_as_about_one(place: Workspace) -> None:
    wait_for_a_long_hour(30)
    Budget.objects.create(workspace=place, amount=10, period="total")
    limit(place, target="test.dear_call", max_concurrent=99, max_per_hour=99, max_per_day=99)
    limit(place, resource="tokens", target="", max_per_hour=1_000)
    workflow = publish(remote("test.dear_call", target="busy"), place)

    def queries(runs: int) -> int:
        start_many(workflow, [{}] * runs)
        prepare_remote_runs()
        known_limits.known()
        gate.memory().forget()
        gate.memory().refresh()
        with CaptureQueriesContext(connection) as asked:
            found = leasing.lease("r", [place.pk], ["gpu"], runs, actor=ACTOR)
        assert len(found) == runs
        for held in found:
            complete(held)
        return len(asked)

    queries(1)
    assert queries(20) <= queries(1) + 1


def test_what_a_runner_says_it_spent_is_counted(place: Workspace) -> None:
    budget = Budget.objects.create(workspace=place, amount=1_000, period="total")
    limit(place, resource="tokens", target="", max_per_hour=100)
    start_many(publish(remote("test.dear_call", target="busy"), place), [{}] * 3)
    first, second = lease(place, 2)

    complete(first, Expense(model="m-1", input_tokens=40, output_tokens=20), Expense(tokens=1))
    reporting.fail(
        second.run,
        second.token,
        "no",
        ErrorType.PERMANENT,
        None,
        spent=(Expense(model="m-1", tokens=50),),
    )

    assert BudgetUse.objects.get(budget=budget).spent == 111
    entries = CostEntry.objects.filter(workspace=place).values_list("model", "tokens")
    assert sorted(entries) == [("", 1), ("m-1", 50), ("m-1", 60)]
    assert lease(place, 2) == []  # the tokens are used up
    assert Run.objects.filter(execution__workspace=place, waits_for="quota").count() == 1


def test_a_target_answers_within_what_its_rule_allows(place: Workspace) -> None:
    rule = CircuitRule.objects.create(pattern=circuit_of("slow"), timeout_seconds=7)
    gate.memory().forget()
    try:
        start(publish(remote("test.call", target="slow"), place))
        start(publish(remote(), place))

        assert [held.target_timeout_seconds for held in lease(place, 2)] == [7, None]
    finally:
        rule.delete()


def test_a_reserved_run_is_let_go_when_its_holder_dies(place: Workspace) -> None:
    execution = start(publish(remote(), place))
    prepare_remote_runs()
    seen, [reserved] = leasing._reserve("gone", [place.pk], ["gpu"], 1)
    assert (seen, lease(place)) == (1, [])
    run: Any = run_of(execution, "one.main")
    assert (run.state, run.leased_by) == ("PENDING", "")

    lease_runs_out(reserved.run_id)

    assert [held.run.pk for held in lease(place)] == [run.pk]
