"""`make bench` on real servers: its counts, its copies, its measurements and its report."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from executions.models import Activity, WorkflowExecution
from runners.models import Run
from runners.recovery.sweeper import messages
from tests.benchmarks.programs import PROJECT
from tests.benchmarks.sides import check
from tests.support import copies
from tests.support.auditor import audit
from tests.support.engine_database import engine_database
from tests.support.fleet import Fleet, publishing_to
from tests.support.folders import passable_folder
from tests.support.workflows import effect, publish, start_many, task, wait_for_end
from valkyr_project.embedded import Redis

COMMAND = (sys.executable, "-m", "tests.benchmarks")
QUICK = ("--quick", "--scale", "0.02", "--pairs", "1", "--engine-only")
STEPS = 3
TIMES = {"created_at", "started_at", "queued_at", "published_at", "due_at"}
OWN = {"id", "execution", "trace_id", *TIMES}


@pytest.mark.django_db(transaction=True)
def test_a_repetition_counts_only_if_all_its_work_was_done() -> None:
    start_many(publish({"tasks": [task("begin")]}), [{}] * 2)

    with pytest.raises(RuntimeError, match="0 of 2 executions and 0 of 2 runs succeeded"):
        check(WorkflowExecution.objects.all(), 2, 1)


@pytest.fixture
def broker(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[Redis]:
    keep = request.config.getvalue("reuse_db")
    with engine_database(django_db_blocker, keep=keep), passable_folder() as home:
        server = Redis(home, durable=False)
        server.start()
        with publishing_to(server.url):
            yield server
        server.stop()


def test_copies_of_a_waiting_execution_are_as_good_as_it(broker: Redis, tmp_path: Path) -> None:
    workflow = publish({"tasks": [effect(f"s{n}") for n in range(STEPS)]})
    *_, first = start_many(workflow, [{}] * 4)
    made = copies.multiply(first, 130)
    copies.analyze()

    assert _told(WorkflowExecution, pk=made[0]) == _told(WorkflowExecution, pk=first)
    assert _told(Run, execution=made[-1]) == _told(Run, execution=first)
    lines = Activity.objects.filter(action="execution.start", object_type="WorkflowExecution")
    named = [line.details["executionIds"] for line in lines.order_by("id")]
    assert [len(ids) for ids in named] == [4, 100, 30]
    assert {pk for ids in named[1:] for pk in ids} == {str(pk) for pk in made}

    with connection.cursor() as cursor:
        cursor.execute("UPDATE runners_run SET due_at = now() - interval '1 minute'")
    assert messages.lost_messages() == 0, "none is lost: every step's message is in the queue"

    fleet = Fleet(tmp_path, broker.url)
    try:
        fleet.worker("default", "default", "prefork", 2)
        assert set(wait_for_end([first, *made]).values()) == {"SUCCESS"}
    finally:
        fleet.stop()
    assert audit(made).repeats == 0
    done = Run.objects.filter(execution__in=made, publications=1, lease_token=1, attempt=1)
    assert done.count() == STEPS * len(made)


def _told(model: Any, **which: Any) -> list[dict[str, Any]]:
    """Return the contents of rows without the columns that are different in every row."""
    names = [field.name for field in model._meta.concrete_fields if field.name not in OWN]
    return sorted(model.objects.filter(**which).values(*names), key=str)


def test_the_benchmark_says_what_it_can_measure() -> None:
    done = _bench("--help")
    assert done.returncode == 0
    assert "backlog" in done.stdout


def test_a_quick_run_measures_on_servers_of_its_own(tmp_path) -> None:
    done = _bench(*QUICK, "--only", "W1p", "--json", str(tmp_path / "figures.json"))

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "W1p: CPU a step" in done.stdout
    assert '"W1p.cpu_ms.database"' in (tmp_path / "figures.json").read_text()


def test_a_run_that_is_interrupted_keeps_what_it_has_measured(tmp_path) -> None:
    kept = tmp_path / "figures.json"
    command = (*COMMAND, *QUICK, "--only", "W1p,W6", "--json", str(kept))
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        begun = next(line for line in run.stdout if "W6: maps" in line)
        run.terminate()
        said = run.stdout.read()

    assert run.returncode == 1, begun + said
    assert "W1p: CPU a step" in said
    assert "NOT MEASURED, failed or interrupted: W6" in said
    found = json.loads(kept.read_text())
    assert found["missing"] == ["W6"]
    assert found["figures"]["W1p.cpu_ms"] > 0


def _bench(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        (*COMMAND, *arguments),
        cwd=PROJECT, capture_output=True, text=True, check=False, timeout=280,
    )  # fmt: skip
