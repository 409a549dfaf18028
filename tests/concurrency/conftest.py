"""One database for the folder; messages go into a list, and each test processes them."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from tests.support.engine_database import engine_database
from tests.support.rivals import Rivals
from tests.support.single_thread import World, world


@pytest.fixture(scope="package")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Replace the broker: lose nothing, and deliver on `drain`."""
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        yield quiet


@pytest.fixture
def rivals(engine: None) -> Iterator[Rivals]:
    with Rivals() as made:
        yield made
