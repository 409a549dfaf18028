"""Every operation of the document, with every kind of invalid request.

Each gets the correct problem, and writes no row. Problems of single fields are tested with their
operations.
"""

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from executions.api.openapi import operations
from tests.fuzz.planted import Planter
from tests.fuzz.requesting import kind_of
from tests.support.document import document

from .people import a_client

Ids = Mapping[str, tuple[str, ...]]

pytestmark = pytest.mark.django_db
JSON = "application/json"
PROBLEM = "application/problem+json"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# They check the caller, or which step is meant, before they read the rest.
OWN_WAYS = {"receiveWebhook", "receiveCallback"}
# Their bodies are free: JSON objects with any names.
FREE_BODIES = {"requeueDeadLetterEntry", "importWorkflow", "importN8nWorkflow"}
# Their texts have their own parsers, which name the position.
OWN_READERS = {"importWorkflow", "importN8nWorkflow"}
# These must be right before the existence of the object is checked.
BODIES = {"decideRun": b'{"decision": "approved"}'}
NAMES = {"workflowId": "Workflow", "queueId": "WorkflowExecution", "checkpointId": "checkpoint"}
LIMIT = 10_000

DOCUMENT = document()
ALL = {op["operationId"]: (path, method.upper(), op) for path, method, op in operations(DOCUMENT)}


def body_schema(described: dict[str, Any]) -> dict[str, Any] | None:
    """Return the schema of an operation's JSON body, with its name resolved."""
    content = described.get("requestBody", {}).get("content", {}).get(JSON)
    if content is None:
        return None
    name = content["schema"].get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = DOCUMENT["components"]["schemas"].get(name, content["schema"])
    return found


WITH_BODY = [name for name, (_, _, op) in ALL.items() if body_schema(op) and name not in OWN_WAYS]
WITH_ID = [name for name, (path, _, _) in ALL.items() if "{" in path and name not in OWN_WAYS]
LISTS = [
    name
    for name, (_, _, op) in ALL.items()
    if any(parameter["name"] == "limit" for parameter in op.get("parameters", []))
]

UNREADABLE = [
    (b"{", "malformed_json"),
    (b'{"a": NaN}', "malformed_json"),
    (b'{"a": 1e999}', "malformed_json"),
    (b'{"a": "\xff"}', "not_utf8"),
    (b"[" * 100_000, "malformed_json"),
    (b'{"a": ' * 200 + b"1" + b"}" * 200, "too_deep"),
]
UNFIT = [
    b'{"a": "b\\u0000"}',
    b'{"a\\u0000": 1}',
    b'{"a": ["\\ud800"]}',
    b"[1]",
    b"5",
    b"true",
    b'"text"',
    b"null",
]


class Asking:
    """Sends requests as a user who may do everything, and records wrong answers."""

    def __init__(self, ids: Ids) -> None:
        self.client = a_client(get_user_model().objects.get(is_superuser=True))
        self.client.raise_request_exception = False
        self.ids = ids
        self.wrong: list[str] = []
        self._rows = row_counts()

    def address(self, path: str, instead: str = "") -> str:
        """Return the path with existing ids, or with one id for all of them."""

        def fill(match: re.Match[str]) -> str:
            if instead:
                return instead
            if match[1] == "n":
                return "1"
            kind = NAMES.get(match[1]) or kind_of(path)
            return next(iter(self.ids.get(kind, ())), str(uuid4()))

        return re.sub(r"{(\w+)}", fill, path)

    def send(
        self, method: str, where: str, body: bytes = b"", kind: str = JSON, **more: Any
    ) -> Any:
        """Send a request and return the answer."""
        return self.client.generic(method, where, body, content_type=kind, **more)

    def expect(self, answer: Any, status: int, what: Any, path: str = "", code: str = "") -> None:
        """Record an answer with another status, an answer that is not a problem, or one without the
        path or code.
        """
        problem = answer.json() if answer.get("Content-Type") == PROBLEM else {}
        paths = {error["path"] for error in problem.get("errors", ())}
        fits = answer.status_code == status and problem and code in {"", problem["code"]}
        if not fits or (path and path not in paths):
            asked = f"{answer.request['REQUEST_METHOD']} {answer.request['PATH_INFO'][:100]}"
            shown = answer.content[:200] if not answer.streaming else b"(a stream)"
            self.wrong.append(
                f"{asked}: {what!r} gave {answer.status_code} {shown!r}, not {status} {code} {path}"
            )

    def done(self) -> None:
        """Fail with all errors, or if anything was written."""
        assert not self.wrong, "\n".join(self.wrong)
        assert row_counts() == self._rows


