"""One database and one set of actors for the folder."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulation.world import Simulation
from tests.support.engine_database import engine_database


@pytest.fixture(scope="package")
def simulation(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[Simulation]:
    with (
        engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")),
        Simulation() as made,
    ):
        yield made
