"""Requests of one web process to workspaces in two databases."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import suppress
from threading import Barrier, Event
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import OperationalError, connections
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from rest_framework.test import APIClient

from executions.accounts import tokens, workspaces
from executions.accounts.errors import Taken
from executions.database import cells, routing, transaction
from executions.database.ids import uuid7
from executions.database.routing import serving
from executions.errors import WithProblems
from executions.live.hub import Hub, hub
from executions.models import AccountSession, Membership, Tier, Trigger, Workflow, Workspace
from executions.triggers.start import start_execution
from runners.models import EarlyCallback
from runners.segment.template_data import callback_url_of
from tests.support import emptying
from tests.support.cell_databases import second_cell
from tests.support.engine_database import engine_database
from tests.support.rates import forget_rates
from tests.support.rivals import Rivals
from tests.support.signed_in import bearer
from tests.support.workflows import ACTOR, publish, task

NAME = f"cell_routing_{os.getpid()}"
MIDDLEWARE = ["executions.api.cell_routing.CellRouting", *settings.MIDDLEWARE]
PLAIN = settings.STORAGES | {
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
}
WAIT = 20  # seconds
TASKS = {"tasks": [task("one")]}


@pytest.fixture(name="b", scope="module")
def _b(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    with engine_database(django_db_blocker), second_cell(NAME) as made:
        with override_settings(MIDDLEWARE=MIDDLEWARE, STORAGES=PLAIN):
            yield made
        emptying.empty()


@pytest.fixture(name="north", scope="module")
def _north(b: str) -> Workflow:
    """Publish a workflow of a workspace in the cell."""
    with serving(b):
        tier = Tier.objects.create(name="north")
        return publish(TASKS, Workspace.objects.create(name="North", slug="north", tier=tier))


@pytest.fixture(name="south", scope="module")
def _south(b: str) -> Workflow:
    """Publish a workflow of a workspace in the first database."""
    return publish(TASKS)


@pytest.fixture(name="root", scope="module")
def _root(b: str) -> APIClient:
    return client(get_user_model().objects.create_superuser("root", password="secret-word-9"))


@pytest.fixture(autouse=True)
def _fresh(b: str) -> Iterator[None]:
    forget_rates()
    yield
    connections.close_all()


def client(user: Any, text: str = "") -> APIClient:
    made = APIClient()
    made.credentials(HTTP_AUTHORIZATION=f"Bearer {text}" if text else bearer(user))
    return made


def member(name: str, workflow: Workflow, role: str = "ADMIN") -> Any:
    """Create a user with a role in the workflow's workspace."""
    user = get_user_model().objects.create_user(name, password="secret-word-9")
    with serving(str(workflow._state.db)):
        Membership.objects.create(user=user, workspace_id=workflow.workspace_id, role=role)
    return user


def token(user: Any, workflow: Workflow) -> str:
    """Create an API token; return its text."""
    with serving(str(workflow._state.db)):
        space = Workspace.objects.get(pk=workflow.workspace_id)
        return tokens.create_token(space, user, name="t", maker=user, actor=ACTOR)[1]


def start(asking: APIClient, workflow: Workflow) -> str:
    answer = asking.post(f"/v1/WorkflowExecution/{workflow.pk}/execute", {}, format="json")
    assert answer.status_code == 202, answer.content
    return str(answer.json()["id"])


def listed(asking: APIClient, path: str, **query: Any) -> tuple[list[str], Any]:
    """Return the ids of a list, and the answer."""
    answer = asking.get(path, query)
    assert answer.status_code == 200, answer.content
    return [row["id"] for row in answer.json()], answer


def test_an_id_names_its_cell(b: str) -> None:
    with serving(b):
        there = [uuid7() for _ in range(100)]
    here = uuid7()

    assert {cells.alias_of_id(pk) for pk in there} == {b}
    assert {pk.version for pk in there} == {8}
    assert there == sorted(there)
    assert (here.version, cells.alias_of_id(here)) == (7, routing.first())
    assert cells.alias_of_id(UUID(int=there[0].int ^ 1 << cells.REST)) == ""
    assert cells.alias_in([f"/v1/Run/{there[0]}", f"?of={here}"]) == b


