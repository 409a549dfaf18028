"""Tests of circuits in the admin: the list, a page, permission to reset, and rules."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from executions.models import Activity, Membership
from runners.models import Waiter
from tests.support import admin_rows as rows
from valkyr_plugins.circuits import gate
from valkyr_plugins.circuits.models import CircuitBreaker, CircuitRule

pytestmark = pytest.mark.django_db
LIST, RULES = "/admin/valkyr_circuits/circuitbreaker/", "/admin/valkyr_circuits/circuitrule/"
TARGET = "http.request:api.example.com"


@pytest.fixture(autouse=True)
def _pages(static_files: None) -> Iterator[None]:
    """Provide the static files that pages need, and clear the cached rows of other tests."""
    gate.memory().forget()
    yield
    gate.memory().forget()


@pytest.fixture
def op(client: Client, django_user_model: Any) -> Client:
    """Return a superuser's client."""
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


@pytest.fixture
def opened() -> CircuitBreaker:
    now = timezone.now()
    return CircuitBreaker.objects.create(
        workspace=rows.workspace(),
        target=TARGET,
        state="OPEN",
        failures=5,
        last_error=rows.HOSTILE,
        last_failure_at=now,
        opened_at=now,
        next_retry_at=now + timedelta(seconds=60),
    )


def member(client: Client, django_user_model: Any, role: str, slug: str = "default") -> Client:
    user = django_user_model.objects.create(username=f"ada-{role.lower()}", is_staff=True)
    Membership.objects.create(user=user, workspace=rows.workspace(slug), role=role)
    client.force_login(user)
    return client


def reset_page(row: CircuitBreaker) -> str:
    return reverse("admin:valkyr_circuits_circuitbreaker_operate_reset_circuit", args=[row.pk])


def test_the_list_shows_what_rests_and_for_how_many(op: Client, opened: CircuitBreaker) -> None:
    for _ in range(2):
        run = rows.run(rows.execution(rows.workflow(f"w{_}")), "charge.main", "WAITING")
        Waiter.objects.create(
            run=run,
            execution=run.execution,
            workspace=opened.workspace,
            kind="circuit",
            key=TARGET,
        )

    shown = op.get(LIST).content.decode()
    page = op.get(
        reverse("admin:valkyr_circuits_circuitbreaker_change", args=[opened.pk])
    ).content.decode()

    assert TARGET in shown
    assert "<script>alert" not in shown + page
    assert op.get(LIST).context["cl"].result_list[0].waits == 2
    assert "5 of 5" in page
    assert "60 s" in page
    assert op.get(LIST, {"state": "closed"}).context["cl"].result_count == 0


def test_the_home_page_links_to_circuits_that_are_not_closed(
    op: Client, opened: CircuitBreaker
) -> None:
    probe = rows.run(rows.execution(rows.workflow()), "charge.main", "RUNNING")
    now = timezone.now()
    retry = {"next_retry_at": now, "probe_until": now, "probe_run_id": probe.pk, "probe_token": 1}
    for state, more in (("HALF_OPEN", retry), ("CLOSED", {})):
        CircuitBreaker.objects.create(workspace=opened.workspace, target=state, state=state, **more)
    cache.clear()

    [problem] = op.get("/admin/").context["verdict"].problems

    assert problem.text == "2 circuits are open or half open"
    listed = op.get(problem.address).context["cl"].result_list
    assert {row.state for row in listed} == {"OPEN", "HALF_OPEN"}


def test_a_reset_asks_for_a_reason_and_closes_it(op: Client, opened: CircuitBreaker) -> None:
    asked = op.get(reset_page(opened)).content.decode()
    op.post(reset_page(opened), {"_form_submitted": "True", "reason": ""})
    assert not Activity.objects.filter(action="circuit.reset").exists()
    op.post(reset_page(opened), {"_form_submitted": "True", "reason": "mended"})

    assert "as many as the failure threshold" in asked
    opened.refresh_from_db()
    assert (opened.state, opened.failures) == ("CLOSED", 0)
    row = Activity.objects.get(action="circuit.reset")
    assert (row.reason, row.actor_name, row.via) == ("mended", "op", "admin")


def test_who_operates_executions_resets_and_others_do_not(
    client: Client, opened: CircuitBreaker, django_user_model: Any
) -> None:
    author = member(client, django_user_model, "WORKFLOW")
    author.post(reset_page(opened), {"_form_submitted": "True", "reason": "mended"})
    opened.refresh_from_db()
    assert opened.state == "CLOSED"

    outsider = member(Client(), django_user_model, "ADMIN", "other")

    assert TARGET not in outsider.get(LIST).content.decode()
    assert outsider.post(
        reset_page(opened), {"_form_submitted": "True", "reason": "x"}
    ).status_code in (302, 403, 404)
    assert Activity.objects.filter(action="circuit.reset").count() == 1


def test_superusers_alone_write_rules(client: Client, op: Client, django_user_model: Any) -> None:
    given = {"pattern": "http.request:*.example.com", "failure_threshold": "2"}

    assert op.post(f"{RULES}add/", given).status_code == 302
    rule = CircuitRule.objects.get()
    assert (rule.failure_threshold, rule.recovery_seconds) == (2, None)
    assert Activity.objects.filter(object_type="CircuitRule").count() == 1

    admin = member(Client(), django_user_model, "ADMIN")
    assert admin.post(f"{RULES}add/", given | {"pattern": "x"}).status_code == 403
    assert admin.get(RULES).status_code == 403


@pytest.mark.parametrize("below", ["", "change/", "delete/", "history/"])
def test_to_others_a_rules_pages_do_not_exist(
    client: Client, django_user_model: Any, below: str
) -> None:
    rule = CircuitRule.objects.create(pattern="secret.example.com", failure_threshold=2)

    answer = member(client, django_user_model, "ADMIN").get(
        f"{RULES}{rule.pk}/{below}", follow=True
    )

    assert answer.status_code in (200, 403, 404)
    assert rule.pattern not in answer.content.decode()


@pytest.mark.parametrize(
    "numbers",
    [{"failure_threshold": "0"}, {"recovery_seconds": "-1"}, {"window_seconds": "nan"}],
)
def test_a_rule_without_sense_is_refused(op: Client, numbers: dict[str, str]) -> None:
    answer = op.post(f"{RULES}add/", {"pattern": "*", **numbers})

    assert answer.status_code == 200
    assert not CircuitRule.objects.exists()
