"""A small server that speaks OpenAI's protocol, so that examples run without a key or a network.

    python -m valkyr_project.demo.llm_server [PORT]

It listens on this machine alone, where steps under `make up` may reach it, and takes any key.
"""

import json
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from valkyr_project.demo.llm_answers import DIMENSIONS, data_answer, text_answer, vector
from valkyr_project.up.environment import PARTNER_ADDRESS

USUAL_PORT = 8791
PIECE = 24  # characters of one piece of a stream
MAX_BODY = 16 * 1024 * 1024
Body = dict[str, Any]


def tokens(text: str) -> int:
    """About as many as a model would count."""
    return -(-len(text) // 4)


class LlmHandler(BaseHTTPRequestHandler):
    """Answers chat completions and embeddings; a test's server derives its mischief from it."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Read the request and answer by its path."""
        length = int(self.headers.get("Content-Length") or 0)
        try:
            body = json.loads(self.rfile.read(min(length, MAX_BODY)))
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return self.refuse(400, "the body is no JSON object", "invalid_request")
        if self.path.endswith("/chat/completions"):
            return self.chat(body)
        if self.path.endswith("/embeddings"):
            return self.embeddings(body)
        return self.refuse(404, f"there is nothing at {self.path}", "not_found")

    def chat(self, body: Body) -> None:
        """Answer a conversation, piece by piece where asked to."""
        self.say(body, self.text_for(body))

    def text_for(self, body: Body) -> str:
        """What the model says to a conversation."""
        prompt = "\n".join(str(message.get("content")) for message in body.get("messages", []))
        wanted = body.get("response_format") or {}
        if wanted.get("type") == "json_schema":
            return data_answer(wanted["json_schema"]["schema"], prompt)
        return text_answer(prompt)

    def embeddings(self, body: Body) -> None:
        """Answer with a vector for each text."""
        texts = body.get("input", [])
        texts = [texts] if isinstance(texts, str) else texts
        size = body.get("dimensions") or DIMENSIONS
        data = [
            {"object": "embedding", "index": index, "embedding": vector(text, size)}
            for index, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": tokens("".join(texts)), "total_tokens": tokens("".join(texts))}
        self.send_json({"object": "list", "model": body["model"], "data": data, "usage": usage})

    def say(self, body: Body, text: str, finish: str = "stop", **more: Any) -> None:
        """Answer with a text, as OpenAI would."""
        if body.get("stream"):
            self.send_stream(self.events(body, text, finish, **more))
            return
        message = {"role": "assistant", "content": text, **more}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        kind = "chat.completion"
        self.send_json({**self.frame(body, kind), "choices": [choice], "usage": usage(body, text)})

    def events(self, body: Body, text: str, finish: str, **more: Any) -> Iterator[Body]:
        """The pieces of a streamed answer."""
        frame = self.frame(body, "chat.completion.chunk")
        pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
        for delta in ({"role": "assistant", **more}, *({"content": piece} for piece in pieces)):
            yield {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
        if (body.get("stream_options") or {}).get("include_usage"):
            yield {**frame, "choices": [], "usage": usage(body, text)}

    def frame(self, body: Body, kind: str) -> Body:
        """What stands in every answer and every piece of one."""
        return {
            "id": "chatcmpl-1", "object": kind, "created": int(time.time()), "model": body["model"],
        }  # fmt: skip

    def send_stream(self, events: Iterator[Body]) -> None:
        """Send events, each in a chunk of its own (RFC 9112, section 7.1), and the end mark."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            self.send_event(json.dumps(event))
        self.send_event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def send_event(self, data: str) -> None:
        """Send one event."""
        piece = f"data: {data}\n\n".encode()
        self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")

    def refuse(self, status: int, message: str, code: str, **headers: str) -> None:
        """Answer with an error, as OpenAI words them."""
        error = {"message": message, "type": code, "code": code, "param": None}
        self.send_json({"error": error}, status, **headers)

    def send_json(self, value: Any, status: int = 200, **headers: str) -> None:
        """Send a JSON answer; names of headers with `_` for `-`."""
        payload = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


def usage(body: Body, text: str) -> Body:
    """The tokens of a conversation and its answer."""
    asked = tokens("".join(str(message.get("content")) for message in body.get("messages", [])))
    answered = tokens(text)
    return {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": asked + answered,
    }


class LlmServer(ThreadingHTTPServer):
    """Listens at one address of this machine; `url` is what a step's `baseUrl` says."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, host: str = "127.0.0.1", port: int = 0, handler: type[LlmHandler] = LlmHandler
    ) -> None:
        """Bind, to any free port for 0; raises OSError when it is taken."""
        super().__init__((host, port), handler)

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://{self.server_address[0]!s}:{self.server_port}/v1"

    def start(self) -> None:
        """Answer in a thread of its own until `stop`."""
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Stop answering and close the port; only after `start`."""
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over callers who hung up."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def main(arguments: list[str]) -> None:
    """Serve until interrupted."""
    port = int(arguments[0]) if arguments else USUAL_PORT
    server = LlmServer(PARTNER_ADDRESS, port)
    print(f"A model that knows nothing answers at {server.url}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main(sys.argv[1:])
