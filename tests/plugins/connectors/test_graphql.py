"""Tests of `graphql.query`: requests, errors in responses, and operations in a document."""

import json
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.module_fixtures import KEY
from valkyr_plugins.connectors.network.graphql import MAX_DOCUMENT, kind_of, operations

PERMANENT, TRANSIENT = ErrorType.PERMANENT, ErrorType.TRANSIENT
QUERY = "query Order($id: ID!) { order(id: $id) { total } }"


class Endpoint(ThreadingHTTPServer):
    """An HTTP server that gives the answer that the test set."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.answer = 200, {"data": {"order": {"total": 12}}}
        self.headers: dict[str, str] = {}
        self.body: Any = None
        self.reply_headers: dict[str, str] = {}
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/graphql"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["content-length"]))
        self.server.body = json.loads(data)
        self.server.headers = {name.lower(): text for name, text in self.headers.items()}
        answer = json.dumps(self.server.answer).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/graphql-response+json")
        for name, text in self.server.reply_headers.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    server = Endpoint()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def ask(endpoint: Endpoint, step_context: Context) -> Callable[..., Any]:
    def run(query: str = QUERY, **config: Any) -> Any:
        given = {"url": endpoint.url, "query": query, **config}
        result = registry.get("graphql.query").run(given, step_context)
        assert isinstance(result, Result)
        return result.outputs

    return run


def test_a_query_is_sent_with_its_variables_and_yields_its_data(
    endpoint: Endpoint, ask: Callable[..., Any]
) -> None:
    found = ask(variables={"id": "1"}, operationName="Order")

    assert found["data"] == {"order": {"total": 12}}
    assert (found["errors"], found["extensions"]) == ([], None)
    assert endpoint.body == {"query": QUERY, "variables": {"id": "1"}, "operationName": "Order"}
    assert "idempotency-key" not in endpoint.headers
    assert "application/graphql-response+json" in endpoint.headers["accept"]


def test_a_mutation_carries_the_idempotency_key(
    endpoint: Endpoint, ask: Callable[..., Any]
) -> None:
    ask("mutation Pay { pay { id } }")

    assert endpoint.headers["idempotency-key"] == KEY


def error(code: str = "", **more: Any) -> dict[str, Any]:
    return {"message": "no", **({"extensions": {"code": code}} if code else {}), **more}


@pytest.mark.parametrize(
    ("status", "errors", "error_type", "said"),
    [
        (200, [error("UNAUTHENTICATED", path=["order", 0, "total"])], PERMANENT,
         "no at order.0.total (UNAUTHENTICATED)"),
        (400, [error("GRAPHQL_VALIDATION_FAILED")], PERMANENT, "(GRAPHQL_VALIDATION_FAILED)"),
        (200, [error("RATE_LIMITED")], TRANSIENT, "(RATE_LIMITED)"),
        (200, [error("THROTTLED"), error("FORBIDDEN")], PERMANENT, "(THROTTLED); no (FORBIDDEN)"),
        (200, [error(type="RATE_LIMITED")], TRANSIENT, "(RATE_LIMITED)"),
        (200, [error("INTERNAL_SERVER_ERROR")], TRANSIENT, "(INTERNAL_SERVER_ERROR)"),
        (503, [error()], TRANSIENT, "responded with errors: no"),
        (200, ["odd", None, 3], PERMANENT, "odd; None; 3"),
        (200, [error()] * 50, PERMANENT, "and 40 more"),
    ],
)  # fmt: skip
def test_errors_of_an_answer_fail_the_step_by_their_codes(
    endpoint: Endpoint,
    ask: Callable[..., Any],
    status: int,
    errors: list[Any],
    error_type: ErrorType,
    said: str,
) -> None:
    endpoint.status, endpoint.answer = status, {"data": None, "errors": errors}

    with pytest.raises(StepError) as caught:
        ask()

    assert caught.value.error_type is error_type
    assert said in caught.value.message


def test_a_limited_rate_is_waited_out_as_asked(endpoint: Endpoint, ask: Callable[..., Any]) -> None:
    endpoint.answer = {"errors": [error("RATE_LIMITED")]}  # type: ignore[dict-item]
    endpoint.reply_headers = {"Retry-After": "7"}

    with pytest.raises(StepError) as caught:
        ask()

    assert caught.value.retry_after == 7


def test_partial_data_comes_with_its_errors_where_that_is_wanted(
    endpoint: Endpoint, ask: Callable[..., Any]
) -> None:
    endpoint.answer = {"data": {"a": 1, "b": None}, "errors": [error()]}  # type: ignore[dict-item]

    found = ask(onErrors="partial")

    assert (found["data"], found["errors"]) == ({"a": 1, "b": None}, [{"message": "no"}])
    with pytest.raises(StepError):
        ask()


def test_no_data_at_all_is_a_failure_whatever_is_wanted(
    endpoint: Endpoint, ask: Callable[..., Any]
) -> None:
    endpoint.answer = {"data": None, "errors": [error()]}  # type: ignore[dict-item]

    with pytest.raises(StepError):
        ask(onErrors="partial")


@pytest.mark.parametrize(
    ("status", "error_type"), [(401, PERMANENT), (502, TRANSIENT), (429, TRANSIENT)]
)
def test_an_answer_that_is_no_graphql_is_classed_by_its_status(
    endpoint: Endpoint, ask: Callable[..., Any], status: int, error_type: ErrorType
) -> None:
    endpoint.status, endpoint.answer = status, {"message": "go away"}  # type: ignore[dict-item]

    with pytest.raises(StepError, match=f"answered {status}") as caught:
        ask()

    assert caught.value.error_type is error_type


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ("{ a }", {"": "query"}),
        ("query { a }", {"": "query"}),
        ("query A($x: I = {y: 1}) @live(if: true) { a(b: {c: 1}) }", {"A": "query"}),
        ("mutation @once { a }", {"": "mutation"}),
        ("query A{a{b{c}}} mutation B{d}", {"A": "query", "B": "mutation"}),
        ("fragment F on Q { a } subscription S { ...F }", {"S": "subscription"}),
        ('# mutation M { x }\nquery A { a(s: "} mutation B {") }', {"A": "query"}),
        ('{ a(s: """ } mutation "B" \\""" { """) }', {"": "query"}),
        ("", {}),
        ("}}}}((((", {}),
        ("type T { a: Int }", {}),
    ],
)
def test_the_operations_of_a_document_are_told(document: str, found: dict[str, str]) -> None:
    assert operations(document) == found


@pytest.mark.parametrize("part", ["a", "a ", '\\"', '"""', '"""\\', "{}", "(", "#", "a{}"])
def test_no_document_takes_long_to_read(part: str) -> None:
    document = (part * MAX_DOCUMENT)[:MAX_DOCUMENT]
    began = time.process_time()

    operations(document)

    assert time.process_time() - began < 0.5


def test_the_operation_that_is_run_has_a_kind() -> None:
    both = "query A { a } mutation B { b }"

    assert kind_of(both, "B") == "mutation"
    assert kind_of(both, None) == ""
    assert kind_of("mutation { b }", None) == "mutation"
