"""Fixtures: a workspace with credentials, and a server that issues their values."""

from collections.abc import Iterator
from typing import Any

import pytest

from executions.models import Workspace
from tests.support.credential_steps import own_credentials, quiet_world
from tests.support.engine_database import engine_database
from tests.support.issuing import IssuingServer
from tests.support.single_thread import World


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def workspace(engine: None) -> Iterator[Workspace]:
    with own_credentials() as own:
        yield own


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with quiet_world(monkeypatch) as quiet:
        yield quiet


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[IssuingServer]:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    started = IssuingServer()
    yield started
    started.stop()
