"""Lists from a real streaming replica: fresh, lagging, and down."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher

from tests.support.fleet import database_url
from tests.support.folders import passable_folder
from tests.support.replication import Standby, copy_database, primary
from tests.support.waiting import wait_until
from tests.support.web_server import WebServer

# The mark makes pytest create the tests' own database, whose tables are copied.
pytestmark = [pytest.mark.django_db]
PASSWORD = "correct horse battery staple"
USER = """
INSERT INTO auth_user (username, password, is_superuser, is_staff, is_active, first_name,
                       last_name, email, date_joined)
VALUES (%s, %s, true, true, true, '', '', '', now())
"""


@pytest.fixture(scope="module")
def servers(
    engine: None, django_db_blocker: Any, static_files: None
) -> Iterator[tuple[str, Standby]]:
    """Run a primary with Valkyr's tables and two administrators, and a standby that follows it."""
    with passable_folder() as home, primary(home) as server, ExitStack() as ends:
        with django_db_blocker.unblock():
            copy_database(database_url(), server.url)
        # As in the web process: it would replace passwords that were hashed in another way.
        hasher = PBKDF2PasswordHasher()
        hashed = hasher.encode(PASSWORD, hasher.salt())
        with psycopg.connect(server.url) as connection:
            for name in ("actor", "reader"):
                connection.execute(USER, [name, hashed])
        standby = Standby(home, server.url)
        ends.callback(standby.close)
        standby.start()
        yield server.url, standby


class Web:
    """A web process that uses the replica, and its callers."""

    def __init__(self, server: WebServer, standby: Standby) -> None:
        self.server = server
        self._standby = standby

    def caller(self, name: str) -> httpx.Client:
        """Return a user with a token, whose last change was long ago."""
        client = httpx.Client(base_url=self.server.address, timeout=120)
        body = {"username": name, "password": PASSWORD}
        token = client.post("/v1/auth/token", json=body).raise_for_status().json()["access"]
        client.headers["Authorization"] = f"Bearer {token}"
        return client

    def reads_the_replica(self) -> bool:
        """Return whether the process has a session on the replica in addition to the watch's."""
        with psycopg.connect(self._standby.url) as connection:
            found = connection.execute(
                "SELECT 1 FROM pg_stat_activity WHERE application_name = %s",
                [f"valkyr-{self.server.name}"],
            ).fetchone()
        return found is not None


@pytest.fixture
def web(
    servers: tuple[str, Standby], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Web]:
    """Run a web process whose lists may be as old as the test's parameter says, in seconds."""
    url, standby = servers
    extra = {
        "DATABASE_URL": url,
        "DATABASE_REPLICA_URL": standby.url,
        "VALKYR_REPLICA_LAG_SECONDS": str(request.param),
        # Each test has its own marks.
        "VALKYR_KEY_PREFIX": f"{os.environ['VALKYR_KEY_PREFIX']}{uuid4().hex[:8]}:",
    }
    server = WebServer(tmp_path / "web.log", extra)
    try:
        server.start()
        yield Web(server, standby)
    finally:
        server.kill()


def slugs(client: httpx.Client) -> set[str]:
    answer = client.get("/v1/Workspace", params={"limit": 500}).raise_for_status()
    return {one["slug"] for one in answer.json()}


def make_workspace(client: httpx.Client) -> dict[str, Any]:
    name = f"made-{uuid4().hex[:12]}"
    tier = client.get("/v1/Tier").raise_for_status().json()[0]["id"]
    body = {"name": name, "slug": name, "tierId": tier}
    found: dict[str, Any] = client.post("/v1/Workspace", json=body).raise_for_status().json()
    return found


def settle(web: Web, client: httpx.Client) -> None:
    """Return when the lists come from the replica."""

    def there() -> bool:
        slugs(client)
        return web.reads_the_replica()

    wait_until(there, 60, "a list read from the replica")


@pytest.mark.parametrize("web", [600], indirect=True)
def test_who_changed_something_sees_it_and_others_see_the_replica(
    web: Web, servers: tuple[str, Standby]
) -> None:
    _, standby = servers
    reader, actor = web.caller("reader"), web.caller("actor")
    settle(web, reader)
    standby.pause()
    try:
        made = make_workspace(actor)

        assert made["slug"] in slugs(actor)
        assert made["slug"] not in slugs(reader)
        # Single objects are always read from the primary.
        assert reader.get(f"/v1/Workspace/{made['id']}").status_code == 200
    finally:
        standby.resume()
    wait_until(lambda: made["slug"] in slugs(reader), 60, "the replica's replay")


@pytest.mark.parametrize("web", [2], indirect=True)
def test_a_replica_that_lags_too_far_is_not_read(web: Web, servers: tuple[str, Standby]) -> None:
    _, standby = servers
    reader, actor = web.caller("reader"), web.caller("actor")
    settle(web, reader)
    standby.pause()
    try:
        made = make_workspace(actor)
        wait_until(lambda: made["slug"] in slugs(reader), 60, "a list from the primary")
    finally:
        standby.resume()


@pytest.mark.parametrize("web", [2], indirect=True)
def test_lists_and_pages_go_on_when_the_replica_is_gone(
    web: Web, servers: tuple[str, Standby]
) -> None:
    _, standby = servers
    reader, person = web.caller("reader"), signed_in(web.server.address)
    settle(web, reader)
    before = slugs(reader)
    standby.stop()
    try:
        for _ in range(5):
            assert slugs(reader) == before
            for page in ("/admin/", "/admin/executions/workspace/", "/admin/dlq/deadletterentry/"):
                assert person.get(page).status_code == 200, page
    finally:
        standby.start()
    settle(web, reader)


def signed_in(address: str) -> httpx.Client:
    client = httpx.Client(base_url=address, timeout=120, follow_redirects=True)
    page = client.get("/admin/login/").text
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token is not None
    form = {"csrfmiddlewaretoken": token[1], "username": "actor", "password": PASSWORD}
    client.post("/admin/login/?next=/admin/", data=form)
    return client
