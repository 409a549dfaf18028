"""A web process that gets more requests than it can handle rejects some and serves the others."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest
from django.contrib.auth import get_user_model

from executions.models import Credential, WorkflowExecution
from runners.models import Runner
from tests.support.fleet import Fleet, database_url
from tests.support.signed_in import bearer
from tests.support.waiting import wait_until
from tests.support.web_server import WebServer, web_server
from tests.support.workflows import publish, start, task, wait_for_end

# One slot, and the open connections.
CONNECTIONS = 3
# Each holds the slot until the lock's time-out, so that the last cannot get it in time.
REQUESTS = 10


@pytest.fixture(scope="module")
def web(whole_fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    names = ("REDIS_URL", "VALKYR_KEY_PREFIX", "VALKYR_EXTRA_MODULES", "CELERY_BROKER_URL")
    extra = {n: whole_fleet.environment[n] for n in names if n in whole_fleet.environment}
    extra["VALKYR_POOL_SIZE"] = str(CONNECTIONS)
    with web_server(tmp_path_factory.mktemp("overload") / "web.log", extra) as server:
        yield server


@pytest.fixture
def api(fleet: Fleet, web: WebServer) -> Iterator[httpx.Client]:
    user: Any = get_user_model().objects.filter(username="operator").first()
    user = user or get_user_model().objects.create_superuser("operator")
    with httpx.Client(base_url=web.address, headers={"Authorization": bearer(user)}) as client:
        client.timeout = httpx.Timeout(60)
        yield client


@contextmanager
def nobody_reads_credentials() -> Iterator[None]:
    with psycopg.connect(database_url()) as held:
        held.execute(f"LOCK TABLE {Credential._meta.db_table}")
        yield


def _figure(web: WebServer, name: str) -> float:
    lines = httpx.get(f"{web.address}/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


@pytest.mark.quiet  # a lock is held for 3 s
def test_it_refuses_what_can_wait_and_answers_what_cannot(
    api: httpx.Client, web: WebServer
) -> None:
    asks = publish({"tasks": [task("ask", "flow.approval", **{"with": {"title": "Go?"}})]})
    execution = start(asks)
    with ThreadPoolExecutor(REQUESTS) as pool, nobody_reads_credentials():
        answers = [pool.submit(api.get, "/v1/Credential") for _ in range(REQUESTS)]
        wait_until(
            lambda: _figure(web, "valkyr_http_requests_waiting") == REQUESTS - 1, 10, "the queue"
        )

        assert api.get("/actuator/health/live").status_code == 200
        assert api.get("/admin/").status_code == 302  # to the sign-in
        assert api.post(f"/v1/WorkflowExecution/{execution}/cancel").status_code == 200
        # None of these waited until the queue was shorter.
        assert not any(answer.done() for answer in answers)
        found = [answer.result() for answer in answers]

    shed = [answer for answer in found if answer.json()["code"] == "overloaded"]
    assert shed
    assert all(1 <= int(answer.headers["Retry-After"]) <= 5 for answer in shed)
    assert {answer.status_code for answer in found} == {503}
    assert _figure(web, "valkyr_http_requests_shed_total") == len(shed)
    assert wait_for_end([execution]) == {execution: "CANCELLED"}
    assert api.get("/v1/Credential").status_code == 200


def test_a_request_that_waits_for_work_leaves_its_place(api: httpx.Client) -> None:
    asked = {"runnerId": "patient", "queues": ["gpu"], "waitSeconds": 10}
    with ThreadPoolExecutor(1) as pool:
        leasing = pool.submit(api.post, "/v1/Run/lease", json=asked)
        wait_until(Runner.objects.filter(name__endswith="/patient").exists, 10, "its first look")

        assert api.get("/v1/Me").status_code == 200
        assert not leasing.done(), "the other request waited until this one was answered"
        assert leasing.result().json() == []


def test_nothing_of_a_refused_start_is_left(api: httpx.Client, web: WebServer) -> None:
    flow = publish({"tasks": [task("one")]})
    address = f"/v1/WorkflowExecution/{flow.pk}/execute"
    with ThreadPoolExecutor(REQUESTS + 1) as pool, nobody_reads_credentials():
        held = [pool.submit(api.get, "/v1/Credential") for _ in range(REQUESTS)]
        wait_until(
            lambda: _figure(web, "valkyr_http_requests_waiting") == REQUESTS - 1, 10, "the queue"
        )
        refused = api.post(address, json={"params": {}})
        for answer in held:
            answer.result()

    assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
    assert not WorkflowExecution.objects.filter(workflow=flow).exists()
    started = api.post(address, json={"params": {}})
    assert started.status_code == 202
    assert set(wait_for_end([started.json()["id"]]).values()) == {"SUCCESS"}
