"""Start, wait, watch, show and cancel, over the API of a running installation."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from executions.models import Activity, Workflow, WorkflowExecution
from tests.cli.conftest import Valkyr, letter_of
from tests.support.stack import PROJECT
from tests.support.workflows import start, wait_for_end


def test_run_waits_and_prints_the_output(valkyr: Valkyr, echo: Workflow) -> None:
    said = valkyr("run", "echo it", "--input", '{"value": {"n": 7}}', "--wait")

    assert said.code == 0, said.err
    assert json.loads(said.out) == {"n": 7}
    assert "succeeded" in said.err


def test_run_reads_its_input_from_a_file_and_tells_all_as_json(
    valkyr: Valkyr, echo: Workflow, tmp_path: Path
) -> None:
    (tmp_path / "f.json").write_text('{"value": "from a file"}')
    said = valkyr("run", echo.slug, "--input", f"@{tmp_path / 'f.json'}", "--json")

    told = json.loads(said.out)
    assert (said.code, said.err) == (0, "")
    assert (told["state"], told["output"]) == ("SUCCESS", "from a file")


def test_quiet_run_prints_the_output_alone(valkyr: Valkyr, echo: Workflow) -> None:
    said = valkyr("run", echo.pk, "--input", '{"value": 1}', "--quiet")

    assert (said.code, said.out, said.err) == (0, "1\n", "")


def test_run_of_what_fails_exits_with_1_and_says_where_to_look(
    valkyr: Valkyr, failing: Workflow
) -> None:
    said = valkyr("run", failing.slug)

    assert (said.code, said.out) == (1, "")
    assert "ended as FAILED" in said.err
    assert "valkyr dead list --execution" in said.err


def test_run_of_what_fails_tells_the_execution_as_json(valkyr: Valkyr, failing: Workflow) -> None:
    said = valkyr("run", failing.slug, "--json")

    assert said.code == 1
    assert json.loads(said.out)["state"] == "FAILED"


def test_a_time_out_exits_with_9_and_leaves_the_execution(valkyr: Valkyr, asking: Workflow) -> None:
    said = valkyr("run", asking.slug, "--timeout", 1, "--json")

    assert said.code == 9
    newest = WorkflowExecution.objects.filter(workflow=asking).latest("created_at")
    error = json.loads(said.err)["error"]
    assert error["code"] == "timed_out"
    assert str(newest.pk) in error["message"]
    assert newest.state == "RUNNING"


def test_an_interrupted_run_says_what_goes_on(valkyr: Valkyr, asking: Workflow) -> None:
    running = subprocess.Popen(
        # The process that runs the tests may ignore the signal, which is inherited.
        ["env", "--default-signal=INT", sys.executable, "-m", "valkyr", "run", asking.slug],
        cwd=PROJECT,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    started = running.stderr.readline().removeprefix("Started execution ").rstrip(".\n")
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=120)

    assert running.returncode == 130
    assert f"execution {started} continues" in said
    assert valkyr("cancel", started).code == 0


# Between the two calls of httpcore's lock, nothing would release it.
HELD = """
import os, signal, sys
from httpcore import _synchronization as locks
acquire = locks.ThreadLock.__enter__
def interrupted(lock):
    held = acquire(lock)
    if armed:
        armed.clear()
        os.kill(os.getpid(), signal.SIGINT)
    return held
locks.ThreadLock.__enter__ = interrupted
armed = []
from valkyr.cli import following, main
def follow(*given, follow=following.follow, **named):
    armed.append(True)
    return follow(*given, **named)
