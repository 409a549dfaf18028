"""Permission to watch, and limits on concurrent viewers."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.test import Client
from rest_framework.test import APIClient

from executions.access.actor import Actor
from executions.accounts.tokens import create_token
from tests.live.conftest import bearer, person
from tests.live.moving import do
from tests.support.viewing import viewing
from tests.support.waiting import wait_until
from tests.support.watching import LiveRun, watch
from tests.support.web_server import WebServer, web_server
from tests.support.workflows import default_workspace

Address = Callable[[UUID], str]
Headers = dict[str, str]


def asked(url: str, headers: Headers) -> tuple[int, str]:
    answer = httpx.get(url, headers=headers, timeout=120)
    return answer.status_code, answer.json()["code"]


def watch_once(url: str, headers: Headers) -> bool:
    with httpx.stream("GET", url, headers=headers, timeout=120) as answer:
        return answer.is_success


def cookie_of(user: Any) -> Headers:
    client = Client()
    client.force_login(user)
    return {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}


def test_who_is_not_signed_in_is_refused(address: Address, execution: UUID) -> None:
    assert asked(address(execution), {})[0] == 401


def test_others_do_not_learn_that_it_exists(
    address: Address, stranger: Headers, execution: UUID
) -> None:
    assert asked(address(execution), stranger) == (404, "not_found")


def test_who_may_not_look_may_not_watch(address: Address, execution: UUID) -> None:
    system = bearer(person("system", default_workspace(), "SYSTEM"))

    assert asked(address(execution), system) == (403, "forbidden")


def test_a_session_and_an_api_token_open_the_door(address: Address, execution: UUID) -> None:
    user = person("ann", default_workspace())
    _, token = create_token(
        default_workspace(), user, name="watching", maker=user, actor=Actor.of(user)
    )

    for headers in (cookie_of(user), {"Authorization": f"Bearer {token}"}):
        assert watch(address(execution), headers, LiveRun(), frames=1).events == ["snapshot"]


def test_who_was_signed_out_is_refused_when_coming_back(address: Address, execution: UUID) -> None:
    headers = cookie_of(person("ann", default_workspace()))
    seen = watch(address(execution), headers, LiveRun(), frames=1)
    do("DELETE FROM django_session")

    with pytest.raises(httpx.HTTPStatusError, match="401"):
        watch(address(execution), headers, seen)


def test_what_else_is_asked_for_is_not_served(
    address: Address, ann: Headers, execution: UUID
) -> None:
    assert asked(address(execution), ann | {"Accept": "text/html"})[0] == 406
    assert asked(f"{address(execution)}?since=3", ann) == (422, "invalid")


def test_the_answer_tells_proxies_to_pass_it_on_at_once(
    address: Address, ann: Headers, execution: UUID
) -> None:
    with httpx.stream("GET", address(execution), headers=ann, timeout=120) as answer:
        found = {name: answer.headers[name] for name in ("cache-control", "x-accel-buffering")}
        first = next(answer.iter_raw())

    assert found == {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert first.startswith(b"retry: 1000\n\n")


def test_one_person_gets_so_many_places_and_a_server_has_so_many(
    database: None, ann: Headers, execution: UUID, tmp_path: Path
) -> None:
    bob = bearer(person("bob", default_workspace()))
    few = {"VALKYR_LIVE_VIEWERS": "3", "VALKYR_LIVE_VIEWERS_EACH": "2"}
    with web_server(tmp_path / "web.log", few) as web, ExitStack() as views:
        url = f"{web.address}/v1/WorkflowExecution/{execution}/subscribe"
        first = views.enter_context(viewing(url, ann))
        views.enter_context(viewing(url, ann))
        assert asked(url, ann) == (429, "too_many_viewers")
        views.enter_context(viewing(url, bob))
        assert asked(url, bob) == (503, "too_many_viewers")

        first.close()

        wait_until(lambda: watch_once(url, bob), 30, "a place that is free again")


def test_a_server_that_cannot_stream_gives_one_answer(web: WebServer, execution: UUID) -> None:
    client: Any = APIClient()
    client.force_authenticate(person("ann", default_workspace()))

    answer = client.get(f"/v1/WorkflowExecution/{execution}/subscribe")

    text = b"".join(answer.streaming_content).decode()
    assert [line for line in text.splitlines() if line.startswith("event")] == ["event: snapshot"]
