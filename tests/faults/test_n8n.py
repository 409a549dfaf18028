"""An imported workflow runs on real workers: webhook, fields, a choice, a request, an answer."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from executions.definition.catalog import catalog
from executions.models import Trigger, Workflow
from executions.publishing import versioning
from executions.triggers import webhook
from tests.support.fleet import KEY_PREFIX, Fleet
from tests.support.web_server import WebServer, web_server
from tests.support.workflows import ACTOR, default_workspace
from valkyr_plugins.n8n.conversion import convert
from valkyr_plugins.n8n.export import read_text
from valkyr_project.embedded import Redis

EXPORT = Path(__file__).parents[1] / "data" / "n8n" / "order-webhook.json"


class Stock(ThreadingHTTPServer):
    """Reserves the goods that requests name; `asked` are the requests' bodies."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked: list[Any] = []
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()


class Answer(BaseHTTPRequestHandler):
    server: Stock

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        body = json.dumps({"reserved": asked["total"] / 10}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def stock() -> Iterator[Stock]:
    server = Stock()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def web(redis: Redis, tmp_path: Path) -> Iterator[WebServer]:
    more = {
        "REDIS_URL": redis.url,
        "CELERY_BROKER_URL": redis.url,
        "VALKYR_KEY_PREFIX": KEY_PREFIX,
    }
    with web_server(tmp_path / "web.log", more) as server:
        yield server


def imported(stock: Stock) -> Workflow:
    """Publish the export, with its request sent to the stock's address."""
    text = EXPORT.read_text().replace("127.0.0.1:1/", f"127.0.0.1:{stock.server_port}/")
    definition = convert(read_text(text)[0], catalog()).definition
    made = versioning.create_workflow(
        default_workspace(), name="imported", definition=definition, actor=ACTOR
    )
    versioning.publish(made.pk, actor=ACTOR)
    return made


def test_an_imported_workflow_answers_as_it_did_in_n8n(
    fleet: Fleet, web: WebServer, stock: Stock
) -> None:
    trigger = Trigger.objects.get(workflow=imported(stock), type="WEBHOOK")
    secret = webhook.reveal(trigger.pk, actor=ACTOR)
    address = f"{web.address}/v1/hooks/{trigger.pk}"

    def call(total: int) -> httpx.Response:
        payload = {"total": total, "customer": {"name": "Ann"}}
        headers = {"Authorization": f"Bearer {secret}"}
        return httpx.post(address, json=payload, headers=headers, timeout=120)

    large, small = call(250), call(20)

    assert (large.status_code, large.json()) == (200, {"reserved": 25, "for": "ANN"})
    assert (small.status_code, small.json()) == (200, "Too small: 20")
    assert stock.asked == [{"customer": "ANN", "total": 250}]
