"""`POST /v1/Workflow/import-n8n`: the workflows that exports become, and the rejected exports."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from executions import credentials
from executions.models import Activity, Workflow
from tests.support.workflows import ACTOR

pytestmark = pytest.mark.django_db
ADDRESS = "/v1/Workflow/import-n8n"
DATA = Path(__file__).parents[1] / "data" / "n8n"


def sample(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text())


def post(client: APIClient, body: Any, query: str = "") -> Any:
    return client.post(f"{ADDRESS}{query}", body, format="json")


def test_an_export_becomes_a_workflow_with_a_report(author: APIClient) -> None:
    answer = post(author, sample("order-webhook"))

    assert answer.status_code == 201
    made = answer.json()
    assert answer["Location"] == f"/v1/Workflow/{made['workflow']['id']}"
    assert (made["workflow"]["slug"], made["definition"]) == ("order-webhook", None)
    assert made["report"]["counts"] == {"mapped": 6, "changed": 1, "left": 0}
    assert made["report"]["rows"][0]["became"] == {"task": None, "module": "WEBHOOK"}
    assert made["problems"] == []
    assert Activity.objects.filter(action="workflow.create").count() == 1


def test_what_comes_of_it_can_be_published_where_nothing_is_left_to_do(author: APIClient) -> None:
    made = post(author, sample("feed-digest")).json()
    pk = made["workflow"]["id"]
    workspace = Workflow.objects.get(pk=pk).workspace
    for one in made["report"]["toCreate"]["credentials"]:
        credentials.create(
            workspace, name=one["name"], type="secret", fields={"value": "canary-71"},
            hosts=["*"], actor=ACTOR,
        )  # fmt: skip

    assert author.post(f"/v1/Workflow/{pk}/publish", {}, format="json").status_code == 201


def test_a_placeholder_blocks_publishing_in_words(author: APIClient) -> None:
    unknown = json.dumps(sample("tries-until-it-works")).replace("base.telegram", "base.unheard")
    made = post(author, json.loads(unknown)).json()
    answer = author.post(f"/v1/Workflow/{made['workflow']['id']}/publish", {}, format="json")

    assert answer.status_code == 422
    assert "unheard was not imported" in answer.content.decode()
    assert {one["code"] for one in made["problems"]} == {"placeholder"}


def test_a_dry_run_answers_and_keeps_nothing(author: APIClient) -> None:
    answer = post(author, sample("branches-that-meet"), "?dryRun=true")

    assert answer.status_code == 200
    made = answer.json()
    assert made["workflow"] is None
    assert made["definition"]["name"] == "branches that meet"
    assert [one["name"] for one in made["report"]["toCreate"]["credentials"]] == [
        "charge_x_api_key", "pay_key", "shop_db",
    ]  # fmt: skip
    assert not Workflow.objects.exists()


def test_a_slug_that_is_taken_is_a_conflict_unless_the_draft_is_to_be_replaced(
    author: APIClient,
) -> None:
    first = post(author, sample("order-webhook"), "?slug=orders").json()["workflow"]

    assert post(author, sample("feed-digest"), "?slug=orders").status_code == 409
    again = post(author, sample("feed-digest"), "?slug=orders&onConflict=update")

    assert (again.status_code, again.json()["workflow"]["id"]) == (200, first["id"])
    assert again.json()["workflow"]["name"] == "feed digest"


@pytest.mark.parametrize("wrap", [lambda one: [one], lambda one: {"nodes": one["nodes"]}])
def test_a_list_and_what_the_canvas_copies_are_taken_too(author: APIClient, wrap: Any) -> None:
    assert post(author, wrap(sample("order-webhook"))).status_code == 201


@pytest.mark.parametrize(
    ("body", "code"),
    [({}, "not_n8n"), ([], "not_n8n"), ({"nodes": 1}, "not_n8n"),
     ([{"nodes": []}, {"nodes": []}], "several_workflows")],
)  # fmt: skip
def test_what_is_no_single_export_is_refused_in_words(
    author: APIClient, body: Any, code: str
) -> None:
    answer = post(author, body)

    assert answer.status_code == 422
    assert code in answer.content.decode()


def test_odd_characters_are_no_reason_to_fail(author: APIClient) -> None:
    node = {"name": "a\x00\ud800", "type": "n8n-nodes-base.noOp", "parameters": {"\x00": "\ud83d"}}
    body = json.dumps({"name": "odd\x00", "nodes": [node]})

    answer = author.post(ADDRESS, body, content_type="application/json")

    assert answer.status_code == 201


def test_who_may_not_write_workflows_may_not_import(
    member: Callable[..., Any], client_of: Callable[[Any], APIClient]
) -> None:
    reader = client_of(member("USER"))

    assert post(reader, sample("order-webhook")).status_code == 403
    assert post(reader, sample("order-webhook"), "?dryRun=true").status_code == 403
