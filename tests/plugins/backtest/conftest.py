"""Fixtures: a real partner, and workers that the test itself runs."""

from collections.abc import Iterator
from random import Random

import pytest

from tests.support.engine_database import engine_database
from tests.support.module_fixtures import partner
from tests.support.single_thread import World, configured, world

__all__ = ["engine", "partner", "queue"]


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: object, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Replace the broker; the test runs the workers."""
    quiet = world(Random(0), monkeypatch, lose=0, double=0, die=0)
    with quiet as made, configured(stretch_steps=32, segment_steps=32):
        yield made
