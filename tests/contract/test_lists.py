"""Common features of all lists (a workspace, an order, times), and the search for workflows."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from executions.models import Workspace

pytestmark = pytest.mark.django_db
LISTS = ("Workflow", "WorkflowExecution", "Run", "DeadLetterQueue", "Trigger", "Event")


@pytest.fixture
def both(
    member: Callable[..., Any], client_of: Callable[[Any], APIClient], elsewhere: Workspace
) -> APIClient:
    """Return a client of a user who may author in two workspaces."""
    user = member("ADMIN", name="both")
    user.valkyr_memberships.create(workspace=elsewhere, role="ADMIN")
    return client_of(user)


def fill(client: APIClient, workspace: Workspace) -> None:
    """Create two objects of each kind."""
    definition = {
        "schema": "valkyr/1",
        "name": "w",
        "triggers": [{"type": "EVENT", "event": "came"}],
        "tasks": [{"id": "a", "use": "data.set", "with": {"values": {}}}],
    }
    for number in range(2):
        made = client.post(
            "/v1/Workflow",
            {
                "workspaceId": str(workspace.pk),
                "name": f"w{number}",
                "definition": definition,
            },
            format="json",
        ).json()
        assert client.post(f"/v1/Workflow/{made['id']}/publish").status_code == 201
    for _ in range(2):
        event = {"workspaceId": str(workspace.pk), "name": "came"}
        assert client.post("/v1/Event", event, format="json").status_code == 202
        address = f"/v1/WorkflowExecution/{made['id']}/execute"
        started = client.post(address, {}, format="json").json()["id"]
        run = client.get(f"/v1/Run?executionId={started}").json()[0]["id"]
        client.post(f"/v1/Run/{run}/quarantine", {"reason": "x"}, format="json")


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_of_one_workspace_and_in_either_order(
    both: APIClient, workspace: Workspace, elsewhere: Workspace, name: str
) -> None:
    for place in (workspace, elsewhere):
        fill(both, place)

    def listed(query: str) -> list[str]:
        answer = both.get(f"/v1/{name}?{query}")
        assert answer.status_code == 200, answer.content
        return [row["id"] for row in answer.json()]

    mine, theirs = (listed(f"workspaceId={place.pk}") for place in (workspace, elsewhere))
    assert len(mine) == len(theirs) >= 2
    assert listed("") == [*theirs, *mine]
    assert listed("order=asc") == [*mine[::-1], *theirs[::-1]]
    assert listed(f"workspaceId={uuid4()}") == []

    paged: list[str] = []
    address: str | None = f"/v1/{name}?order=asc&limit=1"
    while address:
        page = both.get(address)
        paged += [row["id"] for row in page.json()]
        address = page["Link"].partition(">")[0].removeprefix("<") if "Link" in page else None
    assert paged == listed("order=asc")


def test_workflows_are_found_by_slug_name_switch_and_time(author: APIClient) -> None:
    made = [
        author.post("/v1/Workflow", {"name": name, "enabled": enabled}, format="json").json()
        for name, enabled in (("Order import", True), ("order export", False), ("Refund", True))
    ]

    def listed(query: str) -> list[str]:
        answer = author.get(f"/v1/Workflow?{query}")
        assert answer.status_code == 200, answer.content
        return [row["name"] for row in answer.json()]

    assert listed("slug=refund") == ["Refund"]
    assert listed("name=ORDER") == ["order export", "Order import"]
    assert listed("name=%25") == []
    assert listed("enabled=false") == ["order export"]
    assert listed(f"createdAfter={made[0]['createdAt']}&order=asc") == ["order export", "Refund"]
    assert listed(f"createdBefore={made[1]['createdAt']}") == ["Order import"]


def test_runs_are_found_by_the_time_they_were_queued(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    address = f"/v1/WorkflowExecution/{greeting['id']}/execute"
    for name in "abc":
        author.post(address, {"params": {"name": name}}, format="json")
    first, second, third = author.get("/v1/Run?order=asc").json()

    def listed(query: str) -> list[str]:
        answer = author.get(f"/v1/Run?{query}")
        assert answer.status_code == 200, answer.content
        return [row["id"] for row in answer.json()]

    assert listed(f"queuedAfter={first['queuedAt']}") == [third["id"], second["id"]]
    assert listed(f"queuedBefore={third['queuedAt']}&order=asc") == [first["id"], second["id"]]
    assert listed("queuedBefore=0001-01-01T00:00:00Z") == []
    assert listed("queuedAfter=9999-12-31T23:59:59Z") == []


class TestImport:
    TEXT = "schema: valkyr/1\nname: {}\ntasks: []\n"

    def take(self, client: APIClient, query: str = "", name: str = "Night shift") -> Any:
        body = self.TEXT.format(name).encode()
        return client.generic(
            "POST", f"/v1/Workflow/import?{query}", body, content_type="application/yaml"
        )

    def test_a_known_slug_is_refused_unless_its_draft_is_to_be_replaced(
        self, author: APIClient
    ) -> None:
        first = self.take(author, "slug=night")
        refused = self.take(author, "slug=night")
        updated = self.take(author, "slug=night&onConflict=update", "Later shift")
        new = self.take(author, "onConflict=update")

        assert (first.status_code, first.json()["slug"]) == (201, "night")
        assert (refused.status_code, refused.json()["code"]) == (409, "slug_taken")
        assert updated.status_code == 200, updated.content
        assert (updated.json()["id"], updated.json()["name"]) == (first.json()["id"], "Later shift")
        assert updated.json()["definition"]["name"] == "Later shift"
        assert updated["ETag"] != first["ETag"]
        assert (new.status_code, new.json()["slug"]) == (201, "night-shift")
        assert len(author.get("/v1/Workflow").json()) == 2

    def test_one_put_away_is_in_nobodys_way(self, author: APIClient) -> None:
        first = self.take(author, "slug=night").json()
        author.delete(f"/v1/Workflow/{first['id']}")

        again = self.take(author, "slug=night&onConflict=update")

        assert again.status_code == 201
        assert again.json()["id"] != first["id"]

    @pytest.mark.parametrize("query", ["onConflict=merge", "slug=a%20b", "slug=", "x=1"])
    def test_what_is_not_understood_is_named(self, author: APIClient, query: str) -> None:
        answer = self.take(author, query)

        assert answer.status_code == 422
        assert answer.json()["errors"][0]["path"] == query.partition("=")[0]
