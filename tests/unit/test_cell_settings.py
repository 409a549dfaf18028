"""Settings of cells on the stand-alone platform, and the names of their queues."""

import json
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.test import override_settings

from executions import messaging
from executions.configuration import own_servers
from executions.database import routing
from valkyr_project import database
from valkyr_project.database import CellServer
from valkyr_project.processes import commands
from valkyr_project.processes.commands import Pool

URL = "postgres://valkyr:word@b.internal:5433/flows"
POOLER = "postgres://valkyr:word@pooler.internal:6432/flows"
NAMES = ["io", "b:io", "b:default", "c:io", "images"]


def test_the_addresses_of_cells_are_a_json_object() -> None:
    assert database.cells("") == {}
    assert database.cells(json.dumps({"b": URL})) == {"b": CellServer(URL)}


def test_a_cell_behind_a_pooler_has_two_addresses() -> None:
    text = json.dumps({"b": {"url": POOLER, "direct": URL}, "c": URL})

    assert database.cells(text) == {"b": CellServer(POOLER, URL), "c": CellServer(URL)}
    assert json.loads(database.past_poolers(text)) == {"b": URL, "c": URL}


def test_sessions_behind_a_pooler_prepare_nothing_and_send_no_options() -> None:
    first = database.pooled({"OPTIONS": {"pool": {"timeout": 20}}}, "")
    found = database.further(first, CellServer(POOLER, URL))

    assert first["OPTIONS"]["options"] == database.SESSION
    assert "options" not in found["OPTIONS"]
    assert found["OPTIONS"]["prepare_threshold"] is None
    assert found["OPTIONS"]["pool"] == {"timeout": 2}
    assert found["DISABLE_SERVER_SIDE_CURSORS"]
    assert found["DIRECT_URL"] == URL


@pytest.mark.parametrize(
    "text", ["b=postgres://", "[1]", '{"b": 1}', '"b"', '{"b": {"url": "x"}}', '{"b": null}']
)
def test_other_texts_are_refused_without_being_shown(text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="VALKYR_CELLS is not a JSON object") as refused:
        database.cells(text)

    assert text not in str(refused.value).partition("expected")[0]


def test_a_process_of_an_unknown_cell_does_not_start() -> None:
    assert database.of_cell({"b": CellServer(URL)}, "b").url == URL
    with pytest.raises(ImproperlyConfigured, match="VALKYR_CELL is 'c'; expected a cell: b"):
        database.of_cell({"b": CellServer(URL)}, "c")
    with pytest.raises(ImproperlyConfigured, match="VALKYR_CELLS is not set"):
        database.of_cell({}, "b")


def test_a_cells_server_has_the_first_ones_settings_and_a_short_wait() -> None:
    first = {"ENGINE": "e", "HOST": "a", "CONN_MAX_AGE": 600, "OPTIONS": {"connect_timeout": 5}}

    found = database.further(first, CellServer(URL))

    assert (found["HOST"], found["PORT"], found["NAME"]) == ("b.internal", "5433", "flows")
    assert found["CONN_MAX_AGE"] == 600
    assert found["OPTIONS"]["connect_timeout"] == 2
    assert first["OPTIONS"] == {"connect_timeout": 5}


def names(cell: str, **given: Any) -> tuple[str, list[str], list[str]]:
    """Return a queue's name at the broker, the cell's queues among `NAMES`, and those of other
    cells.
    """
    with override_settings(VALKYR=given | {"CELL": cell}):
        routing.alias_of.cache_clear()
        found = messaging.at_broker("io"), messaging.ours_among(NAMES)
        return *found, messaging.of_other_cells(NAMES)


@pytest.fixture(name="databases")
def _databases(monkeypatch: pytest.MonkeyPatch) -> None:
    for cell in ("b", "c"):
        given = routing.connections.settings["default"]
        monkeypatch.setitem(routing.connections.settings, cell, given)


@pytest.mark.usefixtures("databases")
def test_each_cell_has_queues_of_its_own() -> None:
    cells = {"CELLS": ["b", "c"], "QUEUE_PREFIX": ""}

    assert names("", **cells) == ("io", ["images", "io"], ["b:default", "b:io", "c:io"])
    assert names("b", **cells) == ("b:io", ["default", "io"], ["c:io", "images", "io"])
    assert names("c", **cells) == ("c:io", ["io"], ["b:default", "b:io", "images", "io"])


@pytest.mark.usefixtures("databases")
def test_a_projects_own_queues_belong_to_no_cell() -> None:
    given = {"CELLS": ["b"], "QUEUE_PREFIX": "valkyr."}
    with override_settings(VALKYR=given | {"CELL": "b"}):
        found = messaging.of_other_cells(["celery", "valkyr.io", "valkyr.b:io"])

        assert messaging.at_broker("io") == "valkyr.b:io"
    assert found == ["valkyr.io"]


@pytest.mark.usefixtures("databases")
def test_a_queue_that_a_projects_tasks_share_has_a_name_in_each_cell() -> None:
    given = {"CELLS": ["b"], "QUEUE_PREFIX": "valkyr.", "CELERY_QUEUES": ["images"]}
    both = ["celery", "images", "b:images", "valkyr.io", "valkyr.b:io"]
    found = {}
    for cell in ("", "b"):
        with override_settings(VALKYR=given | {"CELL": cell}):
            routing.alias_of.cache_clear()
            found[cell] = (
                messaging.at_broker("images"),
                messaging.ours_among(both),
                messaging.of_other_cells(both),
                messaging.shared_among(both),
            )

    assert found[""] == ("images", ["images", "io"], ["b:images", "valkyr.b:io"], ["images"])
    assert found["b"][:3] == ("b:images", ["images", "io"], ["images", "valkyr.io"])


def test_without_cells_the_names_are_as_before() -> None:
    assert names("", QUEUE_PREFIX="") == ("io", sorted(NAMES), [])


def test_a_worker_of_a_cell_consumes_the_cells_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool("prefork", 2)
    plain = commands.worker("default,io", pool, task_events=False)
    monkeypatch.setenv("VALKYR_CELL", "b")

    found = commands.worker("default,io", pool, task_events=False)

    assert plain.command[plain.command.index("-Q") + 1] == "default,io"
    assert found.command[found.command.index("-Q") + 1] == "b:default,b:io"
    assert found.command[found.command.index("-n") + 1] == "b.default-b.io@%h"
    assert found.environment["VALKYR_PROCESS"] == "worker-b.default-b.io"


def test_no_step_may_reach_a_cells_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_CELLS", json.dumps({"b": URL}))

    assert URL in list(own_servers.addresses())
    monkeypatch.setenv("VALKYR_CELLS", json.dumps({"b": {"url": POOLER, "direct": URL}}))
    assert {URL, POOLER} <= set(own_servers.addresses())


@pytest.mark.parametrize(
    ("given", "words", "told"),
    [
        ({}, ["status"], "No cells are configured"),
        ({"CELLS": ["b"], "CELL": "b"}, ["status"], "VALKYR_CELL is 'b'; unset it"),
        ({"CELLS": ["b"]}, ["add", "c"], "No cell 'c' is configured; expected one of b"),
        ({"CELLS": ["b"]}, ["add", "b"], "'b' is missing in DATABASES"),
    ],
)
def test_the_command_names_missing_settings(
    given: dict[str, Any], words: list[str], told: str
) -> None:
    with override_settings(VALKYR=given), pytest.raises((CommandError, ImproperlyConfigured)) as no:
        call_command("valkyr_cells", *words)

    assert told in str(no.value)
