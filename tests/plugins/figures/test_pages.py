"""Tests of figures on the home page and on a workflow's page: contents and permissions."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from executions.database.clock import database_now
from executions.models import Membership, Workflow
from tests.plugins.figures.busy_day import busy_day
from tests.support import admin_rows as rows
from tests.support.figure_rows import ended
from tests.support.sharing import assign_perm
from valkyr_plugins.figures import reading
from valkyr_plugins.figures.admin import home
from valkyr_plugins.figures.ranges import HOUR, floor
from valkyr_plugins.figures.rollup import count_hour

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
    assert [one for one in asked if "Show as tables" not in said(op, one)] == []


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


def test_the_range_ends_at_the_time_of_the_database(
    op: Client, workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended(workflow, "SUCCESS", database_now() - timedelta(minutes=2))
    fast = database_now() + timedelta(hours=3)  # the web server's clock
    monkeypatch.setattr(timezone, "now", lambda: fast)

    assert card(op, "Succeeded", "/admin/?range=1h") == "1"
    assert card(op, "Succeeded", f"{page_of(workflow)}?range=1h") == "1"


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


def test_links_of_a_selected_period_lead_to_what_ended_then(op: Client, workflow: Workflow) -> None:
    now = database_now()
    for hours, state in ((2, "FAILED"), (5, "FAILED"), (5, "SUCCESS"), (9, "FAILED")):
        ended(workflow, state, now - timedelta(hours=hours))
    since = floor(now, HOUR) - 6 * HOUR
    query = f"from={since:%Y-%m-%dT%H:%MZ}&to={since + 3 * HOUR:%Y-%m-%dT%H:%MZ}"
    for back in range(24):
        count_hour(floor(now, HOUR) - back * HOUR)

    for address in ("/admin/", page_of(workflow)):
        cache.clear()
        cards = {one.title: one for one in op.get(f"{address}?{query}").context["cards"]}
        assert (cards["Failed"].shown, cards["Succeeded"].shown) == ("1", "1")
        found = op.get(cards["Failed"].address).context["cl"].result_list
        assert [row.state for row in found] == ["FAILED"]
        assert since <= found[0].finished_at < since + 3 * HOUR


def test_a_period_that_is_not_in_the_range_is_told(op: Client, workflow: Workflow) -> None:
    rows.execution(workflow)

    for page in ("/admin/", page_of(workflow)):
        text = said(op, f"{page}?from=2020-01-01T00:00Z&to=2020-01-02T00:00Z")

        assert "The selected period is not within the last 24 hours." in text
        assert "Clear the selection" not in text


def test_a_period_that_cannot_be_read_filters_no_executions(op: Client, workflow: Workflow) -> None:
    rows.execution(workflow)

    for period in ("nonsense", "2026-01-02T00:00Z/2026-01-01T00:00Z", "2026-01-01/2026-01-02"):
        answer = op.get("/admin/executions/workflowexecution/", {"ended": period})
        assert len(answer.context["cl"].result_list) == 1
        assert b"Remove the filter" not in answer.content


def refuse(*_: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")


def test_without_executions_charts_say_that_none_ended(op: Client) -> None:
    assert "No executions ended in this period." in said(op)


def test_figures_that_cannot_be_had_leave_the_rest_of_the_page(
    op: Client, workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows.execution(workflow)
    monkeypatch.setattr(home, "read", refuse)

    text = said(op)

    assert "Figures for this period</dt><dd>not available" in text
    assert "Show as tables" not in text
    assert (card(op, "Succeeded"), card(op, "Running")) == ("not available", "1")


def test_hours_that_are_not_counted_are_told_of_where_anything_ran(
    op: Client, workflow: Workflow
) -> None:
    pages = ("/admin/", page_of(workflow))
    assert [one for one in pages if "not counted yet" in said(op, one)] == []

    rows.execution(workflow)

    assert [one for one in pages if "21 hours are not counted yet" not in said(op, one)] == []


def test_numbers_that_are_too_low_are_told(
    op: Client, workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST", 1)
    ended(workflow, "SUCCESS", database_now() - timedelta(minutes=2))

    for page in ("/admin/", page_of(workflow)):
        assert "The newest numbers are too low." in said(op, page)


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


def test_hostile_names_are_text_on_both_pages(op: Client, workflow: Workflow) -> None:
    Workflow.objects.filter(pk=workflow.pk).update(name=rows.HOSTILE)
    busy_day(workflow)

    for address in ("/admin/", page_of(workflow)):
        assert "<script>alert" not in said(op, address)
        assert "<b>bold" not in said(op, address)
