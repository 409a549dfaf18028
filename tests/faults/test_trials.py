"""Test runs on real workers: pinned tasks are not called, and followers get the given results."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from dlq.models import DeadLetterEntry
from executions.access.actor import Actor
from executions.definition.graph.trial import Pin, TrialRequest
from executions.models import Workflow, WorkflowExecution
from executions.publishing.operations import start_trial
from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.modules import marks
from tests.support.workflows import effect, publish, task, wait_for_end

ANN = Actor(None, "ann", "test")
HOSTILE = {"{{ key }}": "{{ 1 + 1 }}", "text": "{% raw %}", "n": 7}


class Counting(BaseHTTPRequestHandler):
    """Answers all requests, and counts them."""

    asked = 0

    def do_GET(self) -> None:
        Counting.asked += 1
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def partner() -> Iterator[str]:
    Counting.asked = 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Counting)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def flow(url: str) -> Workflow:
    read = {"values": {"got": "{{ tasks.fetch.output }}", "all": "{{ tasks.each.output }}"}}
    each = {
        "id": "each",
        "use": "flow.map",
        "with": {"items": [1, 2]},
        "body": {"tasks": [effect("inner")]},
    }
    return publish(
        {
            "output": "{{ tasks.use.output }}",
            "tasks": [
                effect("before"),
                task("fetch", "http.request", "before", **{"with": {"url": url}}),
                each,
                task("use", "data.set", ["fetch", "each"], **{"with": read}),
                effect("after", "use"),
            ],
        }
    )


def tried(of: Workflow, asked: TrialRequest) -> WorkflowExecution:
    execution = start_trial(of, {}, asked, actor=ANN)
    wait_for_end([execution.pk])
    return WorkflowExecution.objects.get(pk=execution.pk)


def test_a_pinned_step_is_never_called_and_its_output_is_passed_on(
    fleet: Fleet, partner: str
) -> None:
    pinned = {"fetch": Pin(HOSTILE), "each": Pin([{"inner": 1}])}

    execution = tried(flow(partner), TrialRequest(up_to="use", pinned=pinned))

    assert execution.state == "SUCCESS"
    assert execution.output == {"got": HOSTILE, "all": [{"inner": 1}]}
    assert Counting.asked == 0
    assert marks(execution.pk) == []
    paths = Run.objects.filter(execution=execution).values_list("step_path", flat=True)
    assert set(paths) == {"fetch.main", "each.main", "use.main"}
    audit([execution.pk])


def test_a_run_from_a_task_runs_what_follows_and_nothing_before(fleet: Fleet, partner: str) -> None:
    pinned = {"fetch": Pin({"total": 1}), "each": Pin([])}

    execution = tried(flow(partner), TrialRequest(start="use", pinned=pinned))

    assert execution.state == "SUCCESS"
    assert [mark["step"] for mark in marks(execution.pk)] == ["after.main"]
    assert Counting.asked == 0


def test_a_pinned_failure_takes_the_error_edge_and_a_dead_step_opens_no_dead_letter(
    fleet: Fleet,
) -> None:
    of = publish(
        {
            "output": "{{ tasks.mend.output }}",
            "tasks": [
                effect("charge"),
                task("mend", after="charge:error",
                     **{"with": {"value": "{{ tasks.charge.error.message }}"}}),
                task("give_up", "flow.fail", "mend", **{"with": {"message": "no"}}, retry="none"),
            ],
        }
    )  # fmt: skip
    pinned = {"charge": Pin("card declined", "error")}

    mended = tried(of, TrialRequest(up_to="mend", pinned=pinned))
    dead = tried(of, TrialRequest(pinned=pinned))

    assert (mended.state, mended.output) == ("SUCCESS", "card declined")
    assert dead.state == "FAILED"
    assert not DeadLetterEntry.objects.filter(execution__in=[mended, dead]).exists()
    assert marks(mended.pk) == marks(dead.pk) == []
