"""Tests of backtests over HTTP: start, follow, read results, cancel; permissions and bad input."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.models import WorkflowExecution
from valkyr_plugins.backtest import working
from valkyr_plugins.backtest.models import Backtest, BacktestResult

pytestmark = pytest.mark.django_db


def start(client: APIClient, workflow: dict[str, Any], **body: Any) -> Any:
    return client.post(f"/v1/Workflow/{workflow['id']}/backtest", body, format="json")


def test_a_backtest_is_an_object_with_progress_and_results(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    made = start(author, greeting, last=50, states=["SUCCESS"])

    assert made.status_code == 202, made.content
    told = made.json()
    assert (told["state"], told["version"], told["last"]) == ("PENDING", None, 50)
    assert told["selection"] == {"states": ["SUCCESS"]}
    assert made.headers["Location"].endswith(f"/v1/Backtest/{told['id']}")
    working.work(Backtest.objects.get().pk)
    shown = author.get(made.headers["Location"]).json()
    assert (shown["state"], shown["total"], shown["done"]) == ("DONE", 0, 0)
    assert shown["counts"] == {
        "SAME": 0, "DIFFERENT_OUTPUT": 0, "DIFFERENT_PATH": 0, "WOULD_CALL": 0, "NOT_COMPARABLE": 0,
    }  # fmt: skip
    listed = author.get(f"/v1/Workflow/{greeting['id']}/backtests").json()
    assert [one["id"] for one in listed] == [told["id"]]


def filled(author: APIClient, greeting: dict[str, Any]) -> Backtest:
    """Create a finished backtest with three results."""
    start(author, greeting)
    row = Backtest.objects.get()
    step = {
        "stepPath": "charge.main", "verdict": "WOULD_CALL", "reason": "INPUTS", "module": "m",
        "recorded": "success", "detail": "",
        "changes": [{"field": "amount", "recorded": 20, "now": 0}],
    }  # fmt: skip
    for number, verdict in enumerate(("SAME", "WOULD_CALL", "SAME")):
        BacktestResult.objects.create(
            backtest=row, execution_id=WorkflowExecution().pk, verdict=verdict, same=number,
            steps=[step] if verdict == "WOULD_CALL" else None,
        )  # fmt: skip
    return row


def test_results_come_in_pages_and_by_verdict(author: APIClient, greeting: dict[str, Any]) -> None:
    path = f"/v1/Backtest/{filled(author, greeting).pk}/results"

    first = author.get(path, {"limit": 2})
    assert [one["sameSteps"] for one in first.json()] == [0, 1]
    assert 'rel="next"' in first.headers["Link"]
    (called,) = author.get(path, {"verdict": "WOULD_CALL"}).json()
    assert called["steps"][0]["changes"] == [{"field": "amount", "recorded": 20, "now": 0}]
    assert author.get(path, {"verdict": "ODD"}).status_code == 422


def test_a_backtest_is_cancelled_once(author: APIClient, greeting: dict[str, Any]) -> None:
    pk = start(author, greeting).json()["id"]

    done = author.post(f"/v1/Backtest/{pk}/cancel", {"reason": "enough"}, format="json")

    assert done.status_code == 200, done.content
    assert done.json()["state"] == "CANCELLED"
    again = author.post(f"/v1/Backtest/{pk}/cancel", {}, format="json")
    assert again.status_code == 409


@pytest.mark.parametrize(
    "body",
    [
        {"last": 0},
        {"last": 10_001},
        {"last": "5"},
        {"states": ["RUNNING"]},
        {"states": "FAILED"},
        {"states": [{}]},
        {"from": "yesterday"},
        {"version": 1, "definition": {}},
        {"definition": []},
        {"ranOn": 2**40},
        {"other": 1},
    ],
)
def test_bad_input_is_refused(
    author: APIClient, greeting: dict[str, Any], body: dict[str, Any]
) -> None:
    answer = start(author, greeting, **body)
    assert answer.status_code == 422, answer.content
    assert not Backtest.objects.exists()


def test_a_definition_with_problems_is_refused_with_all_of_them(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    answer = start(author, greeting, definition={"name": "x", "tasks": [{"id": "a", "use": "no"}]})
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"]
    assert start(author, greeting, version=9).status_code == 404


def test_the_source_of_the_definition_is_named(author: APIClient, greeting: dict[str, Any]) -> None:
    draft = greeting["definition"]
    other = {"schema": "valkyr/1", "name": "x", "tasks": [{"id": "a", "use": "flow.noop"}]}

    sources = [
        start(author, greeting, **body).json()["definitionSource"]
        for body in ({}, {"definition": draft}, {"definition": other}, {"version": 1})
    ]
    assert sources == ["DRAFT", "DRAFT", "DEFINITION", "VERSION"]
    assert [row.compared for row in Backtest.objects.order_by("pk")] == [
        "draft", "draft", "given definition", "v1",
    ]  # fmt: skip


def test_only_authors_start_one_and_other_workspaces_see_none(
    author: APIClient, greeting: dict[str, Any], member: Any, client_of: Any, elsewhere: Any
) -> None:
    row = filled(author, greeting)
    stranger = client_of(member("ADMIN", elsewhere))
    assert start(stranger, greeting).status_code == 404
    for path in ("", "/results"):
        assert stranger.get(f"/v1/Backtest/{row.pk}{path}").status_code == 404
    assert stranger.post(f"/v1/Backtest/{row.pk}/cancel", {}, format="json").status_code == 404
