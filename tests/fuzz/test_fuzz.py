"""The whole document, fuzzed as each role: no failure, no mismatch, no other workspace's data.

`make fuzz ARGS="--examples 500"` sends more requests, which are different each time.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.fuzz.callers import ROLES, Caller, World, caller, plant
from tests.fuzz.requesting import answered, asked_by, with_known_ids, wrong_on_purpose
from tests.support.document import document

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(3600)]
# All requests to these are as documented: none is broken on purpose.
UNBREAKABLE = {
    "GET /actuator/health",
    "GET /actuator/health/live",
    "GET /v1/schema/workflow",
    "POST /v1/callbacks/{token}",
}
# Requests per operation and caller; by default, the same ones each time.
USUAL = {GenerationMode.POSITIVE: 2, GenerationMode.NEGATIVE: 1}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def schema() -> Any:
    return schemathesis.openapi.from_dict(document())


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[World, list[Caller]]]:
    """Create the workspaces and the callers once, and delete them after the last test."""
    with django_db_blocker.unblock(), transaction.atomic():
        planted = plant()
        yield planted, [caller(planted, role) for role in ROLES]
        transaction.set_rollback(True)


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_breaks_the_server_or_the_document_or_shows_what_is_not_ones_own(
    schema: Any,
    mode: GenerationMode,
    world: tuple[World, list[Caller]],
    request: pytest.FixtureRequest,
) -> None:
    examples = request.config.getoption("--examples", default=None)
    found: list[str] = []
    for result in schema.get_all_operations():
        operation = result.ok()
        if mode is GenerationMode.POSITIVE or operation.label not in UNBREAKABLE:
            found += problems(operation, mode, *world, examples)
    assert not found, f"{len(found)} problems:\n\n" + "\n\n".join(found)


def problems(
    operation: Any, mode: GenerationMode, world: World, callers: list[Caller], examples: int | None
) -> list[str]:
    """Return the failures of one operation; the same requests are sent as each caller."""
    found: dict[str, str] = {}
    negative = mode is GenerationMode.NEGATIVE

    @settings(
        max_examples=examples or USUAL[mode],
        phases=[Phase.generate],
        derandomize=examples is None,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def ask(data: Any) -> None:
        case = data.draw(operation.as_strategy(generation_mode=mode))
        with_known_ids(data, case, world, negative=negative)
        wrong = wrong_answers(case, callers, negative=negative)
        found.update(wrong | found)  # the first of a kind is reported

    ask()
    return list(found.values())


def wrong_answers(case: Any, callers: list[Caller], *, negative: bool) -> dict[str, str]:
    """Return the faults in the answers to one case, by operation, caller and kind."""
    found: dict[str, str] = {}
    # A header that is wrong on purpose is often one that is not read.
    refused = negative and "header" not in wrong_on_purpose(case)
    checks = [*CHECKS, negative_data_rejection] if refused else CHECKS
    request = asked_by(case)
    for who in callers:
        response, asked = answered(request, who)
        label = f"{case.operation.label} as {who.role}"
        try:
            case.validate_response(response, checks=checks)
        except schemathesis.checks.FailureGroup as failure:
            mode = "negative" if negative else "positive"
            found[f"{label} {response.status_code}"] = f"{label}, {mode}: {failure}"
        text = response.content.decode("utf-8", "replace")
        for leak in leaks(text, asked, who):
            found.setdefault(f"{label} leak", f"{label} {leak}")
    return found


def leaks(text: str, asked: str, who: Caller) -> list[str]:
    """Return marks that the caller did not send and must not see."""
    seen = [mark for mark in who.marks if mark in text and mark not in asked]
    seen += [pk for pk in who.ids if pk in text and pk not in asked]
    return [f"shows {what} to {who.role}: {text[:500]}" for what in seen]
