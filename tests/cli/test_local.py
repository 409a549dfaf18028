"""`--local`: the same commands in the project's own process."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

from dlq.models import DeadLetterEntry
from executions.models import Activity, Workflow
from tests.cli.conftest import Installation, Valkyr
from tests.support import nursery
from tests.support.stack import PROJECT
from tests.support.workflows import start
from valkyr.cli.commands import project


def test_run_starts_waits_and_prints_the_output(local: Any, echo: Workflow) -> None:
    said = local("run", echo.slug, "--input", '{"value": [1, 2]}', "--as", "ann")

    assert said.code == 0, said.err
    assert json.loads(said.out) == [1, 2]


def test_the_only_superuser_acts_where_nobody_is_named(local: Any, asking: Workflow) -> None:
    execution = start(asking)
    said = local("cancel", execution, "--reason", "by hand", "--json")

    assert said.code == 0, said.err
    row = Activity.objects.get(object_id=str(execution), action="execution.cancel")
    assert (row.actor_name, row.via, row.reason) == ("root", "command", "by hand")


def test_a_dead_letter_is_requeued(local: Any, letter: DeadLetterEntry) -> None:
    listed = local("dead", "list", "--workflow", letter.workflow_id, "--limit", 1, "-q")
    said = local("dead", "requeue", listed.out.strip(), "--json")
    watched = local("watch", letter.execution_id, "--quiet")

    assert UUID(listed.out.strip()) == letter.pk
    assert json.loads(said.out)["attempt"] == 2
    assert watched.code == 0, watched.err


def test_errors_are_those_of_the_api(local: Any, echo: Workflow) -> None:
    unknown = local("start", "no such workflow")
    unfit = local("start", echo.slug, "--json")
    nobody = local("list", "--as", "nobody")

    assert (unknown.code, unfit.code, nobody.code) == (5, 7, 5)
    assert json.loads(unfit.err)["error"]["status"] == 422


def test_a_database_that_is_away_is_unreachable(local: Any) -> None:
    said = local("list", DATABASE_URL="postgres://nobody@127.0.0.1:1/none")

    assert said.code == 3
    assert "Check DATABASES" in said.err


def test_lists_go_on_past_a_page(local: Any, echo: Workflow) -> None:
    ids = [start(echo, {"value": n}) for n in range(3)]

    said = local("list", "--workflow", echo.slug, "--limit", 3, "-q", "--as", "ann")

    assert said.out.split() == [str(pk) for pk in reversed(ids)]


def test_watch_comes_back_for_what_changed_since(
    valkyr: Valkyr, installation: Installation, asking: Workflow
) -> None:
    execution = start(asking)
    given = {**os.environ, **installation.environment, "VALKYR_AS": "ann"}
    # In a process without a server each query opens a connection.
    watching = subprocess.Popen(
        [sys.executable, "-m", "valkyr", "watch", str(execution), "--local", "--json"],
        cwd=PROJECT,
        env=given,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    first = watching.stdout.readline()
    valkyr("cancel", execution)
    rest, _ = watching.communicate(timeout=120)

    events = [json.loads(line)["event"] for line in [first, *rest.splitlines()]]
    assert watching.returncode == 1
    assert events[0] == "snapshot"
    assert events[1:].count("snapshot") == 0
    assert events[-1] == "end"


def test_outside_of_a_project_it_says_what_is_missing(tmp_path: Path) -> None:
    def local_in(**more: str) -> "subprocess.CompletedProcess[str]":
        given = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
        return nursery.run(
            [sys.executable, "-m", "valkyr", "list", "--local"],
            environment={**given, "PYTHONPATH": str(PROJECT), **more},
            folder=tmp_path,
        )

    (tmp_path / "bare.py").write_text('SECRET_KEY = "x"\nINSTALLED_APPS = []\n')
    nowhere, unknown = local_in(), local_in(DJANGO_SETTINGS_MODULE="none.settings")
    bare = local_in(DJANGO_SETTINGS_MODULE="bare")

    assert (nowhere.returncode, unknown.returncode, bare.returncode) == (2, 10, 10)
    assert "manage.py" in nowhere.stderr
    assert "INSTALLED_APPS" in bare.stderr


def test_management_commands_are_reached(local: Any) -> None:
    command = [sys.executable, "-m", "valkyr", "manage", "prune", "--help"]
    done = nursery.run(command, environment=os.environ)

    assert done.returncode == 0, done.stderr
    assert "usage: valkyr manage prune" in done.stdout


def test_management_commands_receive_all_their_arguments() -> None:
    given = ["dbshell", "--", "-Atc", "SELECT 1", "--help"]

    assert project.manage.make_context("manage", list(given)).params["arguments"] == tuple(given)
