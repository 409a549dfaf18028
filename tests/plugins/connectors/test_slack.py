"""Tests of `slack.post` by incoming webhook and by bot token, and of classified answers."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.secrets.scrubbing import Scrubber
from runners.segment.step_context import Context
from runners.states import ErrorType

PERMANENT, TRANSIENT = ErrorType.PERMANENT, ErrorType.TRANSIENT
SECRET_PATH = "/services/T000/B000/s3cretpath"
TOKEN = "xoxb-s3cret-token"


class Slack(ThreadingHTTPServer):
    """Gives the answer that the test set; remembers the last request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.answer = 200, b"ok"
        self.reply_headers: dict[str, str] = {}
        self.path, self.authorization, self.body = "", "", {}
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Slack

    def do_POST(self) -> None:
        server = self.server
        server.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server.path, server.authorization = self.path, self.headers.get("authorization", "")
        self.send_response(server.status)
        kind = "application/json" if server.answer.startswith(b"{") else "text/html"
        for name, text in {"Content-Type": kind, **server.reply_headers}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(server.answer)))
        self.end_headers()
        self.wfile.write(server.answer)

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def slack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slack]:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    server = Slack()
    monkeypatch.setenv("VALKYR_SLACK_API_URL", f"{server.url}/api/")
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def hook(slack: Slack, step_context: Context) -> Callable[..., Any]:
    step_context.reveal({"webhook_url": f"{slack.url}{SECRET_PATH}"}, Scrubber({}))
    return _posting(step_context)


@pytest.fixture
def bot(slack: Slack, step_context: Context) -> Callable[..., Any]:
    slack.answer = b'{"ok": true, "channel": "C1", "ts": "17.1"}'
    step_context.reveal({"token": TOKEN}, Scrubber({}))
    return _posting(step_context)


def _posting(context: Context) -> Callable[..., Any]:
    def post(**config: Any) -> Any:
        result = registry.get("slack.post").run(config, context)
        assert isinstance(result, Result)
        return result.outputs

    return post


def test_a_webhook_gets_text_and_blocks(slack: Slack, hook: Callable[..., Any]) -> None:
    blocks = [{"type": "divider"}]

    assert hook(text="Grüße", blocks=blocks) == {"channel": None, "ts": None}
    assert slack.path == SECRET_PATH
    assert slack.body == {"text": "Grüße", "blocks": blocks, "unfurl_links": True}
    assert slack.authorization == ""


@pytest.mark.parametrize(
    ("status", "answer", "error_type"),
    [
        (400, b"invalid_payload", PERMANENT),
        (404, b"no_service", PERMANENT),
        (410, b"channel_is_archived", PERMANENT),
        (429, b"rate_limited", TRANSIENT),
        (500, b"rollup_error", TRANSIENT),
        (200, b"<html>sign in</html>", PERMANENT),
        (302, b"", PERMANENT),
    ],
)
def test_a_webhooks_refusal_is_told_without_its_address(
    slack: Slack, hook: Callable[..., Any], status: int, answer: bytes, error_type: ErrorType
) -> None:
    slack.status, slack.answer = status, answer
    slack.reply_headers = {"Retry-After": "9", "Location": "/elsewhere"}

    with pytest.raises(StepError) as caught:
        hook(text="hello")

    assert caught.value.error_type is error_type
    assert answer.decode() in caught.value.message
    assert "s3cret" not in caught.value.message + str(caught.value.details)
    if error_type is TRANSIENT:
        assert caught.value.retry_after == 9


def test_a_webhook_that_cannot_be_reached_is_told_without_its_address(
    slack: Slack, hook: Callable[..., Any]
) -> None:
    slack.shutdown()
    slack.server_close()

    with pytest.raises(StepError, match="POST Slack's webhook: ConnectError") as caught:
        hook(text="hello")

    assert "s3cret" not in caught.value.message


def test_a_webhook_has_a_channel_of_its_own(hook: Callable[..., Any]) -> None:
    with pytest.raises(StepError, match="remove channel and threadTs"):
        hook(text="hello", channel="#orders")


def test_a_bot_posts_to_a_channel_and_into_a_thread(slack: Slack, bot: Callable[..., Any]) -> None:
    assert bot(text="hello", channel="#orders", threadTs="16.9") == {"channel": "C1", "ts": "17.1"}
    assert slack.path == "/api/chat.postMessage"
    assert slack.authorization == f"Bearer {TOKEN}"
    assert (slack.body["channel"], slack.body["thread_ts"]) == ("#orders", "16.9")


@pytest.mark.parametrize(
    ("status", "answer", "error_type", "said"),
    [
        (200, b'{"ok": false, "error": "channel_not_found"}', PERMANENT, "channel_not_found"),
        (200, b'{"ok": false, "error": "invalid_auth"}', PERMANENT, "invalid_auth"),
        (200, b'{"ok": false, "error": "ratelimited"}', TRANSIENT, "ratelimited"),
        (200, b'{"ok": false, "error": "fatal_error"}', TRANSIENT, "fatal_error"),
        (200, b'{"ok": false}', PERMANENT, "did not respond like Slack"),
        (200, b"[]", PERMANENT, "did not respond like Slack"),
        (429, b'{"ok": false, "error": "ratelimited"}', TRANSIENT, "429"),
        (503, b"down", TRANSIENT, "503"),
    ],
)
def test_slacks_errors_are_classed(
    slack: Slack,
    bot: Callable[..., Any],
    status: int,
    answer: bytes,
    error_type: ErrorType,
    said: str,
) -> None:
    slack.status, slack.answer, slack.reply_headers = status, answer, {"Retry-After": "30"}

    with pytest.raises(StepError) as caught:
        bot(text="hello", channel="#orders")

    assert caught.value.error_type is error_type
    assert said in caught.value.message
    assert (caught.value.retry_after == 30) is (error_type is TRANSIENT)


def test_a_bot_needs_a_channel(bot: Callable[..., Any]) -> None:
    with pytest.raises(StepError, match="needs channel"):
        bot(text="hello")


def test_a_webhook_address_that_is_none_is_not_quoted(step_context: Context) -> None:
    step_context.reveal({"webhook_url": "s3cret-no-url"}, Scrubber({}))

    with pytest.raises(StepError, match="is not an http or https URL") as caught:
        registry.get("slack.post").run({"text": "hello"}, step_context)

    assert "s3cret" not in caught.value.message
