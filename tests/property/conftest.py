"""One database for the whole folder, with the test modules registered."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.engine_database import engine_database


@pytest.fixture(scope="package")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield
