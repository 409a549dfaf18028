"""Invalid outside input gets a clear error: never a 500, and never a partly written row."""

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from executions.models import Activity, Workflow, WorkflowExecution
from runners.models import Run

pytestmark = pytest.mark.django_db
PROBLEM = "application/problem+json"


def send(client: APIClient, address: str, body: bytes, kind: str = "application/json") -> Any:
    return client.generic("POST", address, body, content_type=kind)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "malformed_json"),
        (b'{"name": NaN}', 400, "malformed_json"),
        (b'{"name": 1e999}', 400, "malformed_json"),
        (b'{"name": "\xff"}', 400, "not_utf8"),
        (b'{"name": "a\x00b"}', 400, "malformed_json"),
        (b"1" * 5000, 400, "malformed_json"),
        (b"[" * 100_000, 400, "malformed_json"),
        (b'{"definition": ' + b'{"a": ' * 200 + b"1" + b"}" * 201, 400, "too_deep"),
        (b'{"name": "a\\u0000b"}', 422, "invalid"),
        (b'{"name": "\\ud800"}', 422, "invalid"),
        (b'{"a\\u0000b": 1}', 422, "invalid"),
        (b'{"name": "w", "definition": {"x": ["\\u0000"]}}', 422, "invalid"),
        (b'"text"', 422, "invalid"),
        (b"null", 422, "invalid"),
        (b"5", 422, "invalid"),
    ],
)
def test_a_body_that_cannot_be_kept_is_refused(
    author: APIClient, body: bytes, status: int, code: str
) -> None:
    answer = send(author, "/v1/Workflow", body)

    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == PROBLEM
    assert answer.json()["code"] == code
    assert Workflow.objects.count() == 0


def test_the_place_of_a_bad_character_is_named(author: APIClient) -> None:
    answer = send(author, "/v1/Workflow", b'{"definition": {"tasks": [{"id": "\\u0000"}]}}')

    assert answer.json()["errors"][0]["path"] == "definition.tasks[0].id"
    assert "U+0000" in answer.json()["errors"][0]["message"]


def test_emoji_written_as_a_pair_of_escapes_are_text(author: APIClient) -> None:
    answer = send(author, "/v1/Workflow", b'{"name": "\\ud83d\\ude00 workflow"}')

    assert answer.status_code == 201
    assert answer.json()["name"] == "\U0001f600 workflow"


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_past_the_limit_is_too_large(
    author: APIClient, settings: Any, declared: bool
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    body = b'{"name": "' + b"x" * 2000 + b'"}'
    more = {} if declared else {"CONTENT_LENGTH": "10"}

    answer = author.generic("POST", "/v1/Workflow", body, content_type="application/json", **more)

    assert answer.status_code == (413 if declared else 400)
    assert answer["Content-Type"] == PROBLEM


@pytest.mark.parametrize("limit", [None, 1000])
def test_a_body_is_accepted_within_the_limit_and_without_one(
    author: APIClient, settings: Any, limit: int | None
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = limit

    assert send(author, "/v1/Workflow", b'{"name": "w"}').status_code == 201


def test_a_draft_past_a_mebibyte_is_refused(author: APIClient) -> None:
    answer = author.post(
        "/v1/Workflow", {"name": "w", "definition": {"x": "y" * 1024 * 1024}}, format="json"
    )

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "definition"


@pytest.mark.parametrize(
    "kind", ["text/plain", "multipart/form-data; boundary=x", "application/xml", "nonsense"]
)
def test_a_media_type_we_do_not_read_is_unsupported(author: APIClient, kind: str) -> None:
    answer = send(author, "/v1/Workflow", b"name=w", kind)

    assert answer.status_code == 415
    assert answer["Content-Type"] == PROBLEM


@pytest.mark.parametrize("charset", ["utf-16", "latin-1", "no-such"])
def test_bodies_and_queries_are_utf_8_whatever_the_caller_says(
    author: APIClient, charset: str
) -> None:
    answer = author.generic(
        "POST",
        "/v1/Workflow/import?workspaceId=%ff%c3%a4",
        b"{}",
        content_type=f"application/json; charset={charset}",
    )

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "workspaceId"


def test_a_method_an_address_does_not_have_is_named(author: APIClient) -> None:
    answer = author.delete("/v1/Workflow")

    assert answer.status_code == 405
    assert answer["Content-Type"] == PROBLEM
    assert "GET" in answer["Allow"]


def test_a_media_type_we_do_not_write_is_not_acceptable(author: APIClient) -> None:
    answer = author.get("/v1/Workflow", headers={"Accept": "text/csv"})

    assert answer.status_code == 406
    assert answer["Content-Type"] == PROBLEM


def test_no_address_breaks_on_a_body_of_the_wrong_shape(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    started = author.post(
        f"/v1/WorkflowExecution/{greeting['id']}/execute",
        {"params": {"name": "x"}},
        format="json",
    ).json()["id"]
    run = Run.objects.get(execution_id=started)
    written = Activity.objects.count()
    addresses = [
        f"/v1/Workflow/{greeting['id']}/publish",
        f"/v1/Workflow/{greeting['id']}/validate",
        f"/v1/WorkflowExecution/{greeting['id']}/execute",
        f"/v1/WorkflowExecution/{greeting['id']}/execute-batch",
        f"/v1/WorkflowExecution/{started}/pause",
        f"/v1/WorkflowExecution/{started}/cancel",
        f"/v1/Run/{run.pk}/quarantine",
        "/api/v1/workflow/executions/start",
        "/v1/auth/token",
        "/v1/auth/token/refresh",
    ]
    bodies = [b"[]", b"[1]", b"5", b"null", b'"x"', b"true", b'{"": {}}', b'{"reason": {}}',
              b'{"kind": []}', b'{"priority": 1e5}', b'{"payloads": {"0": 1}}', b"{"]  # fmt: skip

    for address in addresses:
        for body in bodies:
            answer = send(author, address, body)
            assert answer.status_code in {400, 422}, (address, body, answer.content)
            assert answer["Content-Type"] == PROBLEM

    assert Activity.objects.count() == written
    assert WorkflowExecution.objects.count() == 1


@pytest.mark.parametrize(
    "address",
    [
        "/v1/Workflow/{}",
        "/v1/WorkflowExecution/{}",
        "/v1/WorkflowExecution/{}/timeline",
        "/v1/Run/{}",
        "/v1/DeadLetterQueue/{}",
        "/api/v1/workflow/executions/queue/{}",
    ],
)
@pytest.mark.parametrize(
    "pk", ["00000000-0000-0000-0000-000000000000", "5", "not-an-id", "%00", "%ff", "..", "a" * 2000]
)
def test_an_unknown_or_malformed_id_is_not_found(author: APIClient, address: str, pk: str) -> None:
    answer = author.get(address.format(pk))

    assert answer.status_code == 404
    assert answer["Content-Type"] == PROBLEM


def test_a_host_that_is_not_ours_is_refused_without_a_page(db: None) -> None:
    answer = Client(headers={"host": "evil.example"}).get("/v1/Workflow")

    assert answer.status_code == 400
    assert answer["Content-Type"] == PROBLEM


def test_what_fails_on_our_side_tells_nothing(
    author: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr("executions.api.workflows.page", broken)
    author.raise_request_exception = False

    answer = author.get("/v1/Workflow")

    assert answer.status_code == 500
    assert answer["Content-Type"] == PROBLEM
    assert b"secret" not in answer.content
