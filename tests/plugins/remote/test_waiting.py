"""Remote runners wait for a run that another process commits while they wait."""

import time
from datetime import timedelta

import pytest
from rest_framework.test import APIClient

from executions.database.clock import database_now
from runners.models import Run
from tests.contract.people import a_client, a_member
from tests.support.preparing import preparing

from .leasing import begun, lease, one_film

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def runner(db: None) -> APIClient:
    """Return a client of a remote runner's account."""
    return a_client(a_member("SYSTEM"))


@pytest.fixture
def execution(author: APIClient) -> str:
    return begun(author, one_film(author), {"scene": 3})


def test_who_waits_gets_a_run_as_soon_as_there_is_one(runner: APIClient, execution: str) -> None:
    Run.objects.update(retry_after=database_now() + timedelta(seconds=0.5))
    began = time.monotonic()

    with preparing():
        assert len(lease(runner, waitSeconds=20)) == 1

    assert 0.3 < time.monotonic() - began < 10


def test_who_waits_for_nothing_is_told_so_in_time(runner: APIClient) -> None:
    began = time.monotonic()

    assert lease(runner, waitSeconds=1) == []

    assert 0.9 < time.monotonic() - began < 5
