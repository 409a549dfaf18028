"""Every screen, metric and check agrees on the age of the report of a live worker."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from dlq.admin.dashboard import cells
from dlq.metrics import waiting
from executions.database.clock import database_now
from runners.dispatch import estimates
from runners.explain import explanation
from runners.models import Runner
from runners.workers.queues import served

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
QUEUE = "io"


@pytest.fixture
def op(django_user_model: Any) -> Client:
    cache.clear()
    client = Client()
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


def worker(seconds: int) -> None:
    """Create a worker that reported this many seconds ago."""
    seen = database_now() - timedelta(seconds=seconds)
    Runner.objects.create(
        name="io@box", host="box", pid=1, pool="threads", processes=4, queues=[QUEUE], seen_at=seen
    )


def measured() -> bool:
    _, _, workers = waiting(database_now())
    return any(one.value for one in workers.samples if one.labels["queue"] == QUEUE)


def counted_for_packing() -> bool:
    estimates.forget_capacity()
    return estimates.serving(QUEUE) == 4


PLACES: dict[str, Callable[[], bool]] = {
    "metrics": measured,
    "packing": counted_for_packing,
    "checks": lambda: QUEUE in served(),
    "explanations": lambda: QUEUE in explanation._served(database_now()),
    "the panel of cells": lambda: cells._counts().workers == 1,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("seconds", "live"), [(30, True), (36, False)])
def test_a_worker_is_live_for_35_seconds_after_its_report(
    place: str, seconds: int, live: bool
) -> None:
    worker(seconds)

    assert PLACES[place]() is live


@pytest.mark.parametrize("address", ["/admin/", "/admin/runners/runner/"])
@pytest.mark.parametrize(("seconds", "text"), [(30, "live"), (36, "not responding")])
def test_pages_show_a_worker_that_stopped_as_not_responding(
    op: Client, address: str, seconds: int, text: str
) -> None:
    worker(seconds)

    page = op.get(address).content.decode()

    assert f"{text}</span>" in page
    assert ("not responding" in page) is (text == "not responding")
