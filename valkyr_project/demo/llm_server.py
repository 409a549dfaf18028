"""A small server that speaks OpenAI's protocol, so that examples run without a key or a network.

    python -m valkyr_project.demo.llm_server [PORT]

It listens only on this machine, where steps under `make up` can reach it, and accepts any key.
"""

import hashlib
import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from typing import Any

from valkyr_project.up.environment import PARTNER_ADDRESS

# The answers of the demo's model. Equal requests get equal answers, so that examples can be
# checked.
#
# It is not a real model. For a request for data, it fills in the schema. For a request for a text,
# it writes as many words as the prompt's line `Words:` requests, about the contents of `Chapter:`
# and `Keywords:`. Its first draft of a chapter about methods is too short, so that there is
# something to refine.


MOST_WORDS = 5_000
PARAGRAPH_SENTENCES = 5
DIMENSIONS = 8
Schema = Mapping[str, Any]

SENTENCES = (
    "The sources agree on {word} more than they admit.",
    "What is known about {word} was mostly observed, seldom measured.",
    "This part sets {word} against the question of the thesis.",
    "Nobody has yet shown how {word} changes over ten years.",
    "A careful reader will ask what {word} leaves out.",
    "Three cases show {word} at work, and one shows its limits.",
)


def text_answer(prompt: str) -> str:
    """Return a chapter as Markdown; the first draft about methods is only a placeholder."""
    chapter = line(prompt, "Chapter") or "An answer"
    if "method" in chapter.lower() and "Improve" not in prompt:
        return f"{chapter} will be told later"
    keywords = [word.strip() for word in line(prompt, "Keywords").split(",") if word.strip()]
    words = int(re.sub(r"\D", "", line(prompt, "Words"))[:5] or 60)
    return f"## {chapter}\n\n" + _paragraphs(keywords or ["the matter"], min(words, MOST_WORDS))


def line(prompt: str, name: str) -> str:
    """Return the text after `name:` on the line that begins with it; "" if there is none."""
    found = re.search(rf"^{name}:[ \t]*(.*)$", prompt, re.MULTILINE)
    return found[1].strip() if found else ""


def _paragraphs(keywords: Sequence[str], words: int) -> str:
    sentences, count = [], 0
    for sentence in _sentences(keywords):
        sentences.append(sentence)
        count += len(sentence.split())
        if count >= words:
            break
    starts = range(0, len(sentences), PARAGRAPH_SENTENCES)
    return "\n\n".join(" ".join(sentences[at : at + PARAGRAPH_SENTENCES]) for at in starts)


def _sentences(keywords: Sequence[str]) -> Iterator[str]:
    number = 0
    while True:
        word = keywords[number % len(keywords)]
        yield SENTENCES[number % len(SENTENCES)].format(word=word)
        number += 1


