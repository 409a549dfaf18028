"""The OpenAPI document is valid, complete, and consistent with its examples."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from rest_framework.test import APIClient

from executions.api import openapi
from executions.api.openapi import operations, summary
from tests.support.document import answers_of

pytestmark = pytest.mark.django_db
PROBLEM = "application/problem+json"
OPEN = {
    "getHealth", "getReadiness", "getLiveness", "obtainToken", "refreshToken", "receiveWebhook",
    "receiveCallback", "revokeToken", "getWorkflowSchema",
}  # fmt: skip


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    GENERATOR_STATS.reset()
    openapi._made.cache_clear()
    made = openapi.document()
    assert not GENERATOR_STATS, [*GENERATOR_STATS._warn_cache, *GENERATOR_STATS._error_cache]
    return json.loads(json.dumps(made))  # type: ignore[no-any-return]


def contents(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every body of the document as (operation, position, media type's entry)."""
    for _, _, described in operations(document):
        name = described["operationId"]
        for media, entry in described.get("requestBody", {}).get("content", {}).items():
            yield name, f"request {media}", entry
        for status, answer in answers_of(document, described).items():
            for media, entry in answer.get("content", {}).items():
                yield name, f"{status} {media}", entry


def test_it_is_valid_and_nothing_was_guessed(document: dict[str, Any]) -> None:
    validate(document)
    assert document["openapi"].startswith("3.1")


def texts(part: Any) -> Iterator[str]:
    """Yield every line of the descriptions and summaries, without lists of values."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key in ("description", "summary") and isinstance(value, str):
                yield from (line for line in value.splitlines() if not line.startswith("* `"))
            yield from texts(value)
    elif isinstance(part, list):
        for each in part:
            yield from texts(each)


def test_the_api_says_rejected_as_the_writing_guide_does(document: dict[str, Any]) -> None:
    # Names such as the field `refused` stay: they are part of the contract.
    assert [line for line in texts(document) if "refused" in line.replace("`refused`", "")] == []


def test_what_is_served_is_this_document(document: dict[str, Any], author: APIClient) -> None:
    served = author.get("/v1/schema", headers={"Accept": "application/json"}).json()

    assert served == document


def test_the_address_is_the_public_one(settings: Any) -> None:
    settings.VALKYR = settings.VALKYR | {"PUBLIC_URL": "https://flows.example.org"}

    made = openapi.document()

    assert [server["url"] for server in made["servers"]] == ["https://flows.example.org"]


def test_every_operation_says_what_it_does_and_in_which_group(document: dict[str, Any]) -> None:
    groups = {tag["name"] for tag in document["tags"] if tag["description"]}

    for _, _, described in operations(document):
        name = described["operationId"]
        assert described["description"], name
        assert described["summary"], name
        assert len(described["tags"]) == 1, name
        assert set(described["tags"]) <= groups, name
        assert all(answer["description"] for answer in answers_of(document, described).values()), (
            name
        )


def test_every_operation_but_a_few_needs_one_to_sign_in(document: dict[str, Any]) -> None:
    assert set(document["components"]["securitySchemes"]) == {"apiToken", "jwtAuth", "cookieAuth"}
    assert all(s["description"] for s in document["components"]["securitySchemes"].values())
    for _, _, described in operations(document):
        if described["operationId"] in OPEN:
            assert not described.get("security"), described["operationId"]
        else:
            assert {name for entry in described["security"] for name in entry} == {
                "apiToken", "jwtAuth", "cookieAuth",
            }, described["operationId"]  # fmt: skip
            assert "401" in described["responses"], described["operationId"]


def test_errors_are_problems_and_say_when_to_come_back(document: dict[str, Any]) -> None:
    for _, _, described in operations(document):
        for status, answer in answers_of(document, described).items():
            where = (described["operationId"], status)
            if status < "400":
                continue
            assert PROBLEM in answer["content"] or described["operationId"] == "getHealth", where
            if status in {"429", "503"}:
                assert answer["headers"]["Retry-After"], where
            if status == "401":
                assert answer["headers"]["WWW-Authenticate"], where


def test_an_error_that_many_answer_with_is_described_once(document: dict[str, Any]) -> None:
    written_out = {
        (described["operationId"], status)
        for _, _, described in operations(document)
        for status, answer in described["responses"].items()
        if status >= "400" and "$ref" not in answer
    }

    # These two report what is healthy and what is not, and no problem.
    assert written_out == {("getHealth", "503"), ("getReadiness", "503")}


def test_lists_lead_to_their_next_page_and_new_things_to_their_address(
    document: dict[str, Any],
) -> None:
    for path, method, described in operations(document):
        name = described["operationId"]
        parameters = {p["name"]: p for p in described.get("parameters", [])}
        if "cursor" in parameters:
            assert method == "get", name
            assert "Link" in described["responses"]["200"]["headers"], name
            assert parameters["limit"]["schema"]["maximum"] <= 5000, name
        if "201" in described["responses"]:
            assert "Location" in described["responses"]["201"]["headers"], name
        if "If-Match" in parameters and method != "delete":
            assert "ETag" in described["responses"]["200"]["headers"], name
            assert "ETag" in document["paths"][path]["get"]["responses"]["200"]["headers"], name


def test_types_have_names_of_their_own(document: dict[str, Any]) -> None:
    names = set(document["components"]["schemas"])

    assert names >= {"Workflow", "WorkflowExecution", "Run", "DeadLetterQueue", "Problem"}
    assert names >= {"ExecutionState", "RunState", "TriggerType", "Resolution", "FailureType"}


def test_every_example_is_what_its_schema_says(document: dict[str, Any]) -> None:
    there_are = 0
    for name, where, entry in contents(document):
        shown = [entry["example"]] if "example" in entry else []
        for example in entry.get("examples", {}).values():
            kept = document["components"]["examples"][example["$ref"].rpartition("/")[2]]
            shown.append(kept["value"])
        for value in shown:
            there_are += 1
            wrong = [error.message for error in mistakes(document, entry["schema"], value)]
            assert not wrong, (name, where, wrong)
    assert there_are > 100


def mistakes(document: dict[str, Any], schema: dict[str, Any], value: Any) -> Iterator[Any]:
    """Yield a value's differences from a schema of the document."""
    checker = Draft202012Validator.FORMAT_CHECKER
    whole = {**schema, "components": document["components"]}
    return Draft202012Validator(whole, format_checker=checker).iter_errors(value)


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("End it.\n\nMore.", "End it"),
        ("One row; the rest is left out.", "One row"),
        ("Wake the\nsteps. And more.", "Wake the steps"),
        ("", ""),
    ],
)
def test_a_summary_is_the_first_sentence(description: str, expected: str) -> None:
    assert summary(description) == expected
