"""A broker that implements the part of AMQP 0-9-1 for publishing: handshake, confirms, returns.

It knows the queues it is given. A message to the default exchange and an unknown queue is returned
(basic.return), as RabbitMQ does with mandatory messages. A message to another exchange closes the
channel.
"""

import socketserver
import struct
import threading
from dataclasses import dataclass, field
from typing import Any, Self

from amqp.basic_message import Message
from amqp.serialization import dumps, loads

METHOD, HEADER, BODY, HEARTBEAT, END = 1, 2, 3, 8, 0xCE
LOGIN = {"LOGIN": "ann", "PASSWORD": "right-word"}


@dataclass
class Received:
    """One message, as it arrived."""

    exchange: str
    routing_key: str
    properties: dict[str, Any]
    body: bytes


@dataclass
class AmqpBroker:
    """The server, in threads of this process; `url` includes the correct password."""

    queues: tuple[str, ...] = ("orders",)
    received: list[Received] = field(default_factory=list)

    def __enter__(self) -> Self:
        broker = self

        class Talk(_Conversation):
            known = broker

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Talk)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.port = int(self._server.server_address[1])
        self.url = f"amqp://ann:right-word@127.0.0.1:{self.port}/shop"
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Conversation(socketserver.StreamRequestHandler):
    known: AmqpBroker

    def handle(self) -> None:
        self.count = 0
        assert self.rfile.read(8) == b"AMQP\x00\x00\x09\x01"
        mechanisms, locales = "AMQPLAIN PLAIN", "en_US"
        self._say(0, (10, 10), "ooFSS", 0, 9, {}, mechanisms, locales)
        try:
            while frame := self._frame():
                if not self._answer(*frame):
                    return
        except (ConnectionError, struct.error):
            return

    def _frame(self) -> tuple[int, int, bytes] | None:
        head = self.rfile.read(7)
        if len(head) < 7:
            return None
        kind, channel, size = struct.unpack(">BHI", head)
        payload = self.rfile.read(size)
        assert self.rfile.read(1) == bytes([END])
        return kind, channel, payload

    def _answer(self, kind: int, channel: int, payload: bytes) -> bool:
        if kind != METHOD:
            return True
        method, args = struct.unpack(">HH", payload[:4]), payload[4:]
        if method == (10, 11) and b"right-word" not in args:
            self._say(0, (10, 50), "BsBB", 403, "ACCESS_REFUSED - Login was refused", 10, 11)
        elif method == (10, 11):
            self._say(0, (10, 30), "BlB", 0, 131_072, 0)
        elif method == (10, 40):
            self._say(0, (10, 41), "s", "")
        elif method == (20, 10):
            self._say(channel, (20, 11), "S", "")
        elif method == (85, 10):
            self._say(channel, (85, 11), "")
        elif method == (60, 40):
            self._published(channel, args)
        elif method == (20, 40):
            self._say(channel, (20, 41), "")
        elif method == (10, 50):
            self._say(0, (10, 51), "")
        return method not in ((10, 50), (10, 51))

    def _published(self, channel: int, args: bytes) -> None:
        (_, exchange, key, _), _ = loads("Bssb", args, 0)
        frame = self._frame()
        assert frame is not None
        header, body = frame[2], b""
        (size,) = struct.unpack(">Q", header[4:12])
        while len(body) < size:
            piece = self._frame()
            assert piece is not None
            body += piece[2]
        message = Message()
        message._load_properties(60, header, 12)
        self.count += 1
        if exchange:
            self._say(channel, (20, 40), "BsBB", 404, f"NOT_FOUND - no exchange {exchange}", 60, 40)
            return
        if key in self.known.queues:
            self.known.received.append(Received(exchange, key, message.properties, body))
        else:
            self._say(channel, (60, 50), "Bsss", 312, "NO_ROUTE", exchange, key)
            self._send(HEADER, channel, header)
            self._send(BODY, channel, body)
        self._say(channel, (60, 80), "Lb", self.count, False)

    def _say(self, channel: int, method: tuple[int, int], kinds: str, *values: Any) -> None:
        self._send(METHOD, channel, struct.pack(">HH", *method) + dumps(kinds, values))

    def _send(self, kind: int, channel: int, payload: bytes) -> None:
        head = struct.pack(">BHI", kind, channel, len(payload))
        self.wfile.write(head + payload + bytes([END]))