def test_an_execution_starts_and_is_read_in_its_cell(
    root: APIClient, north: Workflow, south: Workflow, b: str
) -> None:
    there, here = start(root, north), start(root, south)

    with serving(b):
        assert north.executions.filter(pk=there).exists()
    assert south.executions.filter(pk=here).exists()
    for pk in (there, here):
        assert root.get(f"/v1/WorkflowExecution/{pk}").json()["id"] == pk
        assert [run["executionId"] for run in root.get(f"/v1/Run?executionId={pk}").json()] == [pk]


def test_a_list_of_one_workspace_asks_one_database(
    root: APIClient, north: Workflow, south: Workflow, b: str
) -> None:
    pk = start(root, north)
    with CaptureQueriesContext(connections[b]) as there:
        found, _ = listed(root, "/v1/WorkflowExecution", workspaceId=str(north.workspace_id))
    assert found[0] == pk
    assert there.captured_queries
    with CaptureQueriesContext(connections[b]) as there:
        found, _ = listed(root, "/v1/WorkflowExecution", workspaceId=str(south.workspace_id))
    assert pk not in found
    assert not there.captured_queries


def test_pages_of_all_cells_are_merged_in_order(
    root: APIClient, north: Workflow, south: Workflow
) -> None:
    made = [start(root, [north, south, south][number % 3]) for number in range(9)]

    seen: list[str] = []
    found, answer = listed(root, "/v1/WorkflowExecution", limit=2)
    while True:
        seen += found
        if "Link" not in answer.headers:
            break
        answer = root.get(answer.headers["Link"].partition(">")[0][1:])
        found = [row["id"] for row in answer.json()]

    assert seen[:9] == made[::-1]
    assert len(seen) == len(set(seen))
    oldest, _ = listed(root, "/v1/WorkflowExecution", order="asc", limit=500)
    assert oldest == seen[::-1]


def test_a_slug_is_given_once_to_two_cells_at_the_same_time(b: str) -> None:
    """The outer blocks stand for the transaction of a request, which commits afterwards."""
    there, here = Barrier(2), Event()

    def create(of: str) -> None:
        with serving(of), transaction.atomic():
            workspaces.create_workspace("Same", Tier.objects.all()[0], actor=ACTOR, slug="same")
            if of == b:
                there.wait(WAIT)
                assert here.wait(WAIT)

    with Rivals() as rivals:
        first = rivals.begin(create, b)
        there.wait(WAIT)
        second = rivals.begin(create, "default")
        refused = second.exception(WAIT)
        here.set()
        first.result(WAIT)
        late = rivals.begin(create, "default").exception(WAIT)

    assert isinstance(refused, Taken)
    assert isinstance(late, Taken)
    assert not Workspace.objects.filter(slug="same").exists()
    with serving(b):
        assert Workspace.objects.filter(slug="same").exists()


def test_many_creations_in_two_cells_give_a_slug_at_most_once(b: str) -> None:
    def create(of: str, slug: str) -> None:
        with serving(of), suppress(Taken):
            workspaces.create_workspace("Raced", Tier.objects.all()[0], actor=ACTOR, slug=slug)

    slugs = [f"raced-{number}" for number in range(30)]
    with Rivals() as rivals:
        acts = [rivals.begin(create, of, slug) for slug in slugs for of in ("default", b)]
        for act in acts:
            act.result(WAIT)
    found = [set(Workspace.objects.using(of).values_list("slug", flat=True))
             for of in ("default", b)]  # fmt: skip

    assert not found[0] & found[1] & set(slugs)
    assert (found[0] | found[1]) & set(slugs)


def test_a_process_of_one_cell_creates_no_workspace(b: str) -> None:
    tier = Tier.objects.all()[0]
    with override_settings(VALKYR={**settings.VALKYR, "CELL": b}), pytest.raises(WithProblems):
        workspaces.create_workspace("Lone", tier, actor=ACTOR, slug="lone")


