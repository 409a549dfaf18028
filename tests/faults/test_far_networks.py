"""The bad network of the chaos harness affects packets and look-ups as configured."""

import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.support import far_network
from tests.support.far_network import FarNetwork

pytestmark = pytest.mark.skipif(bool(far_network.missing()), reason=far_network.missing() or "")
# Prints the seconds of a lookup, of a request, and the status; or what went wrong.
ASK = """
import socket, sys, time
from http.client import HTTPConnection
begun = time.monotonic()
try:
    host = socket.gethostbyname(sys.argv[1])
except OSError as error:
    sys.exit(f"lookup failed after {time.monotonic() - begun:.1f} s")
found = time.monotonic()
client = HTTPConnection(host, int(sys.argv[2]), timeout=float(sys.argv[3]))
try:
    client.request("GET", "/")
    status = client.getresponse().status
except OSError:
    sys.exit("no answer")
print(found - begun, time.monotonic() - found, status)
"""


class EmptyAnswers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Write no log lines."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), EmptyAnswers)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


@pytest.fixture
def far(port: int, tmp_path: Path) -> Iterator[FarNetwork]:
    with far_network.far_network([port], [], tmp_path) as made:
        yield made


def ask(far: FarNetwork, port: int, host: str, folder: Path, patience: float = 10) -> str:
    said = folder / f"said-{time.monotonic_ns()}"
    with said.open("wb") as output:
        command = [sys.executable, "-c", ASK, host, str(port), str(patience)]
        far.begin(command, output=output.fileno(), environment={}, folder=folder).wait(60)
    return said.read_text().strip()


def test_a_server_is_reached_late_over_a_line_with_delay(
    far: FarNetwork, port: int, tmp_path: Path
) -> None:
    assert ask(far, port, far_network.NEAR_ADDRESS, tmp_path).endswith(" 200")
    far.change(delay=0.1)
    _, seconds, status = ask(far, port, far_network.NEAR_ADDRESS, tmp_path).split()
    assert status == "200"
    assert float(seconds) > 0.4, "a connection and a request take two round trips"


@pytest.mark.parametrize("way", ["there", "back"])
def test_packets_are_lost_in_the_direction_that_was_asked_for(
    far: FarNetwork, port: int, tmp_path: Path, way: str
) -> None:
    before = far.change(loss={way: 1.0})
    assert ask(far, port, far_network.NEAR_ADDRESS, tmp_path, 2) == "no answer"
    counts = far.mend()
    assert counts[f"lost {way}"] > before.get(f"lost {way}", 0)
    assert not counts.get("lost back" if way == "there" else "lost there")
    assert ask(far, port, far_network.NEAR_ADDRESS, tmp_path).endswith(" 200")


def test_names_are_slow_or_unknown_for_a_while(far: FarNetwork, port: int, tmp_path: Path) -> None:
    far.change(names={"delay": 1.0})
    seconds, _, status = ask(far, port, "database.far.test", tmp_path).split()
    assert (float(seconds) > 1, status) == (True, "200")
    far.change(names={"mode": "fails", "delay": 0.0})
    assert ask(far, port, "database.far.test", tmp_path).startswith("lookup failed after 0.")
    far.mend()
    assert ask(far, port, "database.far.test", tmp_path).endswith(" 200")


def test_a_process_there_keeps_its_own_number(far: FarNetwork, tmp_path: Path) -> None:
    with (tmp_path / "number").open("wb") as output:
        process = far.begin(
            [sys.executable, "-c", "import os; print(os.getpid())"],
            output=output.fileno(), environment={}, folder=tmp_path,
        )  # fmt: skip
        process.wait(60)
    assert (tmp_path / "number").read_text().strip() == str(process.pid)
