"""The index of each hot statement in its generic plan, when the table is large.

psycopg prepares the hot statements, so from their sixth use PostgreSQL plans them without knowing
the values; the test reads that plan.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from executions.database.statements import Statements
from runners import statements
from tests.support.engine_database import engine_database
from tests.support.workflows import publish, start_many, task
from valkyr_plugins.canary import figures as canaries
from valkyr_plugins.circuits import statements as circuits
from valkyr_plugins.remote import statements as leases
from valkyr_plugins.timetravel import statements as past

LIVE = 50
EXECUTIONS = 4_000
RUNS_EACH = 15

PRIMARY = "runners_run_pkey"
IDENTITY = "run_one_live_or_successful"
BY_STATE = "run_execution_state"
DUE = "run_due"

MANY_EXECUTIONS = """
INSERT INTO executions_workflowexecution
SELECT (jsonb_populate_record(e, jsonb_build_object(
           'id', gen_random_uuid(), 'state', 'SUCCESS', 'finished_at', clock_timestamp()))).*
  FROM executions_workflowexecution e, generate_series(1, %s)
 WHERE e.id = (SELECT id FROM executions_workflowexecution LIMIT 1)
"""
MANY_RUNS = """
INSERT INTO runners_run (
    id, execution_id, epoch, segment, step_path, task_id, module_id, module, attempt, budget_start,
    state, superseded, queue, priority, lease_token, leased_by, recoveries, idempotency_key,
    inputs_hash, config_hash, outcome, error, error_type, publications, queued_at, started_at,
    finished_at, due_at, published_at, cost_tokens, cost_amount)
SELECT gen_random_uuid(), e.id, 0, 's' || n, 's' || n || '.main', gen_random_uuid(),
       gen_random_uuid(), 'flow.noop', 1, 1,
       CASE WHEN mod(n, 10) = 0 THEN 'FAILED' WHEN mod(n, 11) = 0 THEN 'SKIPPED' ELSE 'SUCCESS' END,
       false, 'default', 5, 1, 'somebody', 0, '', '', '', 'success', '', '', 1,
       clock_timestamp(), clock_timestamp(), clock_timestamp(), clock_timestamp(),
       clock_timestamp(), 0, 0
  FROM executions_workflowexecution e CROSS JOIN generate_series(1, %s) AS n
"""
MANY_WAITERS = """
INSERT INTO runners_waiter (run_id, execution_id, workspace_id, kind, key, created_at)
SELECT r.id, r.execution_id, e.workspace_id, 'event', 'event ' || abs(hashtext(r.id::text)) % 20,
       clock_timestamp()
  FROM runners_run r JOIN executions_workflowexecution e ON e.id = r.execution_id
"""
MANY_CIRCUITS = """
INSERT INTO runners_circuitbreaker (id, workspace_id, target, state, failures, proven_at)
SELECT gen_random_uuid(), w.id, 'http.request:' || n || '.example.com', 'CLOSED',
       CASE WHEN n <= 20 THEN 1 ELSE 0 END, clock_timestamp()
  FROM executions_workspace w CROSS JOIN generate_series(1, 20000) AS n
