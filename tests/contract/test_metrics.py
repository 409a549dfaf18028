"""`/metrics` of a web process: access and contents."""

import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from rest_framework.test import APIClient

from dlq import statements
from dlq.metrics import DATABASE, READINGS
from executions.access.actor import Actor, record
from executions.health.checking import HEALTH_CHECKS
from executions.models import Tier, WorkflowExecution, Workspace
from executions.observability.metrics_access import access
from tests.support import admin_rows

pytestmark = pytest.mark.django_db
TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture(autouse=True)
def _read_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("VALKYR_METRICS_TOKEN", "VALKYR_METRICS_NETWORKS"):
        monkeypatch.delenv(name, raising=False)
    access.cache_clear()
    DATABASE.forget()
    yield
    access.cache_clear()


def samples(text: str, of: str = "") -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Return every sample by name and labels, or, because there are thousands, only those whose
    lines begin with a text.
    """
    if of:
        text = "".join(line for line in text.splitlines(keepends=True) if line.startswith(of))
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scrape(**extra: Any) -> Any:
    return Client().get("/metrics", **extra)


def test_this_machine_reads_it_and_a_parser_understands_it() -> None:
    answer = scrape()

    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    found = samples(answer.content.decode())
    assert found["valkyr_up", (("part", "database"),)] == 1
    assert found["valkyr_reading_up", (("reading", "steps"),)] == 1
    assert found["valkyr_steps", (("queue", "default"), ("state", "PENDING"))] == 0
    assert all(value == 1 for (name, _), value in found.items() if name == "valkyr_reading_up")


def test_whoever_asks_from_elsewhere_is_refused(settings: Any) -> None:
    answer = scrape(REMOTE_ADDR="203.0.113.9")

    assert answer.status_code == 401
    assert "valkyr_up" not in answer.content.decode()


def test_a_process_that_others_reach_lets_not_even_its_own_machine(settings: Any) -> None:
    # A proxy on the same machine sends requests of the whole world from there.
    settings.INSTALLATION = replace(settings.INSTALLATION, hosts=["valkyr.example.org"])

    assert scrape().status_code == 401


def test_the_token_opens_it_and_nothing_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_METRICS_TOKEN", TOKEN)

    assert scrape().status_code == 401
    assert scrape(headers={"Authorization": f"Bearer {TOKEN}x"}).status_code == 401
    assert scrape(headers={"Authorization": f"Basic {TOKEN}"}).status_code == 401
    assert scrape(headers={"Authorization": "Bearer "}).status_code == 401
    assert scrape(headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_a_named_network_needs_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_METRICS_NETWORKS", "10.1.0.0/16")

    assert scrape(REMOTE_ADDR="10.1.2.3").status_code == 200
    assert scrape(REMOTE_ADDR="127.0.0.1").status_code == 401


def test_requests_are_counted_by_operation_and_status(stranger: APIClient) -> None:
    def asked() -> float:
        found = samples(scrape().content.decode(), "valkyr_http_request_duration_seconds_count")
        labels = (("operation", "getLiveness"), ("status", "200"))
        return found.get(("valkyr_http_request_duration_seconds_count", labels), 0.0)

    before = asked()
    stranger.get("/actuator/health/live")

    assert asked() == before + 1


def test_an_address_that_there_is_not_makes_no_series_of_its_own(stranger: APIClient) -> None:
    for number in range(5):
        stranger.get(f"/nowhere/{number}")

    found = samples(scrape().content.decode())
    assert not [labels for _, labels in found if "nowhere" in str(labels)]


def test_a_queue_of_the_project_has_series_without_work_and_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VALKYR_CELERY_QUEUES", "images")

    found = samples(scrape().content.decode(), "valkyr_")

    for name in ("valkyr_queue_depth", "valkyr_queue_oldest_seconds", "valkyr_workers"):
        assert found[name, (("queue", "images"),)] == 0
    assert found["valkyr_steps", (("queue", "images"), ("state", "PENDING"))] == 0


def test_the_queues_without_a_series_of_their_own_are_summed(tier: Tier) -> None:
    execute_once_in([Workspace.objects.create(slug="s", name="S", tier=tier)])
    execution = WorkflowExecution.objects.get()
    for number in range(28):
        step = f"t{number}.main"
        admin_rows.run(execution, step, "PENDING", queue=f"q{number % 25}")

    found = samples(scrape().content.decode(), "valkyr_queue_")

    others = (("queue", "(others)"),)
    assert found["valkyr_queue_depth", others] == 5
    assert found["valkyr_queue_oldest_seconds", others] > 0
    depths = [value for (name, _), value in found.items() if name == "valkyr_queue_depth"]
    assert sum(depths) == 28


def test_a_thousand_workspaces_make_twenty_series(
    tier: Tier, django_assert_max_num_queries: Any
) -> None:
    spaces = Workspace.objects.bulk_create(
        Workspace(slug=f"space-{n}", name=f"Space {n}", tier=tier) for n in range(1_000)
    )
    execute_once_in(spaces)

    with django_assert_max_num_queries(60):
        text = scrape().content.decode()
    found = samples(text, "valkyr_workspace_executions") | samples(text, "valkyr_executions")

    named = {
        dict(labels)["workspace"]: value
        for (name, labels), value in found.items()
        if name == "valkyr_workspace_executions"
    }
    assert len(named) == 21
    assert sum(named.values()) == 1_000
    assert named["(others)"] == 980
    assert found["valkyr_executions", (("state", "PENDING"),)] == 1_000


def test_ten_scrapes_read_the_database_once(django_assert_num_queries: Any) -> None:
    scrape()

    with django_assert_num_queries(0):
        for _ in range(10):
            assert scrape().status_code == 200


def test_without_the_database_it_still_answers_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))  # bound, not listening: it refuses connections
        monkeypatch.setitem(connection.settings_dict, "PORT", str(probe.getsockname()[1]))
        HEALTH_CHECKS.forget()

        answer = scrape()

    HEALTH_CHECKS.forget()
    text = answer.content.decode()
    found = samples(text, "valkyr_up") | samples(text, "valkyr_steps")
    assert answer.status_code == 200
    assert found["valkyr_up", (("part", "database"),)] == 0
    assert found["valkyr_up", (("part", "broker"),)] == 1
    assert not [name for name, _ in found if name == "valkyr_steps"]


def test_every_reading_is_had_where_there_is_something_of_everything() -> None:
    admin_rows.one_of_each(admin_rows.workflow())

    found = samples(scrape().content.decode(), "valkyr_reading_up")

    had = {
        dict(labels)["reading"]: n for (name, labels), n in found.items() if name.endswith("g_up")
    }
    assert set(had) == set(READINGS)
    assert set(had.values()) == {1.0}


@pytest.mark.parametrize("name", ["live_executions", "live_runs"])
def test_what_lives_is_counted_by_indexes_of_what_lives(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("EXPLAIN " + statements.statement(name), {"most": 20_000})
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert "Seq Scan" not in plan
    assert "execution_" in plan or "run_due" in plan


def execute_once_in(spaces: list[Workspace]) -> None:
    from executions.models import Workflow, WorkflowVersion

    workflow = Workflow.objects.create(workspace=spaces[0], name="w", slug="w")
    version = WorkflowVersion.objects.create(
        workflow=workflow, number=1, source={}, definition={}, checksum="0" * 64
    )
    WorkflowExecution.objects.bulk_create(
        WorkflowExecution(workspace=space, workflow=workflow, version=version) for space in spaces
    )


def test_how_long_a_row_of_the_audit_trail_waits_for_its_seal_is_told(workspace: Workspace) -> None:
    assert audit_figures() == (0, 0)
    record(Actor(None, "ada"), "x.y", workspace_id=None, object_type="Thing", object_id="1")

    number, waits = audit_figures()

    assert number == 0
    assert 0 < waits < 60


def audit_figures() -> tuple[float, float]:
    DATABASE.forget()
    found = samples(scrape().content.decode(), "valkyr_audit")
    return found["valkyr_audit_seals", ()], found["valkyr_audit_unsealed_seconds", ()]
