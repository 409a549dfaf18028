"""Alert rules for tests, and real HTTP and mail servers that receive their messages."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink

from executions.access.actor import Actor
from executions.models import Workspace
from tests.support.workflows import default_workspace
from valkyr_plugins.alerts.lifecycle import Finding
from valkyr_plugins.alerts.models import AlertKind, AlertRule
from valkyr_plugins.alerts.rules import create_rule
from valkyr_project.embedded.child import free_port

ACTOR = Actor(None, "ann", "test")
SECRET = "a secret that signs what is sent"
EVERYTHING = list(AlertKind.values)


class Receiver(ThreadingHTTPServer):
    """Answers as configured: `answers` are statuses, or "hang"; afterwards 200 and "ok"."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.answers: list[int | str] = []
        self.received: list[dict[str, Any]] = []
        self.text = "ok"
        self.asked = threading.Event()
        self.closing = threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        """The receiver's address."""
        return f"http://127.0.0.1:{self.server_port}/hook"

    @property
    def said(self) -> list[Any]:
        """The bodies of the received requests, read as JSON."""
        return [json.loads(request["body"]) for request in self.received]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: some tests close the connection."""


class _Answering(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(length)
        self.server.received.append({"path": self.path, "headers": headers, "body": body})
        self.server.asked.set()
        answer = self.server.answers.pop(0) if self.server.answers else 200
        if answer == "hang":
            self.server.closing.wait(30)
            return
        text = self.server.text.encode()
        with suppress(ConnectionError):
            self.send_response(int(answer))
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    def log_message(self, *arguments: Any) -> None:
        pass


class PostOffice(Sink):
    """The messages that an SMTP server received."""

    def __init__(self) -> None:
        super().__init__()
        self.envelopes: list[Any] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.envelopes.append(envelope)
        return "250 OK"


@contextmanager
def receiver() -> Iterator[Receiver]:
    """Run an HTTP server during the block."""
    server = Receiver()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()


@contextmanager
def post_office() -> Iterator[tuple[PostOffice, str]]:
    """Run an SMTP server during the block; yield its messages and its address."""
    office = PostOffice()
    port = free_port()
    controller = Controller(office, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield office, f"smtp://127.0.0.1:{port}"
    finally:
        controller.stop()


def rule(
    *kinds: str, url: str = "https://hooks.example.com/alerts", secret: str = SECRET, **facts: Any
) -> AlertRule:
    """Create a webhook rule of the default workspace, or the rule that `facts` describe."""
    given = {"name": "On call", "kinds": list(kinds) or EVERYTHING, "channel": "WEBHOOK"}
    if facts.get("channel", "WEBHOOK") == "WEBHOOK":
        given["url"] = url
    workspace: Workspace | None = facts.pop("workspace", default_workspace())
    return create_rule(workspace, given | facts, secret=secret, actor=ACTOR)


def finding(subject: str = "circuit:1", **facts: Any) -> Finding:
    """Return the finding of an open circuit, or of the state that `facts` give."""
    given: dict[str, Any] = {
        "kind": AlertKind.CIRCUIT_OPEN,
        "subject": subject,
        "sentence": f"The circuit of {subject} opened.",
        "path": "valkyr_circuits/circuitbreaker/",
        "workspace_id": default_workspace().pk,
    }
    return Finding(**given | facts)
