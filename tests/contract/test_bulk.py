"""One operation on many objects: results, rejections and permissions."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from rest_framework.test import APIClient

from executions.models import Activity, WorkflowExecution, Workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def started(author: APIClient, greeting: dict[str, Any]) -> Callable[[int], list[str]]:
    def begin(count: int) -> list[str]:
        address = f"/v1/WorkflowExecution/{greeting['id']}/execute-batch"
        payloads = [{"name": str(number)} for number in range(count)]
        ids: list[str] = author.post(address, {"payloads": payloads}, format="json").json()["ids"]
        return ids

    return begin


def move(client: APIClient, verb: str, ids: list[Any], **more: Any) -> Any:
    return client.post(f"/v1/WorkflowExecution/{verb}", {"ids": ids, **more}, format="json")


def test_each_is_done_by_itself_and_one_refusal_stops_no_other(
    author: APIClient, started: Callable[[int], list[str]]
) -> None:
    ids = started(3)
    author.post(f"/v1/WorkflowExecution/{ids[1]}/cancel")
    nobody = str(uuid4())

    answer = move(author, "pause", [*ids, nobody, ids[0]], reason="the partner is down")

    assert answer.status_code == 200, answer.content
    assert answer.json()["done"] == [ids[0], ids[2]]
    refused = {item["id"]: item["code"] for item in answer.json()["refused"]}
    assert refused == {ids[1]: "wrong_state", nobody: "not_found"}
    states = dict(WorkflowExecution.objects.values_list("id", "state"))
    assert sorted(states.values()) == ["CANCELLED", "PAUSED", "PAUSED"]
    lines = Activity.objects.filter(action="execution.pause")
    assert {line.reason for line in lines} == {"the partner is down"}
    assert lines.count() == 2
    assert move(author, "resume", ids).json()["done"] == [ids[0], ids[2]]
    assert move(author, "cancel", ids).json()["done"] == [ids[0], ids[2]]


def test_dead_letters_are_discarded_together(
    author: APIClient, started: Callable[[int], list[str]]
) -> None:
    letters = []
    for execution in started(2):
        run = author.get(f"/v1/Run?executionId={execution}").json()[0]
        address = f"/v1/Run/{run['id']}/quarantine"
        letters.append(author.post(address, {"reason": "x"}, format="json").json()["id"])

    body = {"ids": letters, "notes": "the customer gave up"}
    first = author.post("/v1/DeadLetterQueue/discard", body, format="json").json()
    again = author.post("/v1/DeadLetterQueue/discard", body, format="json").json()

    assert first == {"done": letters, "refused": []}
    assert again["done"] == []
    assert {item["code"] for item in again["refused"]} == {"wrong_state"}
    shown = author.get(f"/v1/DeadLetterQueue/{letters[0]}").json()
    assert (shown["resolution"], shown["notes"]) == ("DISCARDED", "the customer gave up")


def test_more_than_twenty_need_a_permission_of_their_own(
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    workspace: Workspace,
    started: Callable[[int], list[str]],
) -> None:
    from executions.access import TokenLimits

    ids = started(21)
    user = member("ADMIN")
    user.token_limits = TokenLimits(workspace.pk, frozenset({"view", "operate"}))
    client = client_of(user)

    many = move(client, "pause", ids).json()
    few = move(client, "pause", ids[:20]).json()
    user.token_limits = TokenLimits(workspace.pk, frozenset({"view", "operate", "bulk"}))

    assert many["done"] == []
    assert {item["code"] for item in many["refused"]} == {"forbidden"}
    assert len(few["done"]) == 20
    assert len(move(client, "cancel", ids).json()["done"]) == 21


@pytest.mark.parametrize(
    ("role", "there", "code"),
    [("SYSTEM", False, "forbidden"), ("USER", False, "not_found"), ("ADMIN", True, "not_found")],
)
def test_what_one_may_not_touch_is_refused_as_one_request_would_be(
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    elsewhere: Workspace,
    started: Callable[[int], list[str]],
    role: str,
    there: bool,
    code: str,
) -> None:
    ids = started(2)
    client = client_of(member(role, elsewhere if there else None))

    answer = move(client, "cancel", ids).json()

    assert answer["done"] == []
    assert [item["code"] for item in answer["refused"]] == [code, code]
    assert not WorkflowExecution.objects.filter(state="CANCELLED").exists()


@pytest.mark.parametrize("ids", [[], [5], ["x"], "x", None, [str(UUID(int=1))] * 1001])
def test_ids_are_a_list_of_up_to_a_thousand_uuids(author: APIClient, ids: Any) -> None:
    answer = move(author, "cancel", ids)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"].startswith("ids")


def test_the_queries_before_the_first_are_as_many_for_one_as_for_many(
    author: APIClient, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(10):
        answer = move(author, "cancel", [str(uuid4()) for _ in range(500)])

    assert len(answer.json()["refused"]) == 500
