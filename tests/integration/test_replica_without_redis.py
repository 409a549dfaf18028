"""With a replica and a broker that is not Redis, requests work, and lists come from the primary."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from executions.configuration import settings
from executions.messaging import celery_app, redis_url
from executions.replica import reading
from tests.support.reconfigured import reconfigure

RABBITMQ = "amqp://127.0.0.1:1//"
ADDRESSES = ("broker_url", "broker_write_url", "broker_read_url")


@pytest.fixture
def without_redis() -> Iterator[None]:
    app, known = celery_app(), settings()
    before, url = {name: app.conf[name] for name in ADDRESSES}, known.redis_url
    reconfigure(app, dict.fromkeys(ADDRESSES, RABBITMQ))
    object.__setattr__(known, "redis_url", "")
    reading._client.cache_clear()
    assert redis_url() == ""
    yield
    object.__setattr__(known, "redis_url", url)
    reconfigure(app, before)
    reading._client.cache_clear()


@pytest.mark.usefixtures("without_redis")
def test_a_change_is_answered_and_the_next_list_reads_the_primary(
    db: None, django_user_model: Any
) -> None:
    post, get = RequestFactory().post("/v1/Workflow"), RequestFactory().get("/v1/Workflow")
    post.user = get.user = django_user_model.objects.create(username="ann")

    assert reading.marking(lambda _: HttpResponse("made"))(post).content == b"made"
    assert reading.changed_lately(get)
