"""The pages of figures: what they say, to whom, and what they do where something is missing."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from guardian.shortcuts import assign_perm

from dlq.admin.dashboard import gathering
from executions.database.clock import database_now
from executions.models import Membership, Workflow
from runners.models import Runner
from tests.support import admin_rows as rows
from tests.support.figure_rows import busy_day, ended

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
RANGES = ("1h", "24h", "7d", "14d", "nonsense", "")


@pytest.fixture(autouse=True)
def fresh() -> None:
    cache.clear()


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


@pytest.fixture
def op(django_user_model: Any) -> Client:
    client = Client()
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


def member(django_user_model: Any, name: str, of: Workflow, role: str) -> Client:
    user = django_user_model.objects.create_user(name, is_staff=True)
    Membership.objects.create(user=user, workspace=of.workspace, role=role)
    client = Client()
    client.force_login(user)
    return client


def page_of(of: Workflow) -> str:
    return reverse("admin:executions_workflow_figures", args=[of.pk])


def said(client: Client, address: str = "/admin/") -> str:
    cache.clear()
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def card(client: Client, title: str, address: str = "/admin/") -> str:
    cache.clear()
    cards = {one.title: one.shown for one in client.get(address).context["cards"]}
    return cards[title]


def test_every_range_answers_on_both_pages(op: Client, workflow: Workflow) -> None:
    busy_day(workflow)

    asked = [f"{page}?range={name}" for page in ("/admin/", page_of(workflow)) for name in RANGES]
    assert [one for one in asked if "The same as a table" not in said(op, one)] == []


def test_an_empty_installation_shows_the_first_steps_and_no_worker(op: Client) -> None:
    text = said(op)

    assert "No executions yet" in text
    assert "No worker has reported" in text
    assert "make up" in text
    assert "No execution ended in this time." in text


def test_silent_workers_are_told_of_after_two_minutes(op: Client, workflow: Workflow) -> None:
    runner = Runner.objects.create(
        name="io@box", host="box", pid=1, pool="threads", queues=["io"],
        seen_at=database_now() - timedelta(minutes=1, seconds=40),
    )  # fmt: skip
    assert "have not reported" not in said(op)

    Runner.objects.filter(pk=runner.pk).update(seen_at=database_now() - timedelta(minutes=5))

    assert "Workers have not reported for 5 min" in said(op)


def test_a_queue_with_work_and_no_worker_names_the_command(op: Client, workflow: Workflow) -> None:
    Runner.objects.create(name="io@box", host="box", pid=1, pool="threads", queues=["io"])
    live = rows.execution(workflow)
    rows.run(live, state="PENDING", queue="io", started_at=None)
    assert "no worker takes" not in said(op)

    rows.run(live, "other.main", "PENDING", queue="gpu", started_at=None)

    text = said(op)
    assert "1 step waits in the queue &#x27;gpu&#x27;" in text
    assert "celery -A valkyr_project worker -Q gpu" in text


def test_a_retry_that_is_not_due_waits_for_nobody(op: Client, workflow: Workflow) -> None:
    Runner.objects.create(name="io@box", host="box", pid=1, pool="threads", queues=["io"])
    later = database_now() + timedelta(minutes=5)
    rows.run(
        rows.execution(workflow), state="PENDING", queue="gpu", started_at=None, retry_after=later
    )

    assert "no worker takes" not in said(op)


def test_a_worker_shows_the_steps_that_it_runs(op: Client, workflow: Workflow) -> None:
    Runner.objects.create(name="io@box-1", host="box-1", pid=1, pool="threads", queues=["io"])
    live = rows.execution(workflow)
    for number in range(7):
        rows.run(live, f"charge{number}.main", "RUNNING", leased_by="io@box-1|boot|4711")

    text = said(op)

    assert "charge<wbr>" not in text
    assert "charge0.<wbr>main" in text
    assert "and 2 more" in text


@pytest.mark.parametrize(
    ("role", "granted", "seen"),
    [("WORKFLOW", False, "1"), ("USER", False, "0"), ("USER", True, "1")],
)
def test_figures_are_those_of_the_person(
    django_user_model: Any, workflow: Workflow, role: str, granted: bool, seen: str
) -> None:
    other = rows.workflow("other", owner=rows.workspace("elsewhere"))
    for of in (workflow, other):
        ended(of, "SUCCESS", database_now() - timedelta(minutes=2))
    client = member(django_user_model, "ann", workflow, role)
    if granted:
        assign_perm("read_workflow", django_user_model.objects.get(username="ann"), workflow)

    assert card(client, "Succeeded") == seen
    assert client.get(page_of(workflow)).status_code == (200 if seen == "1" else 403)
    assert client.get(page_of(other)).status_code == 403


def test_two_people_who_see_the_same_share_what_is_kept(
    django_user_model: Any, workflow: Workflow
) -> None:
    ann = member(django_user_model, "ann", workflow, "WORKFLOW")
    bob = member(django_user_model, "bob", workflow, "WORKFLOW")
    stranger = member(
        django_user_model, "cy", rows.workflow("w", owner=rows.workspace("elsewhere")), "ADMIN"
    )
    assert card(ann, "Running") == "0"
    rows.execution(workflow)

    shown = [client.get("/admin/").context["cards"][0].shown for client in (ann, bob, stranger)]

    assert shown == ["0", "0", "0"]
    assert card(bob, "Running") == "1"
    assert card(stranger, "Running") == "0"


@pytest.mark.parametrize("broken", ["read", "queues", "busy", "_circuits", "_groups", "uses_of"])
def test_a_figure_that_cannot_be_had_leaves_the_others(
    op: Client, workflow: Workflow, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def refuse(*_: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")

    rows.execution(workflow)
    monkeypatch.setattr(gathering, broken, refuse)
    if broken == "uses_of":
        rows.people(workflow.workspace, "ada")

    text = said(op)

    assert "not available" in text.lower() or broken == "busy"
    assert card(op, "Running") == "1"


def test_a_statement_that_takes_too_long_is_ended(
    op: Client, workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(*_: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(60)")

    monkeypatch.setattr("runners.figures.patience.PATIENCE_MS", 20)
    monkeypatch.setattr(gathering, "read", sleep)

    assert card(op, "Succeeded") == "not available"


def test_database_errors_alone_are_forgiven() -> None:
    from runners.figures.patience import soon

    with pytest.raises(ZeroDivisionError):
        soon(lambda: 1 // 0)
    assert soon(_fails) is None


def _fails() -> None:
    raise DatabaseError


def test_pages_cost_as_many_statements_with_many_rows_as_with_few(
    op: Client, workflow: Workflow
) -> None:
    def cost() -> list[int]:
        found = []
        for address in ("/admin/", page_of(workflow)):
            cache.clear()
            with CaptureQueriesContext(connection) as seen:
                op.get(address)
            found.append(len(seen))
        return found

    busy_day(workflow)
    few = cost()
    for _ in range(3):
        rows.one_of_each(workflow)

    assert cost() == few


def test_a_workflow_shows_its_slowest_steps_versions_and_costs(
    op: Client, workflow: Workflow
) -> None:
    now = database_now()
    for number in range(4):
        made = ended(workflow, "FAILED" if number == 3 else "SUCCESS", now - timedelta(minutes=2))
        rows.run(made, f"refine[{number}].slow.main", "SUCCESS", duration_ms=3_000)
        rows.run(made, "quick.main", "FAILED", attempt=1, duration_ms=10)
        rows.run(made, "quick.main", "SUCCESS", attempt=2, duration_ms=10)
        rows.run(made, "refine.main", "SUCCESS", waits_for="body", duration_ms=60_000)

    answer = op.get(page_of(workflow))

    steps, versions, costs = answer.context["panels"]
    first = [str(cell) for cell in steps.rows[0]]
    assert "refine.<wbr>slow.<wbr>main" in first[0]
    assert first[4] == "4"
    quick = next(row for row in steps.rows if "quick" in row[0])
    assert [str(cell) for cell in quick[4:]] == ["8", "4 (50 %)", "4"]
    assert [str(cell) for cell in versions.rows[0][1:3]] == ["4", "25 %"]
    assert costs.rows == []


def test_the_page_of_a_workflow_leads_to_its_figures(op: Client, workflow: Workflow) -> None:
    answer = op.get(reverse("admin:executions_workflow_change", args=[workflow.pk]))

    assert page_of(workflow) in answer.content.decode()


def test_hostile_names_are_text_on_both_pages(op: Client, workflow: Workflow) -> None:
    Workflow.objects.filter(pk=workflow.pk).update(name=rows.HOSTILE)
    busy_day(workflow)

    for address in ("/admin/", page_of(workflow)):
        assert "<script>alert" not in said(op, address)
        assert "<b>bold" not in said(op, address)