"""

# Each statement, and the indexes of the runs' table that it may use: the primary key, one
# execution's runs, or (if few runs are live) the small index of the live ones.
EXPECTED: dict[str, set[str]] = {
    "claim": {PRIMARY},
    "record": {PRIMARY, BY_STATE},
    "record_and_begin_next": {PRIMARY},
    "record_without_new_runs": {PRIMARY, BY_STATE},
    "record_and_claim_sibling": {PRIMARY},
    "siblings": {IDENTITY},
    "siblings_of_lost_run": {PRIMARY, BY_STATE},
    "renew": {PRIMARY, DUE},
    "release": {PRIMARY, DUE},
    "take_lease_from_holder": {PRIMARY},
    "mark_lost_runs_resent": {PRIMARY, DUE},
    "run_and_execution": {PRIMARY},
    "outcomes": {IDENTITY, BY_STATE},
    "mark_due_runs_sent": {"run_retry", PRIMARY},
    "recheck_unclaimed_runs": {DUE, PRIMARY},
    "runs_of_worker_processes": {DUE},
    "runs_with_expired_lease": {DUE},
    "ended_with_live_runs": {DUE},
    "cancel_live_runs": {BY_STATE},
    "mark_pending_runs_sent": {BY_STATE},
    "stalled_executions": {DUE, BY_STATE},
    "suspend": {PRIMARY, BY_STATE},
    "wake": {PRIMARY},
    "runs_with_due_timer": {DUE},
    "waiting_container": {IDENTITY},
    "items": {IDENTITY},
    "outputs_of_steps": {IDENTITY},
    "store_counters": {PRIMARY},
    "wake_container": {PRIMARY},
    "has_live_run": {BY_STATE},
    "executions_missing_a_slot": {DUE},
    "listeners": {PRIMARY},
    "listeners_in": {PRIMARY},
    "log_filter_failures": {PRIMARY},
    "begin_recording_remote_run": {PRIMARY},
}
# Those may use any index of the execution's runs.
BY_EXECUTION = (
    "durations", "execution_figures", "failures", "has_dead_step_in_body", "iterations_for_page",
    "iterations_with_rows", "last_dead_step", "listener_results", "load", "mark_unsent", "results",
    "step_states", "supersede_body", "watch_all_runs", "watch_runs",
)  # fmt: skip
OF_THE_PAST = (
    "iterations_of_point", "move_runs_to_epoch", "reopen_containers", "runs_of_point",
    "steps_of_point", "supersede_after_point",
)  # fmt: skip


@pytest.fixture(scope="module")
def large_table(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    """Create tens of thousands of runs, nearly all finished, and a few live ones."""
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        start_many(publish({"tasks": [task("begin")]}), [{}] * LIVE)
        with connection.cursor() as cursor:
            cursor.execute(MANY_EXECUTIONS, [EXECUTIONS])
            cursor.execute(MANY_RUNS, [RUNS_EACH])
            cursor.execute(MANY_WAITERS)
            cursor.execute(MANY_CIRCUITS)
            cursor.execute("ANALYZE runners_circuitbreaker")
            cursor.execute("ANALYZE runners_waiter")
            cursor.execute("ANALYZE runners_run")
            cursor.execute("ANALYZE executions_workflowexecution")
        yield


@pytest.mark.parametrize("name", EXPECTED)
def test_a_hot_statement_uses_its_index(large_table: None, name: str) -> None:
    nodes = _plan(name)
    used = {node["Index Name"] for node in nodes if "Index Name" in node}
    runs = {index for index in used if index.startswith(("run_", "runners_run_"))}
    assert runs
    assert runs <= EXPECTED[name]
    assert not _sequential(nodes)


def test_leased_runs_begin_by_their_ids(large_table: None) -> None:
    nodes = _plan("lease_reserved_runs", leases)
    used = {node["Index Name"] for node in nodes if "Index Name" in node}
    assert used == {PRIMARY}
    assert not _sequential(nodes)


def test_runs_of_the_past_are_copied_by_their_ids(large_table: None) -> None:
    nodes = _plan("copy_runs_to_fork", past)
    used = {node["Index Name"] for node in nodes if "Index Name" in node}
    runs = {index for index in used if index.startswith(("run_", "runners_run_"))}
    assert runs == {PRIMARY}
    assert not _sequential(nodes)


@pytest.mark.parametrize(
    ("name", "of"),
    [*((name, statements) for name in BY_EXECUTION), *((name, past) for name in OF_THE_PAST)],
)
def test_a_statement_about_one_execution_reads_its_runs_alone(
    large_table: None, name: str, of: Any
) -> None:
    nodes = _plan(name, of)
    assert {node.get("Index Name") for node in nodes} & {IDENTITY, BY_STATE}
    assert "runners_run" not in _sequential(nodes)


@pytest.mark.parametrize(
    "name",
    [
        "runs_with_due_timer",
        "mark_due_runs_sent",
        "recheck_unclaimed_runs",
        "runs_with_expired_lease",
        "ended_with_live_runs",
        "long_running",
        "executions_past_deadline",
    ],
)
def test_a_duty_reads_only_what_is_due(large_table: None, name: str) -> None:
    """A duty reads only due rows: a volatile clock in the condition would make it read every live
    run.
    """
    conditions = [node["Index Cond"] for node in _plan(name) if "Index Cond" in node]
    assert any("_at <= statement_timestamp()" in condition for condition in conditions)


def test_what_is_running_is_looked_at_once_for_all_late_runs(large_table: None) -> None:
    """Running work is read once for all late runs.

    With a backlog it took 23 s per late run, because the index keeps entries of recently finished
    runs.
    """
    assert "SubPlan" not in {
        node.get("Parent Relationship") for node in _plan("recheck_unclaimed_runs")
    }


def test_leftovers_ask_for_each_execution_by_its_key(large_table: None) -> None:
    """The query for leftovers looks up each execution by its key.

    A join was planned as if no execution were final, and took 17 s with a backlog.
    """
    nodes = _plan("ended_with_live_runs")
    [scan] = [node for node in nodes if node.get("Relation Name") == "executions_workflowexecution"]
    assert scan["Index Name"] == "executions_workflowexecution_pkey"
    assert "d.execution_id" in scan["Index Cond"]
    assert "Hash Join" not in {node["Node Type"] for node in nodes}


def test_listeners_of_an_event_are_read_in_the_order_of_their_index(large_table: None) -> None:
    nodes = _plan("listeners")
    assert "waiter_key" in {node.get("Index Name") for node in nodes}
    assert "Sort" not in {node["Node Type"] for node in nodes}


def test_runs_of_a_remote_queue_are_read_in_the_order_in_which_they_are_leased(
    large_table: None,
) -> None:
    nodes = _plan("reserve_runs", leases)
    runs = {n["Index Name"] for n in nodes if str(n.get("Index Name")).startswith("run")}
    assert runs == {"run_remote", PRIMARY}
    assert not _sequential(nodes) & {"runners_run", "executions_workflowexecution"}
    [scan] = [node for node in nodes if node.get("Index Name") == "run_remote"]
    assert "q.name" in scan["Index Cond"]


@pytest.mark.parametrize("name", ["open_or_failing_circuits", "clear_expired_failures"])
def test_circuits_that_are_clean_are_not_looked_at(large_table: None, name: str) -> None:
    nodes = _plan(name, circuits)
    assert "circuit_unclean" in {node.get("Index Name") for node in nodes}
    assert not _sequential(nodes)


def test_circuits_of_long_ago_are_found_by_their_ids(large_table: None) -> None:
    nodes = _plan("delete_clean_circuits", circuits)
    assert not _sequential(nodes)


@pytest.mark.parametrize("name", ["targets_to_wake", "longest_held_runs", "count_held_runs"])
def test_steps_held_for_a_target_are_found_by_index(large_table: None, name: str) -> None:
    nodes = _plan(name, circuits)
    assert "waiter_key" in {node.get("Index Name") for node in nodes}
    assert not _sequential(nodes) & {"runners_waiter", "runners_circuitbreaker"}


def test_a_canary_is_counted_by_the_index_of_canaries(large_table: None) -> None:
    nodes = _plan("canary_side", canaries)
    assert "execution_canary" in {node.get("Index Name") for node in nodes}
    assert not _sequential(nodes)


def test_the_version_beside_a_canary_is_counted_by_the_index_of_its_workflow(
    large_table: None,
) -> None:
    """The version next to a canary is counted with the index of its workflow.

    The workflow has few executions, and the query is planned for it each time.
    """
    rare = publish({"tasks": [task("begin")]})
    given = {
        "workflow": rare.pk, "version": rare.latest_version_id, "since": rare.created_at,
        "slow": None, "most": canaries.MOST, "ids": canaries.MOST_COSTS,
    }  # fmt: skip
    assert not canaries.is_kept("latest_side")
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {canaries.statement('latest_side')}", given)
        found = cursor.fetchone()[0]
    nodes = list(_nodes((json.loads(found) if isinstance(found, str) else found)[0]["Plan"]))
    assert "execution_workflow_list" in {node.get("Index Name") for node in nodes}
    assert not _sequential(nodes)


def test_executions_past_their_deadline_are_found_by_index(large_table: None) -> None:
    used = {node.get("Index Name") for node in _plan("executions_past_deadline")}
    assert "execution_deadline" in used


def _sequential(nodes: list[dict[str, Any]]) -> set[str]:
    """Return the tables that a plan reads completely."""
    return {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"}


def _plan(name: str, of: Any = statements) -> list[dict[str, Any]]:
    """Return the nodes of the statement's generic plan."""
    text, count = _numbered(of.statement(name))
    values = ", ".join(["NULL"] * count)
    with connection.cursor() as cursor:
        raw = cursor.cursor.connection
    with raw.transaction(force_rollback=True):
        raw.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        raw.execute(f"PREPARE looked_at AS {text}")
        try:
            found = raw.execute(f"EXPLAIN (FORMAT JSON) EXECUTE looked_at({values})").fetchone()
        finally:
            raw.execute("DEALLOCATE looked_at")
    return list(_nodes(found[0][0]["Plan"]))


def _numbered(query: str) -> tuple[str, int]:
    """Return the query with `$1` for each name, and the number of names."""
    names: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"${names.setdefault(match[1], len(names) + 1)}"

    return re.sub(r"%\((\w+)\)s", number, query), len(names)


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)


@pytest.mark.django_db
def test_a_statement_that_says_so_is_planned_each_time(tmp_path: Path) -> None:
    among = "SELECT 1 AS {} WHERE 7 = ANY(%(ids)s::int[])"
    (tmp_path / "kept.sql").write_text(among.format("asked_kept"))
    (tmp_path / "anew.sql").write_text("--! plan each time\n" + among.format("asked_anew"))
    own = Statements(tmp_path)

    with transaction.atomic():
        for _ in range(2):
            assert own.fetch("kept", {"ids": [7]}) == own.fetch("anew", {"ids": [7]}) == [(1,)]
            asked = [(name, {"ids": [7]}) for name in ("kept", "anew")]
            assert own.fetch_together(asked) == [[(1,)], [(1,)]]
    assert _prepared("asked_kept")
    assert not _prepared("asked_anew")


def _prepared(word: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_prepared_statements WHERE statement LIKE %s", [f"%{word}%"]
        )
        return cursor.fetchone() is not None
