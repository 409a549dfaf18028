"""A fleet and a web process that export spans to the tests' collector and log JSON."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.contrib.auth import get_user_model

from executions.models import Workflow
from tests.support.collector import Collector, collecting
from tests.support.engine_database import engine_database
from tests.support.fleet import QUICK, Fleet, redis_of_a_fleet
from tests.support.signed_in import bearer
from tests.support.web_server import WebServer, web_server
from tests.support.workflows import wait_for_end
from valkyr_plugins.telemetry.switch import ENDPOINTS
from valkyr_project.embedded import Redis

TALKATIVE = {
    "VALKYR_LOG_FORMAT": "json",
    "VALKYR_LOG_LEVEL": "INFO",
    "OTEL_BSP_SCHEDULE_DELAY": "100",
    "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=ours",
    "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=tests",
}


@pytest.fixture(scope="package")
def engine(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with engine_database(django_db_blocker):
        yield


@pytest.fixture(scope="package")
def collector() -> Iterator[Collector]:
    with collecting() as made:
        yield made


@pytest.fixture(scope="package")
def redis(engine: None) -> Iterator[Redis]:
    with redis_of_a_fleet() as server:
        yield server


@pytest.fixture(scope="package")
def fleet(
    redis: Redis, collector: Collector, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    extra = QUICK | TALKATIVE | {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    made = Fleet(tmp_path_factory.mktemp("traced"), redis.url, extra)
    made.few(io=True)
    with made.running():
        yield made


@pytest.fixture(scope="package")
def web(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    shared = (
        *("REDIS_URL", "VALKYR_KEY_PREFIX", "VALKYR_EXTRA_MODULES", "VALKYR_REMOTE_QUEUES"),
        ENDPOINTS[0],
    )
    extra = TALKATIVE | {name: fleet.environment[name] for name in shared}
    with web_server(tmp_path_factory.mktemp("web") / "web.log", extra) as server:
        yield server


@pytest.fixture(scope="package")
def ann(engine: None) -> dict[str, str]:
    """Return the headers of a user who may do everything."""
    user: Any = get_user_model().objects.create_superuser("ann")
    return {"Authorization": bearer(user)}


def run(web: WebServer, headers: dict[str, str], workflow: Workflow, **more: str) -> UUID:
    """Start an execution over the API, and wait for its end."""
    url = f"{web.address}/v1/WorkflowExecution/{workflow.pk}/execute"
    answer = httpx.post(url, headers=headers | more, json={"params": {}}, timeout=120)
    assert answer.status_code == 202, answer.text
    execution = UUID(answer.json()["id"])
    wait_for_end([execution])
    return execution
