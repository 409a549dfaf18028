"""One database for the folder, whose runs' table is partitioned."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.concurrency.conftest import queue, rivals  # noqa: F401 - fixtures
from tests.support.engine_database import engine_database
from tests.support.partitioned import partitioned


@pytest.fixture(scope="package")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    keep = request.config.getvalue("reuse_db")
    with engine_database(django_db_blocker, keep=keep), partitioned():
        yield
