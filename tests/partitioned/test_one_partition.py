"""A statement about one run or one execution reads one partition, also with its generic plan.

A prepared statement keeps its generic plan, in which the partitions are selected at execution. So
the statements are executed, in transactions that are rolled back, and the executed scans are
counted.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from executions.database.statements import Statements
from executions.models import WorkflowExecution
from runners import statements as of_runs
from runners.models import Run
from runners.partitions.layout import layout
from tests.integration.test_plans import _given
from tests.support.copies import session
from tests.support.workflows import effect, publish, start_many
from valkyr_plugins.remote import statements as of_remote
from valkyr_plugins.timetravel import statements as of_timetravel

OF_PLUGINS = {
    name: of
    for of, names in (
        (of_remote, ("heartbeat",)),
        (of_timetravel, (
            "copy_runs_to_fork", "iterations_of_point", "move_runs_to_epoch", "runs_of_point",
            "steps_of_point", "supersede_after_point",
        )),
    )
    for name in names
}  # fmt: skip
# Duties that look for rows of any age, by indexes that hold few rows; and a crash, whose note names
# the run alone.
ALL_PARTITIONS = {
    "count_runs_sent_before": "run_due", "ended_with_live_runs": "run_due",
    "execution_of": "a crash", "executions_missing_a_slot": "run_due",
    "expired_permits": "permits of lost leases", "fence_after_restore": "after a restore",
    "long_running": "run_due", "mark_due_runs_sent": "run_retry",
    "recheck_unclaimed_runs": "run_due", "runs_of_worker": "run_due",
    "runs_of_worker_processes": "run_due", "runs_with_due_timer": "run_due",
    "runs_with_expired_lease": "run_due",
}  # fmt: skip


def _names() -> list[str]:
    own = sorted(file.stem for file in of_runs.FOLDER.glob("*.sql"))
    return [name for name in own if "runners_run " in f"{of_runs.statement(name)} "] + [*OF_PLUGINS]


NAMES = _names()


@pytest.fixture(scope="module")
def own(engine: None) -> Iterator[psycopg.Connection[Any]]:
    """Open a session in a database with runs in several partitions."""
    ids = start_many(publish({"tasks": [effect("one"), effect("two")]}), [{}] * 3)
    with session(autocommit=True) as made:
        made.execute("UPDATE runners_run SET lease_token = 1 WHERE execution_id = ANY(%s)", [ids])
        for part in layout().partitions:  # statistics would come at any time
            made.execute(f"ALTER TABLE {part.name} SET (autovacuum_enabled = off)".encode())
        copies = [one.first for one in layout().ranges[1:4]]
        for copy in copies:
            made.execute(COPY, {"execution": copy, "original": ids[0]})
        yield made
        # Only these: dead letters of earlier tests refer to their runs.
        made.execute("DELETE FROM runners_run WHERE execution_id = ANY(%s)", [copies])


COPY = """
INSERT INTO runners_run SELECT (jsonb_populate_record(r, jsonb_build_object(
       'id', gen_random_uuid(), 'execution_id', %(execution)s::uuid))).*
  FROM runners_run r
 WHERE execution_id = %(original)s
"""


def test_every_statement_about_all_partitions_exists() -> None:
    assert ALL_PARTITIONS.keys() <= set(NAMES)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ALL_PARTITIONS])
@pytest.mark.parametrize("generic", [True, False], ids=["generic", "custom"])
def test_a_statement_reads_one_partition(
    own: psycopg.Connection[Any], name: str, generic: bool
) -> None:
    of = OF_PLUGINS.get(name, of_runs)
    if generic and not Statements(of.FOLDER).kept(name):
        pytest.skip("is planned each time")
    read = _partitions_read(own, of.statement(name), generic)
    assert len(read) <= 1, f"{name} reads {sorted(read)}"


def _partitions_read(own: psycopg.Connection[Any], statement: str, generic: bool) -> set[str]:
    # The copies of `own` have no execution.
    of_executions = Run.objects.filter(execution__in=WorkflowExecution.objects.all())
    run = of_executions.order_by("execution_id", "id")[0]
    values = _values(run)
    given = _given(own, statement, values)
    names: dict[str, int] = {}
    text = re.sub(
        r"%\((\w+)\)s", lambda found: f"${names.setdefault(found[1], len(names) + 1)}", statement
    ).replace("%%", "%")
    mode = "force_generic_plan" if generic else "force_custom_plan"
    own.execute(f"SET plan_cache_mode = {mode}".encode())
    own.execute(f"PREPARE looked_at AS {text}".encode())
    try:
        with own.transaction(force_rollback=True):
            literals = sql.SQL(", ").join(sql.Literal(given[name]) for name in names)
            call = sql.SQL("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE looked_at")
            call += sql.SQL("({})").format(literals) if names else sql.SQL("")
            found: Any = own.execute(call).fetchone()
    finally:
        own.execute("DEALLOCATE looked_at")
    return set(_scanned(found[0][0]["Plan"]))


def _scanned(plan: dict[str, Any]) -> Iterator[str]:
    """Yield the partitions that a plan's scans read."""
    name = str(plan.get("Relation Name", ""))
    scans = name.startswith("runners_run_") and plan["Node Type"] != "ModifyTable"
    if scans and plan["Actual Loops"]:
        yield name
    for child in plan.get("Plans", []):
        yield from _scanned(child)


BEGUN = "2026-01-01T00:00:00Z"


def _values(run: Run) -> Mapping[str, Any]:
    """Return the values for a pending run."""
    execution, workspace = run.execution_id, run.execution.workspace_id
    return {
        "run": run.pk, "runs": [run.pk], "execution": execution, "executions": [execution],
        "ids": [execution], "origin": execution, "fork": UUID(int=8), "known": [run.pk],
        "workspace": workspace, "token": run.lease_token, "tokens": [run.lease_token],
        "epoch": run.epoch, "segment": run.segment, "path": run.step_path,
        "paths": [run.step_path], "reads": [run.step_path], "prefix": "one[",
        "segments": [run.segment], "rows": "[]", "batch": 100, "most": 100,
        "next": UUID(int=7), "state": "SUCCESS", "kind": "event", "kinds": ["event"],
        "until": None, "since": "0", "begun": [BEGUN], "ended": [None], "holder": "w@h|1",
        "details": [None],
    }  # fmt: skip