following.follow = follow
sys.exit(main())
"""


def test_an_interrupt_while_the_clients_lock_is_held_ends_the_command(
    valkyr: Valkyr, asking: Workflow
) -> None:
    said = subprocess.run(
        ["env", "--default-signal=INT", sys.executable, "-c", HELD, "run", asking.slug],
        cwd=PROJECT,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )

    assert said.returncode == 130
    assert "continues" in said.stderr
    started = said.stderr.partition("Started execution ")[2].partition(".")[0]
    assert valkyr("cancel", started).code == 0


def test_one_key_starts_one_execution(valkyr: Valkyr, echo: Workflow) -> None:
    words = ("start", echo.slug, "--input", '{"value": 1}', "--key", "order-17", "-q")

    first, second = valkyr(*words), valkyr(*words)

    assert first.code == second.code == 0
    assert UUID(first.out.strip()) == UUID(second.out.strip())


def test_a_batch_starts_all_or_none(valkyr: Valkyr, echo: Workflow) -> None:
    said = valkyr("start", echo.slug, "--batch", '[{"value": 1}, {"value": 2}]', "--quiet")
    refused = valkyr("start", echo.slug, "--batch", '[{"value": 1}, {}]', "--json")

    assert said.code == 0
    assert set(wait_for_end(map(UUID, said.out.split())).values()) == {"SUCCESS"}
    assert refused.code == 7


def test_a_payload_that_does_not_fit_is_refused_with_its_path(
    valkyr: Valkyr, echo: Workflow
) -> None:
    plain, told = valkyr("start", echo.slug), valkyr("start", echo.slug, "--json")

    assert plain.code == told.code == 7
    assert "value" in plain.err
    error = json.loads(told.err)["error"]
    assert (error["status"], error["exitCode"]) == (422, 7)
    assert error["errors"]


def test_watch_tells_each_state_and_exits_with_the_end(valkyr: Valkyr, echo: Workflow) -> None:
    execution = start(echo, {"value": 1})
    said = valkyr("watch", execution)

    assert said.code == 0, said.err
    assert "say.main#1  SUCCESS" in said.out
    assert said.out.rstrip().endswith("execution  SUCCESS")


def test_watch_as_json_is_a_line_an_event_and_exits_with_1_on_a_failure(
    valkyr: Valkyr, failing: Workflow
) -> None:
    said = valkyr("watch", start(failing), "--json")

    events = [json.loads(line) for line in said.out.splitlines()]
    assert said.code == 1
    assert events[0]["event"] == "snapshot"
    assert events[-1]["event"] == "end"


def test_watch_of_a_waiting_execution_ends_once_it_is_cancelled(
    valkyr: Valkyr, asking: Workflow, capfd: pytest.CaptureFixture[str]
) -> None:
    execution = start(asking)
    codes: list[int] = []
    # It watches in a separate thread while the other command is typed.
    watching = threading.Thread(target=lambda: codes.append(valkyr("watch", execution).code))
    watching.start()

    said = valkyr("cancel", execution, "--reason", "wrong day", "--quiet")
    watching.join(60)

    assert said.code == 0
    assert codes == [1]
    wait_for_end([execution])
    row = Activity.objects.filter(object_id=str(execution), action="execution.cancel").get()
    assert row.reason == "wrong day"


def test_list_filters_by_workflow_state_and_age(
    valkyr: Valkyr, failing: Workflow, echo: Workflow
) -> None:
    failed, done = start(failing), start(echo, {"value": 1})
    wait_for_end([failed, done])

    listed = valkyr("list", "--workflow", failing.slug, "--state", "failed", "--since", "1h", "-q")
    table = valkyr("list", "--limit", 2)
    told = valkyr("list", "--limit", 1, "--json")

    assert str(failed) in listed.out.split()
    assert str(done) not in listed.out
    assert table.out.splitlines()[0].split() == [
        "ID", "WORKFLOW", "V", "STATE", "TRIGGER", "CREATED", "FINISHED", "LABELS",
    ]  # fmt: skip
    assert len(table.out.splitlines()) == 3
    assert len(json.loads(told.out)) == 1


def test_lists_go_on_past_a_page(
    valkyr: Valkyr, echo: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("valkyr.cli.client.PAGE", 2)
    wait_for_end([start(echo, {"value": n}) for n in range(5)])

    said = valkyr("list", "--workflow", echo.slug, "--limit", 5, "-q")

    assert len(set(said.out.split())) == 5


def test_a_list_that_goes_on_says_so(valkyr: Valkyr, echo: Workflow) -> None:
    for n in range(2):
        start(echo, {"value": n})

    part = valkyr("list", "--workflow", echo.slug, "--limit", 1, "-q")
    none = valkyr("list", "--workflow", echo.slug, "--since", "2099-01-01")

    assert len(part.out.split()) == 1
    assert part.err == "Only the first 1 are shown; use --limit for more.\n"
    assert (none.code, none.out) == (0, "")
    assert "valkyr start" in none.err


def test_show_logs_and_why_tell_of_a_failure(valkyr: Valkyr, failing: Workflow) -> None:
    letter = letter_of(start(failing))
    execution = letter.execution_id

    shown, told = valkyr("show", execution), valkyr("show", execution, "--json")
    why, logs = valkyr("why", execution), valkyr("logs", execution)

    assert "FAILED" in shown.out
    assert "print.main" in shown.out
    assert json.loads(told.out)["runs"][0]["stepPath"] == "print.main"
    assert why.out.startswith("FAILED: ")
    assert "requeue" in why.out.lower()
    assert "print.main#1  ERROR" in logs.out


def test_why_tells_what_a_waiting_execution_waits_for(valkyr: Valkyr, asking: Workflow) -> None:
    execution = start(asking)

    said = valkyr("why", execution, "--json")

    assert said.code == 0
    assert json.loads(said.out)["executionId"] == str(execution)
    assert valkyr("cancel", execution).code == 0


def test_cancelling_several_tells_of_each(valkyr: Valkyr, asking: Workflow, echo: Workflow) -> None:
    over, waiting = start(echo, {"value": 1}), start(asking)
    wait_for_end([over])

    said = valkyr("cancel", over, waiting, "--json")

    told = json.loads(said.out)
    assert said.code == 1
    assert told["done"] == [str(waiting)]
    assert told["refused"][0]["id"] == str(over)


def test_cancelling_what_is_over_is_a_conflict(valkyr: Valkyr, echo: Workflow) -> None:
    over = start(echo, {"value": 1})
    wait_for_end([over])

    assert valkyr("cancel", over).code == 6
    assert valkyr("cancel", uuid4()).code == 5
