"""A real Flower and a real worker: events are sent only while a user watches."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from celery import current_app

from tests.support.engine_database import engine_database
from tests.support.fleet import PROJECT, Fleet, redis_of_a_fleet
from tests.support.waiting import wait_until
from valkyr_project.embedded.child import free_port, start_child, stop
from valkyr_project.processes import commands

SIGN_IN = ("someone", "secret")
TASK = "celery.backend_cleanup"  # every worker knows it, and it does nothing here


@pytest.fixture(scope="module")
def fleet(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Fleet]:
    with engine_database(django_db_blocker), redis_of_a_fleet() as server:
        made = Fleet(tmp_path_factory.mktemp("fleet"), server.url)
        made.worker("control", "control", "threads", 1)
        with made.running():
            yield made


@contextmanager
def flower_of(fleet: Fleet) -> Iterator[httpx.Client]:
    """Run Flower until it is ready; yield a client that has not signed in yet."""
    port = free_port()
    program = commands.flower("127.0.0.1", port, ":".join(SIGN_IN))
    with (fleet.folder / "flower.log").open("ab") as log:
        child = start_child(
            program.command,
            cwd=PROJECT,
            env=fleet.environment | program.environment,
            stdout=log,
            stderr=log,
            death_signal=signal.SIGTERM,
        )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            wait_until(lambda: _is_up(client), 60, "Flower's readiness")
            yield client
    finally:
        stop(child, ((signal.SIGTERM, 10.0),))


def _is_up(client: httpx.Client) -> bool:
    try:
        return client.get("/healthcheck").is_success
    except httpx.TransportError:
        return False


def reports() -> bool:
    """Send a task; return whether the worker reports it by the heartbeat that counts it."""
    seen: list[str] = []
    counted: list[int] = []

    def note(event: dict[str, Any]) -> None:
        seen.append(event["type"])
        # Heartbeats that count nothing answer a receiver's wake-up call.
        if "processed" in event:
            counted.append(event["processed"])
            if len(counted) == 1:
                current_app.send_task(TASK, queue="control", ignore_result=True)
            elif counted[-1] > counted[0]:
                receiver.should_stop = True

    with current_app.connection_for_read() as connection:
        receiver = current_app.events.Receiver(connection, handlers={"*": note})
        receiver.capture(limit=None, timeout=30, wakeup=False)
    return any(kind.startswith("task-") for kind in seen)


def test_workers_report_to_flower_while_somebody_looks_and_not_before(fleet: Fleet) -> None:
    with flower_of(fleet) as flower:
        assert flower.get("/workers").status_code == 401
        assert flower.get("/metrics").is_success
        assert not reports()

        assert flower.get("/workers", auth=SIGN_IN).is_success
        wait_until(reports, 60, "a report")


def test_a_new_flower_stops_reports_that_an_earlier_one_left_on(fleet: Fleet) -> None:
    current_app.control.enable_events()
    wait_until(reports, 60, "a report")

    with flower_of(fleet):
        wait_until(lambda: not reports(), 60, "the end of reports")
