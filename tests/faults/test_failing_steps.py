"""Steps that fail and are retried, and steps of a service that answers 500."""

from collections.abc import Iterator
from itertools import pairwise

import pytest

from dlq.models import DeadLetterEntry
from executions.models import WorkflowExecution
from runners.conf import config
from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.outages import marks_of
from tests.support.partner import Partner
from tests.support.workflows import effect, publish, start, start_many, task, wait_for_end


@pytest.fixture
def partner() -> Iterator[Partner]:
    server = Partner()
    yield server
    server.stop()


def test_a_step_answered_500_backs_off_longer_each_time(fleet: Fleet, partner: Partner) -> None:
    retry = {"maxAttempts": 4, "baseSeconds": 0.4, "jitter": 0}
    call = {"url": f"{partner.url}/status?code=500"}
    execution = start(
        publish({"tasks": [task("call", "http.request", **{"with": call}, retry=retry)]})
    )
    assert wait_for_end([execution])[execution] == "FAILED"
    runs = list(Run.objects.filter(execution_id=execution).order_by("attempt"))
    assert [run.state for run in runs] == ["FAILED", "FAILED", "FAILED", "DLQ"]
    assert {run.error_type for run in runs} == {"TRANSIENT"}
    waits = [(b.started_at - a.finished_at).total_seconds() for a, b in pairwise(runs)]
    assert all(wait >= 0.4 * 2**n for n, wait in enumerate(waits)), waits
    assert len({seen["headers"].get("idempotency-key") for seen in partner.received}) == 1
    assert len(partner.received) == 4
    audit([execution])


def test_a_patient_step_is_dead_after_ten_failures(fleet: Fleet) -> None:
    # The policy itself waits a quarter of an hour; test_policies.py tests its numbers.
    retry = {"maxAttempts": 10, "baseSeconds": 0.05, "maxSeconds": 0.2, "jitter": 0}
    execution = start(publish({"tasks": [effect("work", failTimes=99, retry=retry)]}))
    assert wait_for_end([execution])[execution] == "FAILED"
    runs = list(Run.objects.filter(execution_id=execution).order_by("attempt"))
    assert [run.attempt for run in runs] == list(range(1, 11))
    assert [run.state for run in runs] == ["FAILED"] * 9 + ["DLQ"]
    assert len(marks_of(execution, "work.main")) == 10
    assert len({run.idempotency_key for run in runs}) == 1, "retries send the same key"
    letter = DeadLetterEntry.objects.get(execution_id=execution)
    assert (letter.failure_type, letter.attempts) == ("MAX_RETRIES", 10)
    audit([execution])


def test_a_batch_of_five_triggers_runs_five_times(fleet: Fleet) -> None:
    workflow = publish(
        {
            "tasks": [effect("work", value="{{ input.n }}"), effect("more", after="work")],
            "output": "{{ tasks.work.output }}",
        }
    )
    ids = start_many(workflow, [{"n": n} for n in range(5)])
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    outputs = WorkflowExecution.objects.in_bulk(ids)
    assert [outputs[pk].output for pk in ids] == [0, 1, 2, 3, 4]
    audit(ids)


def test_a_step_that_asks_for_too_much_memory_fails_and_its_process_lives_on(fleet: Fleet) -> None:
    fleet.ensure()
    before = {pid for name in ("default-1", "default-2") for pid in fleet[name].children}
    workflow = publish({"tasks": [effect("work", holdMebibytes="{{ input.mebibytes }}")]})

    greedy, modest = start_many(workflow, [{"mebibytes": 8_000}, {"mebibytes": 8}])

    assert wait_for_end([greedy, modest]) == {greedy: "FAILED", modest: "SUCCESS"}
    run = Run.objects.get(execution_id=greedy)
    assert (run.state, run.error_type, run.attempt, run.recoveries) == ("DLQ", "PERMANENT", 1, 0)
    limit = config().worker_memory
    assert f"needs more memory than its process may have ({limit:,} MiB)" in run.error
    after = {pid for name in ("default-1", "default-2") for pid in fleet[name].children}
    assert after == before
    audit([greedy, modest])
