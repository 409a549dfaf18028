"""Rate limits: a caller that exceeds one gets a 429 from every process."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import psutil
import pytest
import redis
from django.conf import settings as django_settings
from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from executions.admission import rates
from executions.admission.rates import Rate
from tests.support import nursery
from tests.support.outages import redis_away
from tests.support.rates import forget_rates
from tests.support.waiting import wait_until
from valkyr_project.embedded import Redis

pytestmark = pytest.mark.django_db

COUNTING = """
import json, sys, django
django.setup()
from executions.admission import rates
rate = rates.Rate("tries", "somebody", 40)
print(json.dumps([rates.count([rate]) is None for _ in range(30)]))
"""


def commands() -> int:
    """Return how many scripts Redis has run."""
    with redis.Redis.from_url(django_settings.REDIS_URL) as store:
        found = store.info("commandstats")
    return sum(
        int(found.get(f"cmdstat_{name}", {}).get("calls", 0)) for name in ("eval", "evalsha")
    )


@pytest.fixture
def own_redis(tmp_path: Path, settings: Any) -> Iterator[Redis]:
    """Run a Redis for this test, in which rates are counted."""
    home = tmp_path / "servers"
    home.mkdir(mode=0o711)
    server = Redis(home, durable=False)
    settings.VALKYR = settings.VALKYR | {"REDIS_URL": server.start()}
    rates._script.cache_clear()
    rates.forget()
    yield server
    server.stop()
    rates._script.cache_clear()
    rates.forget()


def test_a_principal_may_ask_so_often_a_minute_and_others_go_on(
    author: APIClient, admin: APIClient, settings: Any
) -> None:
    settings.VALKYR = settings.VALKYR | {"API_RATE": 3}

    answers = [author.get("/v1/Workflow") for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    refused = answers[-1]
    assert refused["Content-Type"] == "application/problem+json"
    assert refused.json()["code"] == "throttled"
    assert "More than 3 API requests in a minute" in refused.json()["detail"]
    assert 0 < int(refused["Retry-After"]) <= 60
    assert refused["RateLimit-Policy"] == '"minute";q=3;w=60'
    assert refused["RateLimit"] == f'"minute";r=0;t={refused["Retry-After"]}'
    assert admin.get("/v1/Workflow").status_code == 200


def test_what_starts_executions_has_a_rate_of_its_own(
    author: APIClient, greeting: dict[str, Any], settings: Any
) -> None:
    settings.VALKYR = settings.VALKYR | {"TRIGGER_RATE": 2}
    address = f"/v1/WorkflowExecution/{greeting['id']}/execute"
    body = {"params": {"name": "Ada"}}

    started = [author.post(address, body, format="json") for _ in range(3)]
    told = author.post("/v1/Event", {"name": "ordered"}, format="json")

    assert [answer.status_code for answer in started] == [202, 202, 429]
    assert "start executions" in started[-1].json()["detail"]
    assert told.status_code == 429
    assert author.get("/v1/WorkflowExecution").status_code == 200
    assert author.get("/v1/Event").status_code == 200


def test_a_request_costs_one_round_trip_and_none_without_limits(
    author: APIClient, greeting: dict[str, Any], settings: Any
) -> None:
    address = f"/v1/WorkflowExecution/{greeting['id']}/execute"

    def start() -> int:
        before = commands()
        answer = author.post(address, {"params": {"name": "Ada"}}, format="json")
        assert answer.status_code == 202
        return commands() - before

    with_limits = start()
    settings.VALKYR = settings.VALKYR | {"API_RATE": 0, "TRIGGER_RATE": 0}
    without = start()

    assert (with_limits, without) == (1, 0)


def test_who_is_known_to_be_over_a_limit_is_refused_without_asking_redis(
    author: APIClient, settings: Any
) -> None:
    settings.VALKYR = settings.VALKYR | {"API_RATE": 1}
    for _ in range(2):
        author.get("/v1/Workflow")
    before = commands()

    assert author.get("/v1/Workflow").status_code == 429
    assert commands() == before


def test_refused_requests_are_counted_by_address_and_a_valid_sign_in_still_passes(
    stranger: APIClient, author: APIClient, settings: Any
) -> None:
    settings.VALKYR = settings.VALKYR | {"REFUSAL_RATE": 3}

    def ask(address: str = "192.0.2.1") -> int:
        client = APIClient(REMOTE_ADDR=address)
        headers = {"Authorization": "Bearer e30.e30.e30"}
        status: int = client.get("/v1/Workflow", headers=headers).status_code
        return status

    assert [ask() for _ in range(4)] == [401, 401, 401, 429]
    assert ask("192.0.2.2") == 401
    assert author.get("/v1/Workflow", REMOTE_ADDR="192.0.2.1").status_code == 200


def test_what_is_open_to_anybody_is_counted_by_address_and_apart(settings: Any) -> None:
    settings.VALKYR = settings.VALKYR | {"REFUSAL_RATE": 2}

    def ask(address: str) -> int:
        status: int = APIClient(REMOTE_ADDR=address).get("/v1/schema/workflow").status_code
        return status

    assert [ask("192.0.2.1") for _ in range(3)] == [200, 200, 429]
    assert ask("192.0.2.2") == 200
    assert APIClient(REMOTE_ADDR="192.0.2.1").get("/v1/Workflow").status_code == 401


def test_the_addresses_of_one_ipv6_network_are_one_caller(settings: Any) -> None:
    settings.VALKYR = settings.VALKYR | {"REFUSAL_RATE": 3}

    answers = [
        APIClient(REMOTE_ADDR=f"2001:db8:1:2:{n:x}::1").get("/v1/Workflow") for n in range(4)
    ]
    elsewhere = APIClient(REMOTE_ADDR="2001:db8:1:3::1").get("/v1/Workflow")

    assert [answer.status_code for answer in answers] == [401, 401, 401, 429]
    assert elsewhere.status_code == 401
    assert rates.network_of("::ffff:192.0.2.1") == rates.network_of("192.0.2.1") == "192.0.2.1"


def test_spaces_and_case_make_no_new_name_for_guessing() -> None:
    get_user_model().objects.create_user("ada", password="correct horse battery")
    names = ["ada", " ada", "ada\t", "ADA"]

    statuses = [
        APIClient(REMOTE_ADDR=f"192.0.2.{n}")
        .post("/v1/auth/token", {"username": names[n % 4], "password": "wrong"}, format="json")
        .status_code
        for n in range(21)
    ]

    assert statuses == [401] * 20 + [429]


def test_two_processes_count_together() -> None:
    forget_rates()
    rate = Rate("tries", "somebody", 40)
    here = [rates.count([rate]) is None for _ in range(30)]
    other = nursery.run(
        [sys.executable, "-c", COUNTING],
        environment=os.environ | {"DJANGO_SETTINGS_MODULE": "valkyr_project.settings"},
    )
    assert other.returncode == 0, other.stderr
    there = json.loads(other.stdout)

    assert (sum(here), sum(there)) == (30, 10)
    assert rates.count([rate]) is not None


def test_while_redis_is_away_each_process_counts_by_itself(
    own_redis: Redis, author: APIClient, settings: Any
) -> None:
    settings.VALKYR = settings.VALKYR | {"API_RATE": 2}
    assert author.get("/v1/Workflow").status_code == 200

    with redis_away(own_redis):
        statuses = [author.get("/v1/Workflow").status_code for _ in range(3)]

    assert statuses == [200, 200, 429]


def test_once_redis_is_back_it_counts_again(
    own_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates, "REST_SECONDS", 0.0)
    rate = Rate("tries", "somebody", 100)
    with redis_away(own_redis):
        assert rates.count([rate]) is None

    assert rates.count([rate]) is None
    with redis.Redis.from_url(own_redis.url) as store:
        assert [store.get(key) for key in store.keys("*rate:*")] == [b"1"]


def test_a_redis_that_hangs_holds_nobody_up_twice(own_redis: Redis, author: APIClient) -> None:
    author.get("/v1/Workflow")
    hanging = psutil.Process(own_redis.pid)
    hanging.send_signal(signal.SIGSTOP)
    try:
        wait_until(lambda: hanging.status() == psutil.STATUS_STOPPED)
        began = monotonic()
        statuses = {author.get("/v1/Workflow").status_code for _ in range(10)}
        took = monotonic() - began
    finally:
        hanging.send_signal(signal.SIGCONT)

    assert statuses == {200}
    assert took < 2.0


def test_what_a_process_remembers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rates, "MOST_REMEMBERED", 10)
    memory = rates._Memory()

    for number in range(50):
        memory.count(f"address {number}")

    assert len(memory._found) == 10
    assert memory.count("address 49")[0] == 2


def test_a_counter_names_neither_person_nor_address() -> None:
    key = rates.of_sign_in("192.0.2.1", "ada")[1].key

    assert "ada" not in key
    assert "192.0.2.1" not in rates.of_sign_in("192.0.2.1", "ada")[0].key


@pytest.mark.parametrize("name", ["VALKYR_API_RATE", "VALKYR_TRIGGER_RATE", "VALKYR_REFUSAL_RATE"])
def test_a_rate_below_nothing_is_refused_at_the_start(name: str) -> None:
    found = nursery.run(
        [sys.executable, "-c", "import django; django.setup()"],
        environment=os.environ | {name: "-1"},
    )

    assert found.returncode != 0
    assert f"{name} is -1; expected 0 or more." in found.stderr


def test_the_document_says_that_every_operation_may_be_over_a_rate(
    client_of: Callable[[Any], APIClient], author: APIClient
) -> None:
    document = author.get("/v1/schema", headers={"Accept": "application/json"}).json()
    without = [
        one["operationId"]
        for path, methods in document["paths"].items()
        for one in methods.values()
        if "429" not in one["responses"] and not path.startswith("/actuator")
    ]

    assert without == []
