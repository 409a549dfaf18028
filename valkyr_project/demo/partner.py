"""The partner service of the demo: a small HTTP server that the workflow's steps call.

It does each piece of work once per `Idempotency-Key`, as a careful partner does: a repeated key
gets the first result again. It counts its work, and the demo uses the counts to show whether any
work was done twice.
"""

import errno
import json
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from valkyr_project.demo.orders import DISCONTINUED, Order, Trouble, number, trouble
from valkyr_project.up.environment import PARTNER_ADDRESS

USUAL_PORT = 8790
HANG_SECONDS = 60.0
NOUNS = {
    "reservations": "reservationId",
    "reviews": "reviewId",
    "charges": "chargeId",
    "shipments": "trackingNumber",
    "refunds": "refundId",
}


@dataclass(frozen=True, slots=True)
class PartnerResponse:
    """A response: its status, JSON body and headers; with `hang`, it is not sent."""

    status: int
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False


@dataclass
class Ledger:
    """The partner's work; every method is safe to call from many threads."""

    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    effects: Counter[tuple[str, str]] = field(default_factory=Counter)  # (service, order) -> times
    repeats: Counter[str] = field(default_factory=Counter)  # calls with a known key
    carrier_awake: bool = False  # before that, some shipments get no answer
    _done: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, service: str, body: dict[str, Any], key: str) -> PartnerResponse:
        """Return the answer to a call, and count it; `key` is the Idempotency-Key ("" if none)."""
        order_id = str(body.get("orderId", ""))
        with self._lock:
            self.calls[service, order_id] += 1
            call = self.calls[service, order_id]
            known = self._done.get((service, key)) if key else None
            if known is not None:
                self.repeats[service] += 1
                return PartnerResponse(200, known)
            refusal = self._refusal(trouble(service, _order(body)), call, body)
            if refusal is not None:
                return refusal
            self.effects[service, order_id] += 1
            result = {NOUNS[service]: f"{service[:3].upper()}-{order_id}-{call}"}
            if key:
                self._done[service, key] = result
            if trouble(service, _order(body)) is Trouble.LOST_ANSWER:
                return PartnerResponse(503, {"error": "the answer was lost on its way back"})
            return PartnerResponse(201, result)

    def done(self, service: str) -> int:
        """Return the number of orders for which `service` has done its work."""
        with self._lock:
            return sum(1 for name, _ in self.effects if name == service)

    def doubled(self) -> int:
        """Return the number of (service, order) pairs whose work was done more than once."""
        with self._lock:
            return sum(times > 1 for times in self.effects.values())

    def _refusal(self, kind: Trouble, call: int, body: dict[str, Any]) -> PartnerResponse | None:
        """Return the error response that the fault causes, or None if the partner does its work."""
        if kind is Trouble.REFUSED:
            old = [s for s in _order(body).skus if s.startswith(DISCONTINUED)]
            return PartnerResponse(422, {"error": f"article {', '.join(old)} is discontinued"})
        if kind is Trouble.DECLINED:
            return PartnerResponse(402, {"error": "card declined"})
        if kind is Trouble.BANK_DOWN or (kind is Trouble.BUSY and call <= 2):
            return PartnerResponse(503, {"error": "try again later"})
        if kind is Trouble.SLOW_DOWN and call == 1:
            return PartnerResponse(429, {"error": "too many requests"}, {"Retry-After": "1"})
        if kind is Trouble.HANGS and not self.carrier_awake:
            return PartnerResponse(503, {"error": "the carrier fell asleep"}, hang=True)
        return None


def _order(body: dict[str, Any]) -> Order:
    items = body.get("items") or []
    skus = tuple(str(item.get("sku", "")) for item in items if isinstance(item, dict))
    return Order(number(str(body.get("orderId", ""))), skus)


class PartnerServer(ThreadingHTTPServer):
    """A server that listens on this machine only; `ledger` records its work."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port: int = 0) -> None:
        """Bind to `port`, or to a free port if it is 0. Raises OSError if the port is in use."""
        try:
            super().__init__((PARTNER_ADDRESS, port), _Handler)
        except OSError as error:
            # Only Linux accepts every loopback address without configuration.
            if error.errno != errno.EADDRNOTAVAIL:
                raise
            super().__init__(("127.0.0.1", port), _Handler)
        self.ledger = Ledger()
        self.closing = threading.Event()
        self._answering = False

    @property
    def host(self) -> str:
        """Return the address at which the partner listens."""
        return str(self.server_address[0])

    @property
    def url(self) -> str:
        """Return the partner's URL, without a trailing slash."""
        return f"http://{self.host}:{self.server_address[1]}"

    def start(self) -> None:
        """Answer in a separate thread until `stop`."""
        self._answering = True
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the errors of clients that disconnected, such as steps that timed out."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def stop(self) -> None:
        """Stop answering and close the port."""
        self.closing.set()
        if self._answering:  # otherwise, `shutdown` would wait forever for a loop that never began
            self.shutdown()
        self.server_close()


def open_partner() -> PartnerServer:
    """Return a server on the port that the example's definition names.

    If the port is taken, the server uses a free one.
    """
    try:
        return PartnerServer(USUAL_PORT)
    except OSError:
        return PartnerServer()


class _Handler(BaseHTTPRequestHandler):
    server: PartnerServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        service = self.path.strip("/")
        try:
            body = json.loads(self.rfile.read(length) or b"{}")
        except ValueError:
            return self._send(PartnerResponse(400, {"error": "the body is not valid JSON"}))
        if service not in NOUNS or not isinstance(body, dict):
            return self._send(PartnerResponse(404, {"error": f"no such service: {service}"}))
        key = self.headers.get("Idempotency-Key") or ""
        answer = self.server.ledger.answer(service, body, key)
        if answer.hang:
            self.server.closing.wait(HANG_SECONDS)
            self.close_connection = True
            return None
        return self._send(answer)

    def _send(self, answer: PartnerResponse) -> None:
        payload = json.dumps(answer.body).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log nothing: the final table contains everything."""
