"""Executions are watched while real workers run them, over connections and servers that end."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model

from runners.models import Run
from tests.support.fleet import Fleet
from tests.support.signed_in import bearer
from tests.support.watching import LiveRun, watch
from tests.support.web_server import WebServer, web_server
from tests.support.workflows import effect, publish, start, task

RETRY = {"maxAttempts": 2, "baseSeconds": 0.2, "jitter": 0}


@pytest.fixture(scope="module")
def server(whole_fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    names = ("REDIS_URL", "VALKYR_KEY_PREFIX", "VALKYR_EXTRA_MODULES")
    extra = {name: whole_fleet.environment[name] for name in names}
    with web_server(tmp_path_factory.mktemp("live") / "web.log", extra) as server:
        yield server


@pytest.fixture
def web(fleet: Fleet, server: WebServer, request: pytest.FixtureRequest) -> Iterator[WebServer]:
    """Yield the web process with a fleet that is ready; show its log if a test fails."""
    yield server
    request.node.add_report_section("call", "log of web", server.log.read_text()[-4000:])


@pytest.fixture
def signed_in(fleet: Fleet) -> dict[str, str]:
    user: Any = get_user_model().objects.filter(username="watcher").first()
    user = user or get_user_model().objects.create_superuser("watcher")
    return {"Authorization": bearer(user)}


def url_of(web: WebServer, execution: UUID) -> str:
    return f"{web.address}/v1/WorkflowExecution/{execution}/subscribe"


def in_database(execution: UUID) -> dict[str, str]:
    rows = Run.objects.filter(execution=execution)
    return {str(pk): state for pk, state in rows.values_list("pk", "state")}


def test_who_watches_sees_every_step_end(web: WebServer, signed_in: dict[str, str]) -> None:
    body = {"tasks": [task("one", "test.effect", **{"with": {"value": "{{ item }}"}})]}
    tasks = [
        effect("first"),
        effect("retried", "first", failTimes=1, retry=RETRY),
        task("each", "flow.map", "retried", **{"with": {"items": list(range(20))}, "body": body}),
        effect("fails", "each", failTimes=9, errorType="PERMANENT"),
    ]
    execution = start(publish({"tasks": tasks}))

    seen = watch(url_of(web, execution), signed_in, LiveRun())

    assert seen.events[0] == "snapshot"
    assert seen.ended
    assert seen.executions[str(execution)]["state"] == "FAILED"
    assert seen.states() == in_database(execution)
    assert "DLQ" in seen.states().values()


def test_cuts_and_restarts_lose_nothing(web: WebServer, signed_in: dict[str, str]) -> None:
    names = [f"s{number}" for number in range(30)]
    tasks = [
        effect(name, after=before, seconds=0.3)  # longer in total than six reads of a slow hub
        for name, before in zip(names, [None, *names], strict=False)
    ]
    execution = start(publish({"tasks": tasks}))
    seen, url = LiveRun(), url_of(web, execution)
    for frames in (2, 1, 3):
        watch(url, signed_in, seen, frames=frames)
        assert not seen.ended
    web.kill()
    web.start()
    while not seen.ended:
        watch(url, signed_in, seen, frames=4)

    assert seen.events.count("snapshot") == 1
    assert seen.executions[str(execution)]["state"] == "SUCCESS"
    assert seen.states() == in_database(execution)
    assert len(seen.runs) == 30