def test_a_member_sees_the_workspaces_of_each_cell(
    north: Workflow, south: Workflow, root: APIClient
) -> None:
    user = member("ann", north)
    asking = client(user)

    assert listed(asking, "/v1/Workflow")[0] == [str(north.pk)]
    assert listed(asking, "/v1/Workspace")[0] == [str(north.workspace_id)]
    assert [one["slug"] for one in asking.get("/v1/Me").json()["workspaces"]] == ["north"]
    assert asking.get(f"/v1/Workflow/{south.pk}").status_code == 404
    assert start(asking, north)


def test_a_token_is_found_in_its_cell_and_decides_it(north: Workflow, b: str) -> None:
    user = member("bob", north)
    text = token(user, north)
    asking = client(user, text)

    for _ in range(2):
        assert listed(asking, "/v1/Workflow")[0] == [str(north.pk)]
    assert asking.get("/v1/Me").json()["token"]["workspaceId"] == str(north.workspace_id)
    assert start(asking, north)
    get_user_model().objects.filter(pk=user.pk).update(is_active=False)
    assert asking.get("/v1/Workflow").status_code == 401
    wrong = client(user, tokens.make())
    assert wrong.get("/v1/Workflow").json()["code"] == "token_unknown"


def test_sessions_stay_in_the_first_database(north: Workflow, b: str) -> None:
    asking = client(member("eve", north))

    assert asking.get(f"/v1/Workflow/{north.pk}").status_code == 200
    with serving(b):
        assert AccountSession.objects.filter(user__username="eve").count() == 1
    assert AccountSession.objects.using(b).count() == 0


def test_a_workspace_is_created_in_the_cell_of_its_tier(
    root: APIClient, north: Workflow, b: str
) -> None:
    with serving(b):
        tier = Tier.objects.get(name="north").pk
    made = root.post("/v1/Workspace", {"name": "West", "tierId": str(tier)}, format="json")
    taken = {"name": "North", "tierId": str(_first_tier())}
    again = root.post("/v1/Workspace", taken, format="json")

    assert made.status_code == 201, made.content
    assert cells.alias_of_id(UUID(made.json()["id"])) == b
    assert again.status_code == 409, again.content


def _first_tier() -> Any:
    return Workspace.objects.values_list("tier_id", flat=True).first()


def test_a_header_names_the_cell_of_a_request_without_ids(root: APIClient, north: Workflow) -> None:
    found = root.get("/v1/Workflow", HTTP_VALKYR_CELL="b").json()
    refused = root.get("/v1/Workflow", HTTP_VALKYR_CELL="c")

    assert {row["workspaceId"] for row in found} == {str(north.workspace_id)}
    assert (refused.status_code, refused.json()["code"]) == (400, "unknown_cell")


def test_live_states_are_read_from_the_cell_after_the_request(
    root: APIClient, north: Workflow
) -> None:
    pk = start(root, north)
    answer = root.get(reverse("valkyr-execution-subscribe", args=[pk]))

    told = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]

    assert "event: snapshot" in told
    assert pk in told


def test_viewers_of_each_cell_have_a_reader_of_their_own(b: str) -> None:
    async def readers() -> tuple[Hub, Hub, Hub]:
        with serving(b):
            there, again = hub(), hub()
        return hub(), there, again

    here, there, again = asyncio.run(readers())

    assert there is again
    assert here is not there


def test_answers_that_are_not_lists_come_from_the_first_database(root: APIClient) -> None:
    usage = root.get("/v1/Me")
    missing = root.get("/v1/auth/token")
    unknown = root.get("/v1/Nothing")

    assert usage.status_code == 200
    assert missing.status_code == 405
    assert unknown.status_code == 404


