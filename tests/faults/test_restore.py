"""A backup is taken in the middle of the work, restored into another server, and completed
there.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections

from executions.models import Activity, WorkflowExecution
from executions.states import FINAL
from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet, database_url, publishing_to
from tests.support.folders import passable_folder
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish, start_many, wait_for_end
from valkyr_project.embedded import Postgres, Redis
from valkyr_project.embedded.account import server_account
from valkyr_project.embedded.folders import postgres_bin

EXECUTIONS = 12
STEPS = [
    effect("s0", seconds=0.3),
    *(effect(f"s{n}", seconds=0.3, after=f"s{n - 1}") for n in range(1, 5)),
]


def pg(program: str, *words: str) -> None:
    """Run one of PostgreSQL's own programs."""
    path = postgres_bin(server_account()) / program
    subprocess.run([str(path), *words], check=True, stdout=subprocess.DEVNULL)


@contextmanager
def pointed_at(url: str) -> Iterator[None]:
    """Use another database in this process during the block."""
    parts = urlsplit(url)
    other = {
        "HOST": parts.hostname,
        "PORT": str(parts.port),
        "USER": parts.username,
        "PASSWORD": parts.password,
        "NAME": parts.path.lstrip("/"),
    }
    kept = {name: connection.settings_dict[name] for name in other}
    connections.close_all()
    connection.settings_dict.update(other)
    try:
        yield
    finally:
        connections.close_all()
        connection.settings_dict.update(kept)


@contextmanager
def small_fleet(folder: Path) -> Iterator[Fleet]:
    """Run new workers on the current database, with an empty Redis."""
    with passable_folder() as home:
        redis = Redis(home, durable=False)
        made: Fleet | None = None
        try:
            redis.start()
            with publishing_to(redis.url):
                made = Fleet(folder, redis.url)
                made.worker("control", "control", "threads", 4)
                made.worker("default-1", "default", "prefork", 2)
                made.beat()
                made.ensure()
                yield made
        finally:
            if made is not None:
                made.stop()
            redis.stop()


def half_done(ids: list[UUID]) -> bool:
    """Return whether some steps are done, some run, and some have not begun."""
    runs = Run.objects.filter(execution_id__in=ids)
    return (
        runs.filter(state="SUCCESS").count() >= EXECUTIONS
        and runs.filter(state="RUNNING").exists()
        and WorkflowExecution.objects.filter(pk__in=ids, state="RUNNING").exists()
    )


def test_what_a_backup_holds_is_ended_right_in_another_server(fleet: Fleet, tmp_path: Path) -> None:
    ids = start_many(publish({"tasks": STEPS}), [{}] * EXECUTIONS)
    dump = tmp_path / "valkyr.dump"
    wait_until(lambda: half_done(ids), 60, "the middle of the work")
    pg("pg_dump", "--format=custom", f"--file={dump}", database_url())
    # Work continues after the backup; what happens then is lost, and done again.
    wait_for_end(ids)

    with passable_folder() as home:
        server = Postgres(home, durable=False)
        try:
            pg("pg_restore", "--no-owner", f"--dbname={server.start()}", str(dump))
            with pointed_at(server.url):
                _begin_again(ids, tmp_path)
        finally:
            server.stop()


def _begin_again(ids: list[UUID], folder: Path) -> None:
    under_way = WorkflowExecution.objects.filter(pk__in=ids).exclude(state__in=sorted(FINAL))
    assert under_way.exists()
    tokens = dict(Run.objects.filter(state="RUNNING").values_list("pk", "lease_token"))

    call_command("after_restore")

    for run in Run.objects.filter(pk__in=tokens):
        assert run.lease_token > tokens[run.pk] + 100_000
    assert Activity.objects.filter(action="installation.restored").count() == 1
    with small_fleet(folder):
        with pytest.raises(CommandError, match="are connected"):
            call_command("after_restore")
        ends = wait_for_end(ids, 120)
    assert set(ends.values()) == {"SUCCESS"}
    audit(ids)
