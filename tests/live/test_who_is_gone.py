"""A remote runner that ends while it waits for work gets none."""

import time
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.support.preparing import prepare_remote_runs
from tests.support.waiting import wait_until
from tests.support.web_server import WebServer
from tests.support.workflows import default_workspace, publish, start, task

from .conftest import bearer, person

WAIT = 4  # seconds
LATER = "default/second"
INPUTS: dict[str, Any] = {"with": {"handler": "render"}}


@pytest.fixture
def runner(database: None) -> dict[str, str]:
    return bearer(person("film-runner", default_workspace(), "SYSTEM"))


def begin() -> UUID:
    return start(publish({"tasks": [task("film", "remote.step", queue="gpu", **INPUTS)]}))


def test_who_hung_up_takes_nothing_and_the_next_who_asks_has_it(
    web: WebServer, runner: dict[str, str]
) -> None:
    with httpx.Client(base_url=web.address, headers=runner, timeout=120) as client:

        def lease(name: str, **more: Any) -> httpx.Response:
            asked = {"runnerId": name, "queues": ["gpu"], "waitSeconds": WAIT}
            return client.post("/v1/Run/lease", json=asked, **more)

        until = time.monotonic() + WAIT + 2
        with pytest.raises(httpx.ReadTimeout):
            lease("first", timeout=1)
        execution = begin()
        prepare_remote_runs()
        # The first would have waited this long, and would have got it.
        wait_until(lambda: time.monotonic() > until, WAIT + 10)

        found = lease("second").json()

    assert [(run["executionId"], run["runnerId"]) for run in found] == [(str(execution), LATER)]
