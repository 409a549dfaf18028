"""Health: how each part's failure changes the response, and the advice in it."""

import socket
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Self

import psycopg
import pytest
from celery import current_app
from django.db import connection
from django.db.models import F
from rest_framework.test import APIClient

from dlq.models import BeatPulse
from executions.database import connections
from executions.database.clock import ClockTimestamp
from executions.health import parts
from executions.health.checking import HEALTH_CHECKS
from executions.observability.metrics_access import access
from runners.models import Runner

pytestmark = pytest.mark.django_db
READY = "/actuator/health/ready"
ALL = f"{READY}?parts=all"
TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture(autouse=True)
def _look_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("executions.health.checking.KEPT_SECONDS", 0.0)
    monkeypatch.delenv("VALKYR_METRICS_TOKEN", raising=False)
    access.cache_clear()
    HEALTH_CHECKS.forget()
    yield
    access.cache_clear()
    HEALTH_CHECKS.forget()


class Lent:
    """The test's own session, which sees what the test has not committed."""

    def __init__(self) -> None:
        connection.ensure_connection()
        self._raw: Any = connection.connection  # Django's name means another object in each thread

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the session open."""

    def execute(self, query: Any, values: Any = None) -> Any:
        return self._raw.execute(query, values)


@pytest.fixture
def closed_port() -> int:
    """Return a port that rejects connections."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let health checks use the test's session instead of their own."""
    session = Lent()
    monkeypatch.setattr(connections, "open_session", lambda: session)


@pytest.fixture
def attended(lent: None) -> None:
    """Let workers of every queue have just reported, and beat have ticked."""
    for queue in ("control", "default", "io"):
        Runner.objects.create(
            name=f"{queue}@here", host="here", pid=1, pool="prefork", queues=[queue]
        )
    BeatPulse.objects.update_or_create(pk=1, defaults={"ticked_at": ClockTimestamp()})


@pytest.fixture
def stranger() -> APIClient:
    return APIClient()


def statuses(answer: Any) -> dict[str, str]:
    return {name: part["status"] for name, part in answer.json()["components"].items()}


def test_an_installation_that_is_well_says_so_part_by_part(
    stranger: APIClient, attended: None
) -> None:
    for address in ("/actuator/health", READY, ALL):
        answer = stranger.get(address)
        assert answer.status_code == 200
        assert answer.json() == {
            "status": "UP",
            "components": {
                name: {"status": "UP"}
                for name in ("database", "broker", "migrations", "workers", "beat")
            },
        }


