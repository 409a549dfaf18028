"""Steps that do not return, that ignore their time-out, or whose process is frozen."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from executions import lifecycle
from runners.models import Run
from runners.pipeline.crashes import mend
from runners.process.cause_of_death import SILENT
from runners.process.identity import started
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.outages import marks_of, wait_for_mark
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, effect, publish, start, wait_for_end


def test_a_step_that_never_returns_is_ended_at_its_timeout(fleet: Fleet) -> None:
    step = effect("work", hangSeconds=100, timeoutSeconds=1, retry="none")
    execution = start(publish({"tasks": [step]}))
    assert wait_for_end([execution])[execution] == "FAILED"
    run = Run.objects.get(execution_id=execution)
    assert (run.state, run.error_type) == ("DLQ", "TIMEOUT")
    assert "timeout" in run.error
    assert 1000 <= run.duration_ms < 2000, "by the timer, not by somebody who found it"
    pid = marks_of(execution, "work.main")[0]["pid"]
    assert Path(f"/proc/{pid}").exists(), "its process lives"


def test_a_timed_out_step_is_tried_again(fleet: Fleet) -> None:
    retry = {"maxAttempts": 2, "baseSeconds": 0.1}
    step = effect("work", hangSeconds=100, timeoutSeconds=1, retry=retry)
    execution = start(publish({"tasks": [step]}))
    assert wait_for_end([execution])[execution] == "SUCCESS"
    first, second = Run.objects.filter(execution_id=execution).order_by("attempt")
    assert (first.state, first.error_type, second.state) == ("FAILED", "TIMEOUT", "SUCCESS")
    audit([execution])


def test_a_step_that_ignores_its_timeout_ends_with_its_process_alone(fleet: Fleet) -> None:
    stubborn = effect("work", hangSeconds=100, ignoreTimeout=True, timeoutSeconds=1, retry="none")
    execution = start(publish({"tasks": [stubborn]}))
    pid = wait_for_mark(execution)["pid"]
    neighbour = start(publish({"tasks": [effect("work", seconds=4)]}))
    assert wait_for_end([execution])[execution] == "FAILED"
    run = Run.objects.get(execution_id=execution)
    assert (run.state, run.error_type, run.recoveries) == ("DLQ", "TIMEOUT", 0)
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), 30, "the end of the stubborn process")
    assert wait_for_end([neighbour])[neighbour] == "SUCCESS"
    assert len(marks_of(neighbour, "work.main")) == 1
    audit([neighbour])


def test_a_cancelled_step_that_ignores_its_timeout_ends_with_its_process(fleet: Fleet) -> None:
    stubborn = effect("work", hangSeconds=100, ignoreTimeout=True, timeoutSeconds=4)
    execution = start(publish({"tasks": [stubborn]}))
    pid = wait_for_mark(execution)["pid"]
    lifecycle.cancel(execution, actor=ACTOR)
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), 30, "the end of its process")
    run = Run.objects.get(execution_id=execution)
    assert (run.state, run.error, run.crashes) == ("CANCELLED", "", 0)


def test_a_stuck_thread_is_fenced_and_its_worker_goes_on(fleet: Fleet) -> None:
    step = effect("work", hangSeconds=8, ignoreTimeout=True, timeoutSeconds=1, retry="none")
    execution = start(publish({"tasks": [{**step, "queue": "io"}]}))
    assert wait_for_end([execution])[execution] == "FAILED"
    run = Run.objects.get(execution_id=execution)
    assert (run.state, run.error_type) == ("DLQ", "TIMEOUT")
    other = start(publish({"tasks": [{**effect("work"), "queue": "io"}]}))
    assert wait_for_end([other])[other] == "SUCCESS"
    assert marks_of(other, "work.main")[0]["pid"] == marks_of(execution, "work.main")[0]["pid"]


def test_the_late_result_of_a_frozen_worker_is_fenced(fleet: Fleet) -> None:
    """The late result of a frozen worker is fenced.

    The lease is 6 s here; with the real 20 s a frozen step runs again within 30 s. The step would
    take 5 s: enough time to freeze it, and over when it is resumed. If its process was not ended
    while it was frozen or as it resumed, it has a late result.
    """
    workflow = publish({"tasks": [effect("work", hangSeconds=5), effect("more", after="work")]})
    execution = start(workflow)
    frozen = wait_for_mark(execution)
    log = fleet.member_of(frozen["pid"]).log
    os.kill(frozen["pid"], signal.SIGSTOP)
    try:
        again = wait_for_mark(execution, number=2, seconds=40)
    finally:
        with suppress(ProcessLookupError):
            os.kill(frozen["pid"], signal.SIGCONT)
    assert again["token"] > frozen["token"]
    assert wait_for_end([execution])[execution] == "SUCCESS"
    wait_until(
        lambda: f"fenced: run {frozen['run']}" in log.read_text() or not started(frozen["pid"]),
        20,
        "the late result, or the end of its process",
    )
    run = Run.objects.get(execution_id=execution, step_path="work.main")
    assert (run.state, run.lease_token) == ("SUCCESS", again["token"])
    assert run.leased_by.split("|")[1] == str(again["pid"])
    assert run.crashes == 0
    assert audit([execution]).repeats == 1


def test_the_late_result_of_a_worker_that_lost_its_lease_unnoticed_is_fenced(fleet: Fleet) -> None:
    """The late result of a worker that lost its lease unnoticed is fenced.

    The worker continues although another worker has its run.
    """
    stubborn = effect("work", hangSeconds=6, ignoreTimeout=True)
    execution = start(publish({"tasks": [stubborn, effect("more", after="work")]}))
    late = wait_for_mark(execution)
    log = fleet.member_of(late["pid"]).log
    assert mend(execution, late["run"], late["token"], 0, SILENT)
    again = wait_for_mark(execution, number=2, seconds=40)
    assert wait_for_end([execution])[execution] == "SUCCESS"
    wait_until(lambda: f"fenced: run {late['run']}" in log.read_text(), 20, "the late result")
    run = Run.objects.get(execution_id=execution, step_path="work.main")
    assert (run.state, run.lease_token) == ("SUCCESS", again["token"])
    assert run.leased_by.split("|")[1] == str(again["pid"])
    assert audit([execution]).repeats == 1