def test_a_dead_cell_is_named_and_others_answer(
    root: APIClient, north: Workflow, south: Workflow, b: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, here = start(root, north), start(root, south)
    connections[b].close()

    def refuse(*_: Any, **__: Any) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(connections[b], "connect", refuse)
    gone = root.get(f"/v1/WorkflowExecution/{there}")
    found, answer = listed(root, "/v1/WorkflowExecution")

    assert (gone.status_code, gone.json()["cell"]) == (503, "b")
    assert "The database of the cell 'b' does not answer" in gone.json()["detail"]
    assert here in found
    assert there not in found
    assert answer.headers["Valkyr-Unavailable-Cells"] == "b"
    assert start(root, south)


def test_an_administrators_page_shows_the_chosen_cell(north: Workflow, south: Workflow) -> None:
    user = get_user_model().objects.create_superuser("page", password="secret-word-9")
    asking = APIClient()
    asking.force_login(user)
    rows = "/admin/executions/workflow/"
    first = asking.get(rows).content.decode()
    chosen = asking.get(f"{rows}?cell=b", follow=True).content.decode()
    kept = asking.get(f"{rows}{north.pk}/change/", follow=True)
    back = asking.get(f"{rows}?cell=-", follow=True).content.decode()
    asking.cookies["valkyr_cell"] = "removed"
    without = asking.get(rows)

    assert str(south.pk) in first
    assert str(north.pk) not in first
    assert str(north.pk) in chosen
    assert str(south.pk) not in chosen
    assert kept.status_code == 200
    assert str(south.pk) in back
    assert str(south.pk) in without.content.decode()
    assert '?cell=-" aria-current="page">First database</a>' in first
    assert '?cell=b" aria-current="page">Cell b</a>' in chosen


def test_a_page_of_a_dead_cell_names_it_and_leads_to_another(
    north: Workflow, south: Workflow, b: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = get_user_model().objects.create_superuser("dead", password="secret-word-9")
    asking = APIClient(raise_request_exception=False)
    asking.force_login(user)
    asking.cookies["valkyr_cell"] = "b"
    connections[b].close()

    def refuse(*_: Any, **__: Any) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(connections[b], "connect", refuse)
    rows = "/admin/executions/workflow/"
    gone, one = asking.get(rows), asking.get(f"{rows}{north.pk}/change/")
    back = asking.get(f"{rows}?cell=-", follow=True)

    assert (gone.status_code, one.status_code, back.status_code) == (503, 503, 200)
    assert "The database of the cell b is not available" in gone.content.decode()
    assert f'href="{rows}?cell=-"' in gone.content.decode()
    assert f'href="{rows}{north.pk}/change/?cell=-"' not in one.content.decode()
    assert 'href="/admin/?cell=-"' in one.content.decode()
    assert str(south.pk) in back.content.decode()


def test_a_callback_reaches_its_cell(root: APIClient, north: Workflow, b: str) -> None:
    pk = start(root, north)
    path = f"/{callback_url_of(UUID(pk), 'one.main').partition('//')[2].partition('/')[2]}"

    with CaptureQueriesContext(connections[b]) as there:
        answer = APIClient().post(path, {}, format="json")

    assert answer.status_code == 202, answer.content
    assert there.captured_queries
    with serving(b):
        assert EarlyCallback.objects.filter(execution_id=pk).exists()


def test_a_webhook_is_received_in_its_cell(north: Workflow, b: str) -> None:
    with serving(b):
        space = Workspace.objects.get(pk=north.workspace_id)
        workflow = publish({**TASKS, "triggers": [{"type": "WEBHOOK"}]}, space)
        trigger = Trigger.objects.get(workflow=workflow)
    path = reverse("valkyr-webhook", args=[trigger.pk])

    with CaptureQueriesContext(connections[b]) as there:
        answer = APIClient().post(path, {}, format="json")

    assert cells.alias_of_id(trigger.pk) == b
    assert answer.status_code == 401, answer.content
    assert there.captured_queries


def test_a_start_from_code_names_its_cell(north: Workflow, b: str) -> None:
    with serving(b):
        execution = start_execution(north, {}, actor=ACTOR).execution

    assert cells.alias_of_id(execution.pk) == b
