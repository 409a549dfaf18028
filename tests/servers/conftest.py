"""The engine on other servers than those of `make up`: a database, and fleets that each file
creates.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.engine_database import engine_database
from tests.support.folders import passable_folder


@pytest.fixture(scope="package")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """Yield a folder that the servers' account may enter."""
    with passable_folder() as folder:
        yield folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/servers/" in item.nodeid:
            item.add_marker(pytest.mark.faults)