def tool_calls(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a call to each tool for which the prompt has all required arguments (`name: …` lines).

    Return [] if the conversation already has the result of a call.
    """
    messages = body.get("messages", [])
    if any(message.get("role") == "tool" for message in messages):
        return []
    prompt = "\n".join(str(message.get("content")) for message in messages)
    calls: list[dict[str, Any]] = []
    for tool in body.get("tools") or []:
        function = tool["function"]
        names = function.get("parameters", {}).get("required", [])
        given = {name: line(prompt, name) for name in names}
        if given and all(given.values()):
            named = {"name": function["name"], "arguments": json.dumps(given)}
            index = len(calls)
            calls.append(
                {"index": index, "id": f"call_{index}", "type": "function", "function": named}
            )
    return calls


def data_answer(schema: Schema, prompt: str) -> str:
    """Return JSON that matches a schema, with plausible values for the fields of the examples."""
    return json.dumps(_value(schema, "answer", line(prompt, "Topic") or "the topic"))


def _value(schema: Schema, name: str, topic: str) -> Any:
    if name in KNOWN:
        return KNOWN[name](topic)
    kind = schema.get("type", "object")
    if kind == "object":
        fields = schema.get("properties", {}).items()
        return {key: _value(field, key, topic) for key, field in fields}
    if kind == "array":
        item = _value(schema.get("items", {}), name, topic)
        return [item] * max(1, schema.get("minItems", 1))
    return _plain(schema, kind, f"{name.replace('_', ' ')} of {topic}")


def _plain(schema: Schema, kind: str, text: str) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return True if kind == "boolean" else text


def _requirements(topic: str) -> dict[str, Any]:
    return {
        "question": f"What is known about {topic}, and what is missing?",
        "method": "A review of sources, and three cases",
        "audience": "readers of the discipline",
    }


def _axes(topic: str) -> list[dict[str, str]]:
    return [
        {"title": f"History of {topic}", "question": f"Where does {topic} come from?"},
        {"title": f"Practice of {topic}", "question": f"How is {topic} done today?"},
    ]


def _map(topic: str) -> list[dict[str, Any]]:
    return [
        {"axis": axis["title"], "claims": [f"{axis['title']} is told, seldom measured"],
         "sources_wanted": ["a standard work", "a recent study", "a primary source"]}
        for axis in _axes(topic)
    ]  # fmt: skip


def _chapters(topic: str) -> list[dict[str, Any]]:
    plan = (
        ("Introduction", ["question", "scope"]),
        ("Method", ["sources", "cases"]),
        ("Findings", ["practice", "limits"]),
    )
    return [
        {"title": title, "purpose": f"{title} to {topic}", "keywords": [*keywords, topic],
         "subsections": [f"{title}: {word}" for word in keywords]}
        for title, keywords in plan
    ]  # fmt: skip


KNOWN: Mapping[str, Callable[[str], Any]] = {
    "title": lambda topic: f"On {topic}",
    "requirements": _requirements,
    "seed_axes": _axes,
    "kb_map": _map,
    "gaps": lambda topic: [f"No long study of {topic}"],
    "chapters": _chapters,
}


def vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Return a vector that depends only on the text; it has no semantic meaning."""
    return list(islice(_numbers(text), dimensions))


def _numbers(text: str) -> Iterator[float]:
    number = 0
    while True:
        for byte in hashlib.sha256(f"{number} {text}".encode()).digest():
            yield byte / 128 - 1
        number += 1


USUAL_PORT = 8791
PIECE = 24  # characters of one piece of a stream
MAX_BODY = 16 * 1024 * 1024
Body = dict[str, Any]


def tokens(text: str) -> int:
    """Return the approximate number of tokens in a text: one token per four characters."""
    return -(-len(text) // 4)


class LlmHandler(BaseHTTPRequestHandler):
    """Answers requests for chat completions and embeddings; tests subclass it to inject errors."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Read the request, and answer it according to its path."""
        length = int(self.headers.get("Content-Length") or 0)
        try:
            body = json.loads(self.rfile.read(min(length, MAX_BODY)))
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return self.refuse(400, "the body is not a JSON object", "invalid_request")
        if self.path.endswith("/chat/completions"):
            return self.chat(body)
        if self.path.endswith("/embeddings"):
            return self.embeddings(body)
        return self.refuse(404, f"there is nothing at {self.path}", "not_found")

    def chat(self, body: Body) -> None:
        """Continue a conversation; stream the new message if requested."""
        if calls := tool_calls(body):
            return self.say(body, "", finish="tool_calls", tool_calls=calls)
        return self.say(body, self.text_for(body))

    def text_for(self, body: Body) -> str:
        """Return the text of the model's next message in a conversation."""
        messages = body.get("messages", [])
        results = [str(one.get("content")) for one in messages if one.get("role") == "tool"]
        if results:
            return f"The tools returned: {' '.join(results)}"
        prompt = "\n".join(str(message.get("content")) for message in messages)
        wanted = body.get("response_format") or {}
        if wanted.get("type") == "json_schema":
            return data_answer(wanted["json_schema"]["schema"], prompt)
        return text_answer(prompt)

    def embeddings(self, body: Body) -> None:
        """Answer with a vector for each text in `input`."""
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
        """Send an answer in OpenAI's format, as a stream if requested."""
        if body.get("stream"):
            self.send_stream(self.events(body, text, finish, **more))
            return
        message = {"role": "assistant", "content": text, **more}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        kind = "chat.completion"
        self.send_json({**self.frame(body, kind), "choices": [choice], "usage": usage(body, text)})

    def events(self, body: Body, text: str, finish: str, **more: Any) -> Iterator[Body]:
        """Yield the pieces of a streamed answer."""
        frame = self.frame(body, "chat.completion.chunk")
        pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
        for delta in ({"role": "assistant", **more}, *({"content": piece} for piece in pieces)):
            yield {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
        if (body.get("stream_options") or {}).get("include_usage"):
            yield {**frame, "choices": [], "usage": usage(body, text)}

    def frame(self, body: Body, kind: str) -> Body:
        """Return the fields that chat completions and their chunks have in common."""
        return {
            "id": "chatcmpl-1", "object": kind, "created": int(time.time()), "model": body["model"],
        }  # fmt: skip

    def send_stream(self, events: Iterator[Body]) -> None:
        """Send each event as a separate chunk (RFC 9112, section 7.1), then the end mark."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            self.send_event(json.dumps(event))
        self.send_event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def send_event(self, data: str) -> None:
        """Send one event as a chunk."""
        piece = f"data: {data}\n\n".encode()
        self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")

    def refuse(self, status: int, message: str, code: str, **headers: str) -> None:
        """Send an error response in OpenAI's format."""
        error = {"message": message, "type": code, "code": code, "param": None}
        self.send_json({"error": error}, status, **headers)

    def send_json(self, value: Any, status: int = 200, **headers: str) -> None:
        """Send a JSON response; in the names of `headers`, `_` stands for `-`."""
        payload = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log nothing."""


def usage(body: Body, text: str) -> Body:
    """Return how many tokens the conversation has, how many the answer has, and their sum."""
    asked = tokens("".join(str(message.get("content")) for message in body.get("messages", [])))
    answered = tokens(text)
    return {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": asked + answered,
    }


class LlmServer(ThreadingHTTPServer):
    """A server that listens on this machine; `url` is the `baseUrl` for steps."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, host: str = "127.0.0.1", port: int = 0, handler: type[LlmHandler] = LlmHandler
    ) -> None:
        """Bind to `port`, or to a free port if it is 0. Raises OSError if the port is in use."""
        super().__init__((host, port), handler)

    @property
    def url(self) -> str:
        """Return the base URL for clients, which ends with `/v1`."""
        return f"http://{self.server_address[0]!s}:{self.server_port}/v1"

    def start(self) -> None:
        """Serve in a separate thread until `stop`."""
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Stop serving and close the port. Call this method only after `start`."""
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the errors of clients that disconnected."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def main(arguments: list[str]) -> None:
    """Serve until interrupted, on the port in `arguments` or on the default port."""
    port = int(arguments[0]) if arguments else USUAL_PORT
    server = LlmServer(PARTNER_ADDRESS, port)
    print(f"A model that knows nothing answers at {server.url}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main(sys.argv[1:])
