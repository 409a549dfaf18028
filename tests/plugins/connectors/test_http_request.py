"""Tests of `http.request` against a real server: requests, answers, failures."""

import time
import tracemalloc
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from runners.modules import registry
from runners.modules.base import StepError
from runners.states import ErrorType
from tests.support.module_fixtures import KEY


@pytest.fixture
def send(step_context):
    def request(url, *, ctx=step_context, **config):
        return registry.get("http.request").run({"url": url, **config}, ctx).outputs

    return request


@pytest.fixture
def failure(send):
    def request(url, **config):
        with pytest.raises(StepError) as caught:
            send(url, **config)
        return caught.value

    return request


def test_a_json_answer_arrives_parsed_with_status_headers_and_time(partner, send):
    answer = send(f"{partner.url}/echo?a=1", query={"b": [2, 3], "c": None})

    assert answer["status"] == 200
    assert answer["bodyEncoding"] == "json"
    assert answer["body"]["query"] == {"a": ["1"], "b": ["2", "3"]}
    assert answer["headers"]["content-type"] == "application/json"
    assert answer["url"] == f"{partner.url}/echo?a=1&b=2&b=3"
    assert answer["durationMs"] > 0


def test_outputs_have_the_keys_their_schema_announces(partner, send):
    announced = registry.specs()["http.request"].outputs_schema["properties"]

    assert send(f"{partner.url}/echo").keys() == announced.keys()


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_changing_request_carries_the_idempotency_key(partner, send, method):
    seen = send(f"{partner.url}/echo", method=method)["body"]

    assert seen["method"] == method
    assert seen["headers"]["idempotency-key"] == KEY


def test_a_key_of_the_authors_own_is_left_alone(partner, send):
    seen = send(f"{partner.url}/echo", method="POST", headers={"Idempotency-Key": "mine"})["body"]

    assert seen["headers"]["idempotency-key"] == "mine"


def test_a_get_carries_no_idempotency_key(partner, send):
    assert "idempotency-key" not in send(f"{partner.url}/echo")["body"]["headers"]


@pytest.mark.parametrize(
    ("config", "content_type", "body"),
    [
        ({"json": {"a": [1, None, "é"]}}, "application/json", '{"a": [1, null, "é"]}'),
        ({"json": None}, "application/json", "null"),
        ({"body": "<é/>"}, None, "<é/>"),
        ({"form": {"a": "b c", "d": ["1", "2"]}}, "application/x-www-form-urlencoded",
         "a=b+c&d=1&d=2"),
    ],
)  # fmt: skip
def test_each_kind_of_body_arrives(partner, send, config, content_type, body):
    seen = send(f"{partner.url}/echo", method="POST", **config)["body"]

    assert seen["headers"].get("content-type") == content_type
    assert seen["body"] == body


def test_an_empty_answer_has_no_body(partner, send):
    answer = send(f"{partner.url}/empty")

    assert (answer["status"], answer["body"], answer["bodyEncoding"]) == (204, None, "none")


def test_a_head_answer_has_no_body(partner, send):
    assert send(f"{partner.url}/text", method="HEAD")["body"] is None


@pytest.mark.parametrize(
    ("path", "body", "encoding"),
    [
        ("text", "Grüße", "text"),
        ("broken-json", '{"a": NaN}', "text"),
        ("gzip", {"packed": True}, "json"),
        ("nul", "YQBi", "base64"),
    ],
)
def test_a_body_becomes_what_can_be_stored(partner, send, path, body, encoding):
    answer = send(f"{partner.url}/{path}")

    assert (answer["body"], answer["bodyEncoding"]) == (body, encoding)


def test_binary_arrives_as_base64(partner, send):
    answer = send(f"{partner.url}/binary")

    assert answer["body"].startswith("AAECAwQ")
    assert answer["bodyEncoding"] == "base64"


def test_json_nested_past_pythons_limit_arrives_as_text(partner, send):
    assert send(f"{partner.url}/deep-json")["bodyEncoding"] == "text"


@pytest.mark.parametrize(
    ("status", "error_type"),
    [
        (404, ErrorType.PERMANENT),
        (422, ErrorType.PERMANENT),
        (408, ErrorType.TRANSIENT),
        (425, ErrorType.TRANSIENT),
        (429, ErrorType.TRANSIENT),
        (500, ErrorType.TRANSIENT),
        (503, ErrorType.TRANSIENT),
        (599, ErrorType.TRANSIENT),
    ],
)
def test_an_error_answer_fails_the_step_by_its_status(partner, failure, status, error_type):
    error = failure(f"{partner.url}/status?code={status}&token=secret")

    assert error.error_type == error_type
    assert f"GET {partner.url}/status answered {status}" in error.message
    assert "secret" not in error.message
    assert error.details == {"status": status, "body": "what went wrong"}
    assert error.retry_after is None


