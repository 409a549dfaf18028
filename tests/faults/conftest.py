"""One database, one Redis and one fleet of real workers for the whole folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from runners.models import Run
from runners.states import RunState
from tests.support.engine_database import engine_database
from tests.support.fleet import Fleet, publishing_to
from tests.support.folders import passable_folder
from tests.support.waiting import wait_until
from tests.support.workflows import describe
from valkyr_project.embedded import Redis


@pytest.fixture(scope="package")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture(scope="package")
def redis(engine: None) -> Iterator[Redis]:
    """Run a Redis that tests may kill; a killed Redis loses all data."""
    with passable_folder() as home:
        server = Redis(home, durable=False)
        server.start()
        with publishing_to(server.url):
            yield server
        server.stop()


@pytest.fixture(scope="package")
def whole_fleet(redis: Redis, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    made = Fleet(tmp_path_factory.mktemp("fleet"), redis.url)
    try:
        made.everybody()
        yield made
    finally:
        made.stop()


@pytest.fixture
def fleet(whole_fleet: Fleet, request: pytest.FixtureRequest) -> Iterator[Fleet]:
    """Yield the fleet, complete and ready; show its logs if a test fails."""
    whole_fleet.ensure()
    sizes = {name: member.log.stat().st_size for name, member in whole_fleet.members.items()}
    yield whole_fleet
    for name, member in whole_fleet.members.items():
        with member.log.open() as log:
            log.seek(sizes.get(name, 0))
            request.node.add_report_section("call", f"log of {name}", log.read()[-4000:])
    left = list(Run.objects.filter(state=RunState.RUNNING).values_list("execution_id", flat=True))
    assert not left, f"these hold workers that the next test needs: {describe(left)}"
    # A cancelled step runs until it checks, and holds a slot that no row shows.
    wait_until(
        lambda: not whole_fleet.executing(),
        20,
        "the end of steps that hold workers which the next test needs",
        lambda: describe(_executions(whole_fleet.executing())),
    )


def _executions(runs: list[UUID]) -> list[UUID]:
    return list(Run.objects.filter(pk__in=runs).values_list("execution_id", flat=True))


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Path]:
    """Create a file that holds steps (`whileThere`) until a test removes it."""
    file = tmp_path / "held"
    file.touch()
    yield file
    file.unlink(missing_ok=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/faults/" in item.nodeid:
            item.add_marker(pytest.mark.faults)
