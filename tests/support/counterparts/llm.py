"""A server that speaks OpenAI's protocol correctly, incorrectly, slowly, in parts or endlessly.

The model's name in a request selects the behaviour: `MISCHIEF` lists the names. Any other model is
answered as by the demo's server.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

from valkyr_project.demo.llm_server import Body, LlmHandler, LlmServer, usage

WAIT_SECONDS = 30.0


class Mischief(LlmHandler):
    """Answers according to the model's name."""

    @property
    def model_server(self) -> "ModelServer":
        """Return the server with its precise type."""
        return cast("ModelServer", self.server)

    def do_POST(self) -> None:
        self.model_server.headers.append({k.lower(): v for k, v in self.headers.items()})
        super().do_POST()

    def chat(self, body: Body) -> None:
        self.model_server.note(body)
        name = body["model"].replace("-", "_")
        mischief: Callable[[Body], None] | None = getattr(self, f"as_{name}", None)
        if mischief is None:
            super().chat(body)
        else:
            mischief(body)

    def embeddings(self, body: Body) -> None:
        self.model_server.note(body)
        if body["model"] == "embed-short":
            body = {**body, "input": body["input"][:1]}
        if body["model"] == "embed-wide":
            body = {**body, "dimensions": 200_000}
        if body["model"] == "embed-uneven":
            body = {**body, "dimensions": 3 + self.server.asked["embed-uneven"]}
        super().embeddings(body)

    def times(self, body: Body) -> int:
        """Return how often this model was called, including this call."""
        return self.model_server.asked[body["model"]]

    # What a provider refuses.

    def as_busy(self, body: Body) -> None:
        self.refuse(429, "Rate limit reached for requests", "rate_limit_exceeded", Retry_After="7")

    def as_busy_once(self, body: Body) -> None:
        if self.times(body) == 1:
            self.refuse(429, "Rate limit reached", "rate_limit_exceeded", retry_after_ms="50")
        else:
            self.say(body, "Now I have time.")

    def as_broke(self, body: Body) -> None:
        self.refuse(429, "You exceeded your current quota", "insufficient_quota")

    def as_locked(self, body: Body) -> None:
        self.refuse(401, "Incorrect API key provided: sk-abc***xyz", "invalid_api_key")

    def as_context(self, body: Body) -> None:
        self.refuse(
            400, "This model's maximum context length is 8192 tokens", "context_length_exceeded"
        )

    def as_filtered(self, body: Body) -> None:
        self.refuse(400, "The response was filtered", "content_filter")

    def as_filtered_later(self, body: Body) -> None:
        self.say(body, "Well, you take", finish="content_filter")

    def as_down(self, body: Body) -> None:
        self.refuse(503, "The engine is currently overloaded", "server_error")

    def as_unknown(self, body: Body) -> None:
        self.refuse(404, "The model `unknown` does not exist", "model_not_found")

    def as_elsewhere(self, body: Body) -> None:
        self.send_json({}, 307, Location="http://127.0.0.1:1/v1/chat/completions")

    # What it does not understand.

    def as_newer(self, body: Body) -> None:
        if "max_tokens" in body:
            self.refuse(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                "unsupported_parameter",
            )
        else:
            self.say(body, f"At most {body['max_completion_tokens']}.")

    def as_older(self, body: Body) -> None:
        if "stream_options" in body:
            self.refuse(422, "Unknown field: stream_options", "invalid_request")
        elif (body.get("response_format") or {}).get("type") == "json_schema":
            self.refuse(400, "response_format json_schema is not supported", "invalid_request")
        else:
            self.say(body, '```json\n{"total": 3}\n```')

    def as_plainest(self, body: Body) -> None:
        """Refuse each key that a request can omit, one after another."""
        form = (body.get("response_format") or {}).get("type")
        for key in ("max_tokens", "stream_options", "response_format"):
            if key in body:
                self.refuse(400, f"{key} {form} is not supported", "invalid_request")
                return
        self.say(body, '{"total": 3}')

    def as_whole(self, body: Body) -> None:
        self.say({**body, "stream": False}, "All at once.")

    def as_uncounted(self, body: Body) -> None:
        self.say({**body, "stream_options": None}, "x" * 40)

    # Errors during the transfer.

    def as_html(self, body: Body) -> None:
        self._send(b"<html>Sign in</html>", "text/html")

    def as_malformed(self, body: Body) -> None:
        if not body.get("stream"):
            return self._send(b'{"choices": [', "application/json")
        self._begin()
        self.send_event('{"choices": [')
        return self._end()

    def as_shapeless(self, body: Body) -> None:
        self._begin()
        self.send_event('{"choices": "none"}')
        self._end()

    def as_number(self, body: Body) -> None:
        self._send(b"42", "application/json")

    def as_packed(self, body: Body) -> None:
        self._send(b"\x1f\x8b\x08\x00", "application/json", Content_Encoding="gzip")

    def as_cut(self, body: Body) -> None:
        self._some(body, "Half of the ans")
        self.close_connection = True

    def as_endless_sentence(self, body: Body) -> None:
        """Send a successful HTTP response without a finish reason."""
        self._some(body, "Half of the ans")
        self._end()

    def as_breaks(self, body: Body) -> None:
        self._some(body, "Half of the ans")
        error = {"message": "The server had an error", "type": "server_error", "code": None}
        self.send_event(json.dumps({"error": error}))
        self._end()

    def as_slow(self, body: Body) -> None:
        self._some(body, "One word and ")
        self.wfile.flush()
        self.model_server.closing.wait(WAIT_SECONDS)
        self.close_connection = True

    def as_silent(self, body: Body) -> None:
        self.model_server.closing.wait(WAIT_SECONDS)
        self.close_connection = True

    def as_huge(self, body: Body) -> None:
        self._begin()
        frame = self.frame(body, "chat.completion.chunk")
        delta = {"index": 0, "delta": {"content": "y " * 50_000}}
        event = json.dumps({**frame, "choices": [delta]})
        for _ in range(100):
            self.send_event(event)
        self._end()

    def as_long_line(self, body: Body) -> None:
        self._begin()
        self.send_event("y" * 3_000_000)
        self._end()

    # The text of its answers.

    def as_tools(self, body: Body) -> None:
        if any(message["role"] == "tool" for message in body["messages"]):
            return self.say(body, f"It says {body['messages'][-1]['content']}.")
        if not body.get("stream"):
            function = {"name": "find_order", "arguments": '{"number": "17"}'}
            call = {"id": "call_1", "type": "function", "function": function}
            return self.say(body, "", finish="tool_calls", tool_calls=[call])
        self._begin()
        frame = self.frame(body, "chat.completion.chunk")
        for call in (
            {"index": 0, "id": "call_1", "function": {"name": "find_order", "arguments": ""}},
            {"index": 1, "id": "call_2", "function": {"name": "find_order", "arguments": "{no"}},
            {"index": 0, "function": {"arguments": '{"number":'}},
            {"index": 0, "function": {"arguments": ' "17"}'}},
        ):
            delta = {"tool_calls": [call]}
            self.send_event(json.dumps({**frame, "choices": [{"index": 0, "delta": delta}]}))
        done = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
        self.send_event(json.dumps({**frame, "choices": [done], "usage": usage(body, "")}))
        return self._end()

    def as_reasons(self, body: Body) -> None:
        self.say(body, "Two.", reasoning_content="One and one…")

    def as_refuses(self, body: Body) -> None:
        self.say(body, "", refusal="I cannot help with that.")

    def as_truncated(self, body: Body) -> None:
        self.say(body, "It goes without", finish="length")

    def as_echo(self, body: Body) -> None:
        self.say(body, str(body["messages"][-1]["content"]))

    def as_chatty(self, body: Body) -> None:
        self.say(body, "word " * 6_000)

    def as_valid(self, body: Body) -> None:
        self.say(body, '{"total": 3}')

    def as_invalid_once(self, body: Body) -> None:
        fixed = any(message["role"] == "assistant" for message in body["messages"])
        self.say(body, '{"total": 3}' if fixed else '{"total": "three"}')

    def as_invalid_twice(self, body: Body) -> None:
        self.say(body, "I think it is three.")

    def _some(self, body: Body, text: str) -> None:
        """Send the first words of an answer, without its end."""
        self._begin()
        for event in list(self.events({**body, "stream_options": None}, text, "stop"))[:-1]:
            self.send_event(json.dumps(event))

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _end(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def _send(self, payload: bytes, media_type: str, **headers: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(payload)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(payload)


class ModelServer(LlmServer):
    """A model server; `requests` and `headers` list those received, in order, and `asked` counts by
    model.
    """

    def __init__(self) -> None:
        super().__init__(handler=Mischief)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.asked: Counter[str] = Counter()
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self.start()

    def note(self, body: Body) -> None:
        """Record a request."""
        with self._lock:
            self.requests.append(body)
            self.asked[body["model"]] += 1

    def stop(self) -> None:
        """Release the waiting requests, and stop the server."""
        self.closing.set()
        super().stop()
