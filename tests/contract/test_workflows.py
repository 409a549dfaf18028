"""Workflows over HTTP: drafts, their ETag, lists in pages."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.models import Activity, Workflow, Workspace

from .people import GREETING

pytestmark = pytest.mark.django_db
FIELDS = {
    "id", "workspaceId", "name", "slug", "description", "origin", "originLine", "enabled",
    "git", "definition",
    "latestVersion", "createdAt", "updatedAt",
}  # fmt: skip


def test_a_new_workflow_keeps_its_draft_and_says_where_it_is(
    author: APIClient, workspace: Workspace
) -> None:
    made = author.post(
        "/v1/Workflow",
        {"name": "Order import", "definition": {"tasks": "not yet a list"}},
        format="json",
    )

    assert made.status_code == 201
    shown = author.get(made["Location"]).json()
    assert shown == made.json()
    assert set(shown) == FIELDS
    assert shown["slug"] == "order-import"
    assert shown["workspaceId"] == str(workspace.id)
    assert shown["definition"] == {"tasks": "not yet a list"}
    assert shown["latestVersion"] is None
    assert shown["createdAt"].endswith("Z")
    assert Activity.objects.get(action="workflow.create").object_id == str(
        Workflow.objects.get().id
    )


def test_a_slug_is_taken_once_in_a_workspace(author: APIClient) -> None:
    author.post("/v1/Workflow", {"name": "One"}, format="json")

    again = author.post("/v1/Workflow", {"name": "one"}, format="json")

    assert again.status_code == 409
    assert again.json()["code"] == "slug_taken"
    assert Workflow.objects.count() == 1


def test_a_change_counts_a_revision_and_a_stale_one_is_refused(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    address = f"/v1/Workflow/{greeting['id']}"
    tag = author.get(address)["ETag"]

    first = author.patch(address, {"description": "A"}, format="json", headers={"If-Match": tag})
    second = author.patch(address, {"description": "B"}, format="json", headers={"If-Match": tag})

    assert first.status_code == 200
    assert first["ETag"] != tag
    assert second.status_code == 412
    assert second.json()["code"] == "stale_revision"
    assert author.get(address).json()["description"] == "A"


@pytest.mark.parametrize("tag", ["abc", '"0"', 'W/"99"', '""'])
def test_a_tag_that_is_none_of_ours_matches_nothing(
    author: APIClient, greeting: dict[str, Any], tag: str
) -> None:
    answer = author.put(
        f"/v1/Workflow/{greeting['id']}",
        {"name": "x", "definition": {}},
        format="json",
        headers={"If-Match": tag},
    )

    assert answer.status_code == 412


def test_put_replaces_everything_but_the_slug(author: APIClient, greeting: dict[str, Any]) -> None:
    answer = author.put(
        f"/v1/Workflow/{greeting['id']}", {"name": "New", "definition": {"a": 1}}, format="json"
    )

    assert answer.status_code == 200
    assert answer.json() | {"updatedAt": 0} == greeting | {
        "name": "New", "definition": {"a": 1}, "updatedAt": 0,
    }  # fmt: skip


def test_a_deleted_workflow_is_gone_and_its_slug_free(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    address = f"/v1/Workflow/{greeting['id']}"

    assert author.delete(address).status_code == 204

    assert author.get(address).status_code == 404
    assert author.delete(address).status_code == 404
    started = author.post(f"/v1/WorkflowExecution/{greeting['id']}/execute", {}, format="json")
    assert started.status_code == 404
    assert author.post("/v1/Workflow", {"definition": GREETING}, format="json").status_code == 201


def test_the_list_goes_through_all_pages_newest_first_without_drafts(
    author: APIClient, django_assert_max_num_queries: Any
) -> None:
    for number in range(7):
        author.post("/v1/Workflow", {"name": f"w{number}"}, format="json")

    names, address = [], "/v1/Workflow?limit=3"
    while address:
        with django_assert_max_num_queries(2):
            answer = author.get(address)
        assert answer.status_code == 200
        names += [row["name"] for row in answer.json()]
        assert all(set(row) == FIELDS - {"definition", "git"} for row in answer.json())
        link = answer.headers.get("Link", "")
        address = link.partition(">")[0].removeprefix("<http://testserver")

    assert names == [f"w{number}" for number in reversed(range(7))]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=many", "limit"),
        ("cursor=abc", "cursor"),
        ("cursor=%00", "cursor"),
        ("cursor=WyJhIl0", "cursor"),
        ("limits=5", "limits"),
    ],
)
def test_a_query_that_is_not_understood_is_named(author: APIClient, query: str, name: str) -> None:
    answer = author.get(f"/v1/Workflow?{query}")

    assert answer.status_code == 422
    assert [problem["path"] for problem in answer.json()["errors"]] == [name]


def test_every_mistake_of_a_body_is_named_at_once(author: APIClient) -> None:
    answer = author.post(
        "/v1/Workflow",
        {"name": 5, "slug": "Not a slug", "enabled": "yes", "definition": [], "colour": "red"},
        format="json",
    )

    assert answer.status_code == 422
    paths = {problem["path"] for problem in answer.json()["errors"]}
    assert paths == {"name", "slug", "enabled", "definition", "colour"}
    assert Workflow.objects.count() == 0