def test_a_broker_that_is_away_is_named_and_its_address_is_not(
    stranger: APIClient, attended: None, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    monkeypatch.setattr(current_app.conf, "broker_write_url", f"redis://127.0.0.1:{closed_port}/0")

    answer = stranger.get(READY)

    assert answer.status_code == 503
    assert answer.json()["status"] == "DOWN"
    assert {n for n, status in statuses(answer).items() if status == "DOWN"} == {"broker"}
    assert str(closed_port) not in answer.content.decode()
    assert answer["Retry-After"] == "2"


def test_a_broker_is_well_while_one_server_of_its_list_is(
    stranger: APIClient, attended: None, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    away, well = f"redis://127.0.0.1:{closed_port}/0", str(current_app.conf.broker_write_url)
    monkeypatch.setattr(current_app.conf, "broker_write_url", f"{away};{away};{away};{well}")

    assert statuses(stranger.get(READY))["broker"] == "UP"


def test_a_database_that_is_away_is_named_and_the_process_still_lives(
    stranger: APIClient, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    monkeypatch.setitem(connection.settings_dict, "PORT", str(closed_port))

    ready = stranger.get(READY)
    live = stranger.get("/actuator/health/live")

    assert ready.status_code == 503
    assert statuses(ready)["database"] == "DOWN"
    assert statuses(ready)["broker"] == "UP"
    assert (live.status_code, live.json()) == (200, {"status": "UP"})


def test_a_database_that_accepts_and_never_answers_is_down_in_bounded_time(
    stranger: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        monkeypatch.setitem(connection.settings_dict, "PORT", str(deaf.getsockname()[1]))

        answer = stranger.get(READY)

    assert answer.status_code == 503
    assert statuses(answer)["database"] == "DOWN"
    assert statuses(answer)["broker"] == "UP"


def test_a_migration_that_is_not_applied_is_named(
    stranger: APIClient, attended: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_the_next_release = parts.known_migrations() | {("runners", "0999_from_tomorrow")}
    monkeypatch.setattr(parts, "known_migrations", lambda: of_the_next_release)
    monkeypatch.setenv("VALKYR_METRICS_TOKEN", TOKEN)

    answer = stranger.get(READY, headers={"Authorization": f"Bearer {TOKEN}"})

    assert answer.status_code == 503
    part = answer.json()["components"]["migrations"]
    assert part["status"] == "DOWN"
    assert "runners.0999_from_tomorrow" in part["found"]
    assert "migrate" in part["do"]


def test_a_migration_of_newer_code_does_no_harm(stranger: APIClient, attended: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('x', '0001', now())"
        )
    assert statuses(stranger.get(READY))["migrations"] == "UP"


def test_without_a_worker_a_web_process_still_takes_orders(stranger: APIClient, lent: None) -> None:
    BeatPulse.objects.update_or_create(pk=1, defaults={"ticked_at": ClockTimestamp()})

    answer = stranger.get(READY)

    assert (answer.status_code, answer.json()["status"]) == (200, "DEGRADED")
    assert statuses(answer)["workers"] == "DOWN"
    assert stranger.get(ALL).status_code == 503


def test_a_queue_that_no_worker_serves_is_named(
    attended: None, stranger: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_METRICS_TOKEN", TOKEN)
    Runner.objects.filter(name="io@here").update(seen_at=F("seen_at") - timedelta(seconds=36))

    answer = stranger.get(READY, headers={"Authorization": f"Bearer {TOKEN}"})

    assert answer.json()["status"] == "DEGRADED"
    assert "none of io" in answer.json()["components"]["workers"]["found"]
    assert "-Q io" in answer.json()["components"]["workers"]["do"]


def test_a_beat_that_is_silent_degrades_and_fails_where_it_is_asked_for(
    stranger: APIClient, attended: None
) -> None:
    BeatPulse.objects.update(ticked_at=F("ticked_at") - timedelta(seconds=61))

    assert stranger.get(READY).json()["status"] == "DEGRADED"
    assert stranger.get(f"{READY}?parts=database,beat").status_code == 503
    assert stranger.get(f"{READY}?parts=database,workers").status_code == 200


def test_a_part_that_there_is_not_is_refused_with_those_that_there_are(
    stranger: APIClient,
) -> None:
    answer = stranger.get(f"{READY}?parts=database,moon")

    assert answer.status_code == 422
    assert "'moon'" in answer.content.decode()
    assert "beat" in answer.content.decode()


def test_what_to_do_is_told_to_staff_and_not_to_users_or_strangers(
    stranger: APIClient, django_user_model: Any
) -> None:
    def told(client: APIClient) -> bool:
        return "do" in client.get(READY).json()["components"]["workers"]

    staff, user = APIClient(), APIClient()
    staff.force_login(django_user_model.objects.create_user("ada", is_staff=True))
    user.force_login(django_user_model.objects.create_user("bob"))

    assert told(staff)
    assert not told(user)
    assert not told(stranger)


def test_a_sign_in_that_is_not_valid_gets_the_strangers_answer(stranger: APIClient) -> None:
    answer = stranger.get(READY, headers={"Authorization": "Bearer vlk_nonsense"})

    assert answer.status_code == 200
    assert "do" not in answer.json()["components"]["workers"]


def test_many_who_ask_at_once_are_looked_for_once(
    stranger: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("executions.health.checking.KEPT_SECONDS", 60.0)
    opened: list[psycopg.Connection[Any]] = []
    really = connections.open_session

    def counted() -> psycopg.Connection[Any]:
        opened.append(really())
        return opened[-1]

    monkeypatch.setattr(connections, "open_session", counted)
    for _ in range(10):
        stranger.get(READY)

    assert len(opened) == 1
