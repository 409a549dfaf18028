"""Pydantic AI agents in steps on real workers do not repeat recorded calls."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.fleet import Fleet
from tests.support.workflows import describe, publish, start, wait_for_end

pytest.importorskip("pydantic_ai", reason="the extra `pydantic-ai` is not installed")

from valkyr_plugins.pydantic_agents.models import AgentUnit

KILLS = 4
# A model call has 7 tokens of input and 3 of output, at the prices of tests/support/fleet.py.
PRICE = Decimal("0.037")


class Told(ThreadingHTTPServer):
    """Counts the messages that it receives, by their text."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.told: Counter[str] = Counter()
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: Told

    def do_POST(self) -> None:
        what = self.rfile.read(int(self.headers["content-length"])).decode()
        with self.server.lock:
            before, self.server.told[what] = self.server.told[what], self.server.told[what] + 1
        payload = str(before).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def told() -> Iterator[Told]:
    server = Told()
    yield server
    server.shutdown()
    server.server_close()


def run(server: Told, **given: object) -> WorkflowExecution:
    url = f"http://127.0.0.1:{server.server_port}"
    task = {
        "id": "clerk",
        "use": "test.pydantic_agent",
        "retry": {"maxAttempts": 2, "baseSeconds": 0},
        "with": {"url": url, "calls": KILLS, **given},
    }
    execution = start(publish({"tasks": [task], "output": "{{ tasks.clerk.output.text }}"}))
    wait_for_end([execution], 90)
    found = WorkflowExecution.objects.get(pk=execution)
    assert found.state == "SUCCESS", describe([execution])
    return found


def test_an_agent_whose_process_is_killed_repeats_no_recorded_call(
    fleet: Fleet, told: Told
) -> None:
    # A run that ends its process three times is a dead letter, so two calls of the tool kill it.
    done = run(told, kill=True, calls=2)

    assert json.loads(done.output) == [0, 2]
    assert told.told == {"model 0": 1, "model 1": 1, "model 2": 1, "tool 0": 2, "tool 1": 2}
    units = AgentUnit.objects.filter(execution=done.pk).order_by("number")
    assert [unit.number for unit in units] == list(range(len(units)))
    assert sum("model.request" in unit.name for unit in units) == 3
    recorded = Run.objects.get(execution=done.pk)
    assert recorded.cost_tokens == 30, "a crash loses no costs"
    assert recorded.cost_amount == 3 * PRICE


def test_the_next_attempt_of_a_step_continues_its_agent(fleet: Fleet, told: Told) -> None:
    done = run(told, fail=True)

    assert max(told.told.values()) == 1
    first, second = Run.objects.filter(execution=done.pk).order_by("attempt")
    assert first.cost_tokens == 10 * (KILLS + 1)
    assert not second.cost_tokens, "the first attempt has reported them"
