"""Labels over HTTP: shown, filtered by, and counted, in lists of executions and of dead letters."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from dlq.models import DeadLetterEntry
from executions.admin import labels
from executions.database import statements
from executions.labels import finding, ranges
from executions.models import Membership, Workflow, WorkflowExecution
from runners.models import Run
from tests.support.workflows import limited_workspace, publish, task
from valkyr_plugins.redrive.models import Redrive

pytestmark = pytest.mark.django_db
LABELS = {"order": "{{ input.order }}", "country": "{{ input.country }}"}
PAYLOADS = [{"order": n, "country": "DE" if n % 2 else "FR"} for n in range(6)]
EXECUTIONS, LETTERS = "/v1/WorkflowExecution", "/v1/DeadLetterQueue"


@pytest.fixture
def workflow() -> Workflow:
    return publish({"labels": LABELS, "tasks": [task("one")]})


@pytest.fixture
def ids(author: APIClient, workflow: Workflow) -> list[str]:
    """Return the executions of the payloads, in their order."""
    path = f"{EXECUTIONS}/{workflow.pk}/execute-batch"
    answer = author.post(path, {"payloads": PAYLOADS}, format="json")
    found: list[str] = answer.json()["ids"]
    return found


@pytest.fixture
def letters(author: APIClient, ids: list[str]) -> list[dict[str, Any]]:
    """Create a dead letter of each execution."""
    runs = [Run.objects.get(execution_id=pk) for pk in ids]
    return [
        author.post(f"/v1/Run/{run.pk}/quarantine", {"reason": "poison"}, format="json").json()
        for run in runs
    ]


def listed(client: APIClient, path: str, **query: Any) -> list[str]:
    answer = client.get(path, query)
    assert answer.status_code == 200, answer.content
    return [row["id"] for row in answer.json()]


def test_executions_are_listed_by_label_newest_first(
    author: APIClient, workflow: Workflow, ids: list[str]
) -> None:
    shown = author.get(f"{EXECUTIONS}/{ids[3]}").json()
    assert shown["labels"] == {"order": "3", "country": "DE"}
    assert listed(author, EXECUTIONS, label="order:3") == [ids[3]]
    assert listed(author, EXECUTIONS, label="country:DE") == [ids[5], ids[3], ids[1]]
    assert listed(author, EXECUTIONS, label="country:DE", order="asc") == [ids[1], ids[3], ids[5]]
    both = json.dumps({"country": "DE", "order": "3"})
    assert listed(author, EXECUTIONS, label=both) == [ids[3]]
    assert listed(author, EXECUTIONS, label="country:DE", state="FAILED") == []
    assert listed(author, EXECUTIONS, label="country:DE", triggerType="CRON") == []
    same = {"label": "country:DE", "workflowId": str(workflow.pk), "state": "RUNNING"}
    assert listed(author, EXECUTIONS, **same) == [ids[5], ids[3], ids[1]]


def test_a_list_by_label_has_pages(author: APIClient, ids: list[str]) -> None:
    first = author.get(EXECUTIONS, {"label": "country:DE", "limit": 2})
    rest = author.get(first["Link"].partition(">")[0].removeprefix("<"))
    assert [row["id"] for row in [*first.json(), *rest.json()]] == [ids[5], ids[3], ids[1]]


def test_executions_are_counted_by_label(author: APIClient, ids: list[str]) -> None:
    counts = author.get(f"{EXECUTIONS}/labels", {"name": "country"}).json()
    assert counts["complete"] is True
    assert {one["value"]: one["count"] for one in counts["values"]} == {"DE": 3, "FR": 3}
    assert counts["values"][0]["byState"] == {"RUNNING": 3}
    none = author.get(f"{EXECUTIONS}/labels", {"name": "country", "state": "FAILED"}).json()
    assert (none["rows"], none["values"]) == (0, [])


def test_dead_letters_have_the_labels_of_their_executions(
    author: APIClient, letters: list[dict[str, Any]]
) -> None:
    assert letters[3]["labels"] == {"order": "3", "country": "DE"}
    assert listed(author, LETTERS, label="order:3") == [letters[3]["id"]]
    german = [letters[n]["id"] for n in (5, 3, 1)]
    assert listed(author, LETTERS, label="country:DE", resolution="PENDING") == german
    first = author.get(LETTERS, {"label": "country:DE", "limit": 2})
    rest = author.get(first["Link"].partition(">")[0].removeprefix("<"))
    assert [row["id"] for row in [*first.json(), *rest.json()]] == german
    counts = author.get(f"{LETTERS}/labels", {"name": "country", "resolution": "PENDING"}).json()
    assert {one["value"]: one["count"] for one in counts["values"]} == {"DE": 3, "FR": 3}
    assert len(listed(author, "/v1/FailureGroup", label="order:3")) == 1
    assert listed(author, "/v1/FailureGroup", label="order:99") == []


def test_dead_letters_with_a_label_are_redriven(
    author: APIClient, letters: list[dict[str, Any]]
) -> None:
    body = {"filter": {"label": "country:DE"}, "reason": "fixed"}
    answer = author.post("/v1/Redrive", body, format="json")
    assert answer.status_code == 201, answer.content
    redrive = Redrive.objects.get(pk=answer.json()["id"])
    chosen = set(redrive.items.values_list("entry_id", flat=True))
    assert {str(pk) for pk in chosen} == {letters[n]["id"] for n in (1, 3, 5)}


@pytest.mark.parametrize(
    "label", ["", "order", "Order:1", "order:", "{", "[]", '{"order": 1}', '{"a:b": "c"}', "o:\x00"]
)
def test_what_is_no_label_is_a_422_that_names_it(author: APIClient, label: str) -> None:
    for path in (EXECUTIONS, LETTERS, "/v1/FailureGroup"):
        answer = author.get(path, {"label": label})
        assert answer.status_code == 422, (path, answer.content)
        assert answer.json()["errors"][0]["path"] == "label"


def test_a_name_that_no_label_can_have_is_a_422(author: APIClient) -> None:
    for path in (EXECUTIONS, LETTERS):
        assert author.get(f"{path}/labels", {"name": "A b"}).status_code == 422


def test_labels_of_another_workspace_are_not_found(
    author: APIClient, outsider: APIClient, ids: list[str], letters: list[dict[str, Any]]
) -> None:
    for path in (EXECUTIONS, LETTERS, "/v1/FailureGroup"):
        assert listed(author, path, label="order:3")
        assert listed(outsider, path, label="order:3") == []
    for path in (EXECUTIONS, LETTERS):
        counts = outsider.get(f"{path}/labels", {"name": "country"}).json()
        assert (counts["rows"], counts["values"]) == (0, [])


@pytest.fixture
def outsider(django_user_model: Any) -> APIClient:
    """Return a client of an administrator of another workspace."""
    user = django_user_model.objects.create_user("outsider")
    Membership.objects.create(user=user, workspace=limited_workspace(5), role="ADMIN")
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def boss(client: Client, django_user_model: Any, static_files: None) -> Client:
    cache.clear()
    user = django_user_model.objects.create(username="boss", is_staff=True, is_superuser=True)
    client.force_login(user)
    return client


def page_of(client: Client, path: str, **query: str) -> tuple[set[str], str]:
    """Return the rows and the text of a list of the admin."""
    answer = client.get(f"/admin/{path}/", query, follow=True)
    assert answer.status_code == 200
    return {str(row.pk) for row in answer.context["cl"].result_list}, answer.content.decode()


def test_the_admins_list_is_filtered_and_searched_by_label(boss: Client, ids: list[str]) -> None:
    path = "executions/workflowexecution"
    found, text = page_of(boss, path, label="country:DE")
    assert found == {ids[n] for n in (1, 3, 5)}
    assert "country:DE" in text
    assert page_of(boss, path, label="country:DE", state="failed")[0] == set()
    assert page_of(boss, path, q="order:3 country:DE", state="running")[0] == {ids[3]}
    assert page_of(boss, path, q="order:3 tested")[0] == {ids[3]}
    assert page_of(boss, path, label="not a label")[0] == set(ids)
    shown = boss.get(f"/admin/{path}/{ids[3]}/change/").content.decode()
    assert "country:DE" in shown
    results = boss.get("/admin/executions/workflow/search/", {"q": "order:3"}).json()["results"]
    assert [ids[3] in one["address"] for one in results] == [True]


def test_other_filters_of_the_admin_apply_before_the_newest_with_a_label_are_chosen(
    boss: Client, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels, "PAGED", 2)
    path = "executions/workflowexecution"
    assert page_of(boss, path, label="country:DE")[0] == {ids[5], ids[3]}
    ended = timezone.now().replace(microsecond=0)
    WorkflowExecution.objects.filter(pk=ids[1]).update(state="FAILED", finished_at=ended)
    day = f"{ended.isoformat()}/{(ended + timedelta(hours=1)).isoformat()}"
    assert page_of(boss, path, label="country:DE", ended=day)[0] == {ids[1]}
    assert page_of(boss, path, label="country:DE", q="order:1")[0] == {ids[1]}
    assert page_of(boss, path, label="order:1", q="order:3")[0] == set()
    assert page_of(boss, path, label="country:DE", since="1h")[0] == {ids[5], ids[3]}
    assert page_of(boss, path, label="country:DE", kind="test")[0] == set()


def test_the_admin_says_that_a_search_by_label_took_too_long(
    boss: Client, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "SECONDS", 0)
    monkeypatch.setattr(finding, "FIRST_PART", 1)
    monkeypatch.setattr(labels, "PAGED", 1)
    monkeypatch.setattr(ranges, "LEAST", 1)
    path, said = "executions/workflowexecution", "The search took too long"
    assert said in page_of(boss, path, label="country:DE", q=ids[1])[1]
    assert said not in page_of(boss, path, label="country:DE")[1]


def test_a_list_by_label_reads_the_period_of_the_request_only(
    author: APIClient, workflow: Workflow, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "APART", timedelta(0))
    read: list[int] = []
    fetch = statements.fetch

    def counted(name: str, values: Any) -> list[tuple[Any, ...]]:
        rows = fetch(name, values)
        read.append(len(rows))
        return rows

    monkeypatch.setattr(statements, "fetch", counted)
    at = WorkflowExecution.objects.get(pk=ids[0]).created_at
    for name, moment in (("createdAfter", at + timedelta(1)), ("createdBefore", at - timedelta(1))):
        for order in ("asc", "desc"):
            read.clear()
            query = {name: moment.isoformat(), "order": order}
            assert listed(author, EXECUTIONS, label="country:DE", **query) == []
            assert read == [1, 0], (name, order)
    period = {
        "createdAfter": (at - timedelta(hours=1)).isoformat(),
        "createdBefore": (at + timedelta(hours=1)).isoformat(),
    }
    assert listed(author, EXECUTIONS, label="order:3", **period) == [ids[3]]


def test_the_admins_dead_letters_and_groups_are_filtered_by_label(
    boss: Client, letters: list[dict[str, Any]]
) -> None:
    found, text = page_of(boss, "dlq/deadletterentry", label="country:DE")
    assert found == {letters[n]["id"] for n in (1, 3, 5)}
    assert "label: country:DE" in text
    assert len(page_of(boss, "dlq/failuregroup", label="order:3")[0]) == 1
    assert page_of(boss, "dlq/failuregroup", label="order:99")[0] == set()
    assert "is not a label" in page_of(boss, "dlq/deadletterentry", label="nonsense")[1]
    shown = boss.get(f"/admin/dlq/deadletterentry/{letters[3]['id']}/change/").content.decode()
    assert "country:DE" in shown


def test_a_dead_letter_without_labels_shows_none(author: APIClient) -> None:
    plain = publish({"tasks": [task("one")]})
    path = f"{EXECUTIONS}/{plain.pk}/execute"
    started = author.post(path, {"params": {}}, format="json").json()
    assert started["labels"] == {}
    assert WorkflowExecution.objects.get(pk=started["id"]).labels is None
    assert not DeadLetterEntry.objects.filter(labels__isnull=False).exists()
