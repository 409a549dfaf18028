"""One dead target, more than twenty workers and a hundred steps: the target gets few calls."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from runners.models import Run, Waiter
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from tests.support.workflows import default_workspace, publish, start_many, task, wait_for_end
from valkyr_plugins.circuits import breaker_rows
from valkyr_plugins.circuits.models import CircuitBreaker, CircuitRule

STEPS = 100
# In addition to the fleet's own worker of 16 threads: 26 in three processes.
PROCESSES, THREADS = 2, 5
THRESHOLD = 5
RECOVERY = 2.0


class Target(ThreadingHTTPServer):
    """Answers with `status` after a moment, in which others could call too."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.status, self.calls, self.refused = 503, 0, 0
        self.closing = threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: workers that are killed close their connections."""


class Answer(BaseHTTPRequestHandler):
    server: Target

    def do_GET(self) -> None:
        status = self.server.status
        self.server.calls += 1
        self.server.refused += status == 503
        self.server.closing.wait(0.3)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def target() -> Iterator[Target]:
    server = Target()
    yield server
    server.closing.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def twenty(fleet: Fleet) -> Iterator[Fleet]:
    """Run more than twenty threads that make calls, in several processes."""
    names = [f"circuits-{number}" for number in range(PROCESSES)]
    for name in names:
        fleet.worker(name, "io", "threads", THREADS)
    for name in names:
        wait_until(fleet[name].ready, 60, f"{name}'s readiness")
    yield fleet
    for name in names:
        fleet.members.pop(name).kill()


def test_a_target_that_is_dead_from_the_start_gets_its_threshold_and_the_probes(
    twenty: Fleet, target: Target
) -> None:
    name = f"http.request:127.0.0.1:{target.server_port}"
    CircuitRule.objects.create(pattern=name, recovery_seconds=RECOVERY)
    call = {"url": f"http://127.0.0.1:{target.server_port}/"}
    workflow = publish(
        {"tasks": [task("call", "http.request", **{"with": call}, retry={"maxAttempts": 1})]}
    )
    ids = start_many(workflow, [{}] * STEPS)

    def breaker() -> Any:
        row = CircuitBreaker.objects.filter(workspace=default_workspace(), target=name).first()
        return row and breaker_rows.circuit_of(row)

    def held() -> int:
        return Waiter.objects.filter(kind="circuit", key=name).count()

    wait_until(lambda: target.calls >= THRESHOLD + 2, 60, "the second probe")
    wait_until(lambda: target.calls + held() >= STEPS, 60, "the other steps being held")
    before, calls, after = breaker(), target.calls, breaker()
    rests = (after.last_failure_at - before.opened_at).total_seconds() / RECOVERY
    assert calls <= THRESHOLD + 1 + rests
    waiting = Run.objects.filter(execution_id__in=ids, state="WAITING", waits_for="circuit")
    assert set(waiting.values_list("attempt", flat=True)) == {1}

    target.status = 200
    ended = list(wait_for_end(ids, 60).values())

    assert ended.count("FAILED") <= target.refused
    assert ended.count("SUCCESS") >= STEPS - target.refused
    assert target.calls == STEPS
    assert (breaker().state, held()) == ("CLOSED", 0)
    audit(ids)
