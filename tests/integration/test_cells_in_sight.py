"""Health, metrics and the home page of two servers, one of which hangs or is dead."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.db import connections
from django.test import Client, override_settings
from prometheus_client.parser import text_string_to_metric_families

from dlq.metrics import DATABASE
from executions.database.routing import serving
from executions.health.checking import HEALTH_CHECKS
from executions.models import Workspace
from runners.models import Runner
from tests.support import emptying
from tests.support.cell_databases import CELL
from tests.support.cell_server import PLAIN, cell_server, frozen
from tests.support.engine_database import engine_database
from tests.support.workflows import publish, start, task
from valkyr_project.embedded import Postgres

TASKS = {"tasks": [task("one")]}


@pytest.fixture(name="server", scope="module")
def _server(django_db_setup: None, django_db_blocker: Any) -> Iterator[Postgres]:
    with engine_database(django_db_blocker), cell_server() as made:
        with override_settings(STORAGES=PLAIN):
            with serving(CELL):
                start(publish(TASKS, Workspace.objects.get(slug="north")))
                Runner.objects.create(
                    name="io@there", host="there", pid=1, pool="threads", queues=["io"]
                )
            yield made
        emptying.empty()


@pytest.fixture(autouse=True)
def _look_anew(server: Postgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("executions.health.checking.KEPT_SECONDS", 0.0)
    DATABASE.forget()
    cache.clear()
    yield
    connections.close_all()


@pytest.fixture(name="root")
def _root(server: Postgres) -> Client:
    client = Client()
    user, _ = get_user_model().objects.get_or_create(
        username="root", is_superuser=True, is_staff=True
    )
    client.force_login(user)
    return client


def statuses() -> dict[str, str]:
    answer = Client().get("/actuator/health")
    assert answer.status_code == 200, answer.content
    parts = answer.json()["components"]
    return {name: part["status"] for name, part in parts.items()} | {"": answer.json()["status"]}


def samples(name: str) -> dict[tuple[tuple[str, str], ...], float]:
    """Return the samples of one metric, by labels."""
    text = Client().get("/metrics").content.decode()
    families = text_string_to_metric_families(text)
    return {
        tuple(sorted(one.labels.items())): one.value
        for family in families
        for one in family.samples
        if one.name == name
    }


def test_health_has_parts_of_each_cell(server: Postgres) -> None:
    found = statuses()

    assert (found["database"], found["b:database"], found["b:migrations"]) == ("UP",) * 3
    assert found["b:workers"] == found["b:beat"] == "DOWN"


def test_a_frozen_cell_is_named_and_other_parts_are_known(server: Postgres) -> None:
    with frozen(server):
        found = statuses()
        missing = Client().get("/actuator/health/ready?parts=b:database")

    assert (found[""], found["database"], found["broker"]) == ("DEGRADED", "UP", "UP")
    assert (found["b:database"], found["b:beat"]) == ("DOWN", "DOWN")
    assert missing.status_code == 503
    assert HEALTH_CHECKS.findings()["b:database"].well


def test_metrics_of_a_database_name_its_cell(server: Postgres) -> None:
    up, running = samples("valkyr_up"), samples("valkyr_executions")
    workers = samples("valkyr_workers")

    assert up[("cell", "-"), ("part", "database")] == 1
    assert up[("cell", "b"), ("part", "database")] == 1
    assert up[(("part", "broker"),)] == 1
    assert running[("cell", "b"), ("state", "RUNNING")] == 1
    assert running[("cell", "-"), ("state", "RUNNING")] == 0
    assert workers[("cell", "b"), ("queue", "io")] == 1
    assert workers[("cell", "-"), ("queue", "io")] == 0


def test_metrics_of_a_frozen_cell_are_absent_and_others_are_there(server: Postgres) -> None:
    with frozen(server):
        up, running = samples("valkyr_up"), samples("valkyr_executions")

    assert up[("cell", "b"), ("part", "database")] == 0
    assert up[("cell", "-"), ("part", "database")] == 1
    assert {dict(labels)["cell"] for labels in running} == {"-"}


def test_the_home_page_shows_one_cell_and_the_totals(server: Postgres, root: Client) -> None:
    here = root.get("/admin/").content.decode()
    there = root.get("/admin/?cell=b", follow=True).content.decode()

    assert 'href="/admin/?cell=-" aria-current="page">First database</a>' in here
    assert 'href="/admin/?cell=b" aria-current="page">Cell b</a>' in there
    assert "No executions yet" in here
    assert "No executions yet" not in there
    assert 'data-label="Running">1<' in here


def test_the_home_page_names_a_frozen_cell(server: Postgres, root: Client) -> None:
    with frozen(server):
        here = root.get("/admin/").content.decode()

    assert "not available" in here
    assert "without b" in here


def test_the_home_page_of_a_dead_cell_leads_to_another(server: Postgres, root: Client) -> None:
    root.cookies["valkyr_cell"] = "b"
    root.raise_request_exception = False
    server.stop()
    try:
        gone = root.get("/admin/")
        back = root.get("/admin/?cell=-", follow=True)
        listed = root.get("/admin/").content.decode()
    finally:
        server.start()

    assert gone.status_code == 503
    assert 'href="/admin/?cell=-"' in gone.content.decode()
    assert back.status_code == 200
    assert "without b" in listed


def test_members_see_no_totals(server: Postgres) -> None:
    client = Client()
    client.force_login(get_user_model().objects.create_user("member", is_staff=True))

    page = client.get("/admin/").content.decode()

    assert "Cell b" in page
    assert "All cells" not in page