def test_an_error_answer_that_is_accepted_is_a_success(partner, send):
    assert send(f"{partner.url}/status?code=404", acceptStatus=[404])["body"] == "what went wrong"
    assert send(f"{partner.url}/status?code=503", acceptStatus=["5xx"])["status"] == 503


def test_retry_after_in_seconds_is_kept(partner, failure):
    assert failure(f"{partner.url}/status?code=429&retry=7").retry_after == 7


def test_retry_after_as_a_date_is_kept(partner, failure):
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)

    error = failure(f"{partner.url}/status", query={"code": 503, "retry": moment})

    assert 80 < error.retry_after <= 90


def test_cookies_of_one_step_never_reach_another(partner, send):
    send(f"{partner.url}/cookie")

    assert "cookie" not in send(f"{partner.url}/echo")["body"]["headers"]


def test_proxies_of_the_environment_are_ignored(partner, send, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")

    assert send(f"{partner.url}/echo")["status"] == 200


def test_a_body_past_the_cap_stops_being_read(partner, failure):
    error = failure(f"{partner.url}/endless", maxBytes=100_000)

    assert error.error_type == ErrorType.PERMANENT
    assert "more than 100000 bytes" in error.message
    # Data in socket buffers is sent too; gigabytes are not.
    assert partner.sent_bytes < 50_000_000


def test_a_compressed_bomb_is_unpacked_no_further_than_the_cap(partner, failure):
    tracemalloc.start()
    error = failure(f"{partner.url}/bomb", maxBytes=1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert "more than 1000000 bytes" in error.message
    # It would unpack to 128 MiB.
    assert peak < 20_000_000


def test_twice_packed_answers_are_refused(partner, failure):
    assert "'gzip, gzip'" in failure(f"{partner.url}/double-gzip").message


@pytest.mark.parametrize("path", ["short", "cut-gzip", "hang-up"])
def test_an_answer_that_breaks_off_may_be_tried_again(partner, failure, path):
    error = failure(f"{partner.url}/{path}")

    assert error.error_type == ErrorType.TRANSIENT


@pytest.mark.parametrize("path", ["silent", "drip-headers", "drip-body"])
def test_a_slow_answer_ends_at_the_time_limit(partner, failure, path):
    began = time.monotonic()

    error = failure(f"{partner.url}/{path}", timeoutSeconds=0.3)

    assert error.error_type == ErrorType.TIMEOUT
    assert "ReadTimeout" in error.message
    assert time.monotonic() - began < 3


def test_the_steps_deadline_ends_a_request_that_has_no_limit_of_its_own(
    partner, failure, make_context
):
    error = failure(f"{partner.url}/silent", ctx=make_context(seconds=0.2))

    assert error.error_type == ErrorType.TIMEOUT


def test_a_refused_connection_may_be_tried_again(partner, failure):
    partner.stop()

    error = failure(partner.url)

    assert error.error_type == ErrorType.TRANSIENT
    assert "ConnectError" in error.message


def test_a_name_that_does_not_exist_may_be_tried_again(failure):
    assert failure("http://does-not-exist.invalid/").error_type == ErrorType.TRANSIENT


@pytest.mark.parametrize("header", ["Content-Length", "transfer-encoding"])
def test_headers_that_frame_a_request_cannot_be_set(header):
    config = {"url": "http://example.com/", "headers": {header: "1"}}

    (problem,) = registry.specs()["http.request"].check(config)

    assert problem.pointer == ("headers",)
    assert header in problem.message


def test_a_header_with_a_line_break_is_a_permanent_failure(partner, failure):
    error = failure(f"{partner.url}/echo", headers={"X-A": "1\r\nX-B: 2"})

    assert error.error_type == ErrorType.PERMANENT
    assert partner.received == []


def test_two_bodies_at_once_are_refused_when_publishing():
    config = {"url": "http://example.com/", "json": {}, "body": "x"}

    (problem,) = registry.specs()["http.request"].check(config)

    assert "set only one of json, body, bodyBase64, form" in problem.message


@pytest.mark.parametrize("url", ["ftp://example.com/", "example.com", "http://", "http://a:b/"])
def test_only_http_urls_are_taken(url):
    (problem,) = registry.specs()["http.request"].check({"url": url})

    assert problem.pointer == ("url",)


def test_circuits_count_by_host():
    module = registry.get("http.request")

    def circuit(url):
        return module.circuit(module.Inputs(url=url))

    assert circuit("https://API.example.com/a?b") == "http.request:api.example.com"
    assert circuit("http://api.example.com:8080/") == "http.request:api.example.com:8080"


def test_user_and_password_of_a_url_are_sent_but_not_told(partner, send, failure):
    url = partner.url.replace("//", "//ann:secret@")

    answer = send(f"{url}/echo")

    assert answer["body"]["headers"]["authorization"].startswith("Basic ")
    assert "secret" not in answer["url"]
    assert "secret" not in failure(f"{url}/status?code=500").message
