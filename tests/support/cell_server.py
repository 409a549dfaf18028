"""A second PostgreSQL server as the cell `b` of this process, which tests freeze or end."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil
from django.conf import settings
from django.test import override_settings

from executions.database.routing import serving
from executions.models import Tier, Workspace
from tests.support.cell_databases import CELL, cells_at
from tests.support.fleet import database_url
from tests.support.folders import passable_folder
from tests.support.replication import copy_database
from valkyr_project.embedded import Postgres

MIDDLEWARE = ["executions.api.cell_routing.CellRouting", *settings.MIDDLEWARE]
PLAIN = settings.STORAGES | {
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
}


@contextmanager
def cell_server() -> Iterator[Postgres]:
    """Run the server with a workspace `north` during the block; web pages serve both databases."""
    with passable_folder() as home:
        server = Postgres(home)
        server.start()
        try:
            with cells_at({CELL: server.url}), override_settings(MIDDLEWARE=MIDDLEWARE):
                copy_database(database_url(), server.url)  # faster than migrations
                with serving(CELL):
                    tier, _ = Tier.objects.get_or_create(name="unlimited")
                    Workspace.objects.create(name="North", slug="north", tier=tier)
                yield server
        finally:
            server.stop()


@contextmanager
def frozen(server: Postgres) -> Iterator[None]:
    """Stop all processes of the server in the block: it accepts connections and answers nothing."""
    family = psutil.Process(server.pid)
    processes = [family, *family.children()]
    for one in processes:
        os.kill(one.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for one in processes:
            with suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGCONT)