@pytest.fixture(scope="module", autouse=True)
def planted(kept_world: None) -> Ids:
    """Create one object of every kind; return the ids by kind."""
    planter = Planter("planted")
    planter.workflow("marked")
    planter.root.is_superuser = True
    planter.root.save(update_fields=["is_superuser"])
    return MappingProxyType({kind: tuple(ids) for kind, ids in planter.planted.ids.items()})


@pytest.fixture
def asking(planted: Ids) -> Asking:
    return Asking(planted)


def row_counts() -> dict[str, int]:
    """Return how many rows each of Valkyr's tables has, with one query."""
    ours = ("executions_", "runners_", "dlq_", "auth_")
    tables = [name for name in connection.introspection.table_names() if name.startswith(ours)]
    parts = [f"SELECT '{name}', count(*) FROM {connection.ops.quote_name(name)}" for name in tables]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts))
        return dict(cursor.fetchall())


def test_a_body_that_is_no_good_is_refused(asking: Asking) -> None:
    for name in WITH_BODY:
        path, method, described = ALL[name]
        where = asking.address(path)
        for body, code in UNREADABLE:
            own = name in OWN_READERS and code != "not_utf8"
            answer = asking.send(method, where, body)
            asking.expect(answer, 422 if own else 400, body[:30], code="" if own else code)
        for body in UNFIT:
            asking.expect(asking.send(method, where, body), 422, body)
        if name not in FREE_BODIES:
            answer = asking.send(method, where, b'{"noSuchField": 1}')
            asking.expect(answer, 422, "an unknown field", path="noSuchField")
        for body in wrong_types(described):
            asking.expect(asking.send(method, where, body), 422, body)
        for kind in ("text/plain", "multipart/form-data; boundary=x", "nonsense"):
            asking.expect(asking.send(method, where, b"name=x", kind), 415, kind)
    asking.done()


def wrong_types(described: dict[str, Any]) -> Iterator[bytes]:
    """Yield a body for each field of a known type, with a value of another type."""
    wrong = {"string": {}, "integer": "x", "number": "x", "boolean": "yes", "array": {}}
    for field, rule in (body_schema(described) or {}).get("properties", {}).items():
        kinds = rule.get("type")
        kind = kinds[0] if isinstance(kinds, list) else kinds
        if kind in wrong:
            yield json.dumps({field: wrong[kind]}).encode()


def test_a_body_past_the_limit_is_too_large(asking: Asking, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = LIMIT
    body = b'{"a": "' + b"x" * LIMIT + b'"}'
    for name in WITH_BODY:
        path, method, _ = ALL[name]
        asking.expect(asking.send(method, asking.address(path), body), 413, name)
    asking.done()


def test_an_id_that_nothing_has_is_not_found(asking: Asking) -> None:
    for name in WITH_ID:
        path, method, described = ALL[name]
        body = BODIES.get(name, b"{}") if body_schema(described) else b""
        for pk in (
            str(uuid4()), "00000000-0000-0000-0000-000000000000", "5", "not-an-id", "%00", "%ff",
            "a" * 2000, "%F0%9F%98%80",
        ):  # fmt: skip
            where = asking.address(path, pk)
            asking.expect(asking.send(method, where, body), 404, pk[:40])
    asking.done()


def test_a_list_names_the_parameters_it_does_not_take(asking: Asking) -> None:
    for name in LISTS:
        path, _, described = ALL[name]
        queries = ["noSuchFilter=1", "limit=0", "limit=x", "limit=100000", "cursor=x", "cursor=W10"]
        queries += [
            f"{parameter['name']}=x"
            for parameter in described["parameters"]
            if parameter["in"] == "query" and parameter["schema"].get("format")
        ]
        for query in queries:
            answer = asking.send("GET", f"{asking.address(path)}?{query}")
            asking.expect(answer, 422, query, path=query.partition("=")[0])
    asking.done()


def test_a_method_that_an_address_does_not_have_is_refused(asking: Asking) -> None:
    for path, methods in DOCUMENT["paths"].items():
        where = asking.address(path)
        for method in METHODS:
            if method.lower() not in methods:
                answer = asking.send(method, where, b"{}")
                asking.expect(answer, 405, method)
                assert {m.upper() for m in methods} <= set(answer["Allow"].split(", ")), where
    asking.done()


def test_a_media_type_that_nobody_writes_is_not_acceptable(asking: Asking) -> None:
    for name, (path, method, described) in ALL.items():
        body = b"{}" if body_schema(described) else b""
        answer = asking.send(method, asking.address(path), body, HTTP_ACCEPT="text/csv")
        if name not in OWN_WAYS:
            asking.expect(answer, 406, name)
    asking.done()
