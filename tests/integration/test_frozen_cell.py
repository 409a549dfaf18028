"""A web request waits for a frozen cell in bounded time, and requests to other cells do not."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import OperationalError, close_old_connections, connections
from django.test import Client

from executions.database import silent_cells
from executions.database.routing import serving
from executions.models import Workspace
from tests.support import emptying
from tests.support.cell_databases import CELL
from tests.support.cell_server import cell_server, frozen
from tests.support.engine_database import engine_database
from tests.support.workflows import publish, start, task
from valkyr_project.embedded import Postgres

TASKS = {"tasks": [task("one")]}


@pytest.fixture(name="server", scope="module")
def _server(django_db_setup: None, django_db_blocker: Any) -> Iterator[Postgres]:
    with engine_database(django_db_blocker), cell_server() as made:
        yield made
        emptying.empty()


@pytest.fixture(name="path")
def _path(server: Postgres) -> str:
    """The address of an execution in the cell."""
    with serving(CELL):
        space = Workspace.objects.get(slug="north")
        return f"/v1/WorkflowExecution/{start(publish(TASKS, space))}"


@pytest.fixture(name="root")
def _root(server: Postgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr(silent_cells, "REQUEST_SECONDS", 1.0)
    monkeypatch.setattr(silent_cells, "PART_SECONDS", 1.0)
    monkeypatch.setattr(silent_cells, "_silent", {})
    client = Client()
    user, _ = get_user_model().objects.get_or_create(
        username="root", is_superuser=True, is_staff=True
    )
    client.force_login(user)
    yield client
    connections.close_all()


def get(client: Client, path: str) -> Any:
    """Return the response; close broken connections after it, which Django's client leaves out."""
    response = client.get(path)
    close_old_connections()
    return response


def test_an_execution_of_a_frozen_cell_is_answered_with_503(
    server: Postgres, root: Client, path: str
) -> None:
    assert get(root, path).status_code == 200
    with frozen(server):
        answer = get(root, path)

    assert answer.status_code == 503
    assert answer.json()["code"] == "database_unavailable"
    assert answer.json()["cell"] == CELL


def test_other_connections_fail_at_once_until_the_silence_is_over(
    server: Postgres, root: Client, path: str
) -> None:
    get(root, path)
    silent_cells._silent[CELL] = time.monotonic() + 600
    at_once = get(root, path)
    silent_cells._silent[CELL] = time.monotonic()  # the seconds have passed
    again = get(root, path)

    assert [at_once.status_code, again.status_code] == [503, 200]


def test_a_list_leaves_the_rows_of_a_frozen_cell_out(
    server: Postgres, root: Client, path: str
) -> None:
    here = start(publish(TASKS))
    get(root, "/v1/WorkflowExecution")
    with frozen(server):
        answer = get(root, "/v1/WorkflowExecution")

    assert answer.status_code == 200
    assert [row["id"] for row in answer.json()] == [str(here)]
    assert answer.headers["Valkyr-Unavailable-Cells"] == CELL


def test_a_list_asks_no_cell_that_was_silent_just_now(
    server: Postgres, root: Client, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    silent_cells._silent[CELL] = time.monotonic() + 600
    answer = get(root, "/v1/WorkflowExecution")

    assert answer.headers["Valkyr-Unavailable-Cells"] == CELL
    assert "did not answer recently" in caplog.text


def test_a_slow_statement_ends_and_its_cell_is_not_taken_as_silent(
    server: Postgres, root: Client, path: str
) -> None:
    slow = partial(connections[CELL].cursor().execute, "SELECT pg_sleep(30)")
    with silent_cells.request_in(CELL), pytest.raises(OperationalError):
        slow()
    close_old_connections()

    assert silent_cells._silent == {}
    assert get(root, path).status_code == 200
