"""Each hot statement has one plan for any contents and statistics of the tables.

A prepared statement keeps the plan of its sixth use, and PostgreSQL reads a table's size and
statistics only when it makes a plan. A plan that was right on an empty table, or on one without
live rows, must be right for the next backlog.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings

from executions.database import statements as of_executions
from executions.database.by_state import in_states
from executions.database.statements import Statements
from executions.models import WorkflowExecution
from runners import statements as of_runs
from runners.models import Approval, Run
from tests.support import migrated
from tests.support.plan_states import HOT, STATES, Session, TablePlan, database, kept_plan, plan_of
from valkyr_plugins.backtest.models import Backtest
from valkyr_plugins.backtest.records import selected
from valkyr_plugins.canary import figures as of_canaries
from valkyr_plugins.remote import statements as of_remote

# Not called while work is in progress.
SELDOM = {
    "ancestors": "a page of one execution",
    "executions_with_approval": "a person's repair",
    "fence_after_restore": "after a restore",
    "log_filter_failures": "filters that could not be evaluated",
    "queue_position": "the page that explains why an execution waits",
}
# On tables without finished rows they match most rows: these read a whole table.
WIDE = {
    "count_held_slots", "count_runs_sent_before", "executions_with_unused_slot",
    "recheck_unclaimed_runs", "runs_of_worker", "stalled_executions",
}  # fmt: skip
OF_PLUGINS = {"reserve_runs": of_remote, "canary_side": of_canaries}
INDEXES = Path(__file__).parents[2] / "docs/reference/indexes.md"


def _statements() -> dict[str, Any]:
    """Return the statements that use a hot table, by name."""
    found = {
        name: of
        for of in (of_runs, of_executions)
        for name in sorted(file.stem for file in of.FOLDER.glob("*.sql"))
        if name not in SELDOM and any(table in of.statement(name) for table in HOT)
    }
    hot = {"claim", "end_execution", "load", "record", "record_without_new_runs", "start"}
    assert hot <= set(found)
    return found


STATEMENTS = _statements()
FIRST = UUID(int=0)


def _lists(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return lists of pages and of the API, and look-ups of the ORM, by their names in the docs."""
    executions, runs = WorkflowExecution.objects.all(), Run.objects.all()
    own = executions.filter(workspace_id=values["workspace"])
    newest = ("-created_at", "-id")
    key = {"workflow_id": values["workflow"], "idempotency_key": "one"}
    return {
        "list of executions": executions.order_by(*newest)[:51],
        "list of a workspace's executions": own.order_by(*newest)[:51],
        "list of a workflow's executions": executions.filter(
            workflow_id=values["workflow"]
        ).order_by(*newest)[:51],
        "list of failed executions": own.filter(in_states("FAILED", "TIMEOUT")).order_by("-id")[
            :51
        ],
        "count of running executions": own.filter(in_states("RUNNING")).order_by()[:10_000],
        "backtests": _compared(values),
        "backtests of failures": _compared(values, "FAILED"),
        "search for a trace": executions.filter(trace_id="0" * 32),
        "start with a key": executions.filter(**key),
        "executions that ended in a given hour": executions.filter(
            finished_at__gte="2026-01-01T00:00Z", finished_at__lt="2026-01-01T01:00Z"
        ),
        "unfinished executions of a trigger": executions.filter(
            trigger_id=values["id"], finished_at=None
        ),
        "forks of an execution": executions.filter(origin_id__in=[values["id"]]),
        "children of an execution": executions.filter(parent_id=values["id"]),
        "unfinished children": executions.filter(parent__isnull=False, finished_at=None),
        "error-workflow executions of an execution": executions.filter(failure_of_id=values["id"]),
        "executions asked for in a transaction": own.filter(state="PENDING", place="ASKED"),
        "list of runs": runs.order_by("-id")[:51],
        "list of dead runs": runs.filter(in_states("DLQ")).order_by("-id")[:51],
        "list of approvals": Approval.objects.filter(state="WAITING").order_by("-id")[:51],
    }


def _compared(values: Mapping[str, Any], *states: str) -> Any:
    """Return the executions that a backtest of a workflow reads at once."""
    backtest = Backtest(
        workspace_id=values["workspace"],
        workflow_id=values["workflow"],
        selection={"states": list(states)},
        created_at=datetime.now(UTC),
    )
    return selected(backtest)[:51]


@pytest.fixture(scope="module")
def sessions(django_db_setup: None, django_db_blocker: Any) -> Iterator[dict[str, Session]]:
    """Create a database in each state; yield their sessions."""
    if settings.DATABASES["default"]["TEST"].get("TEMPLATE") != migrated.NAME:
        pytest.skip("needs a server of the tests' own, with a migrated database to copy")
    with django_db_blocker.unblock(), ExitStack() as stack:
        yield {state: stack.enter_context(database(state)) for state in STATES}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_hot_statement_has_one_plan(sessions: dict[str, Session], name: str) -> None:
    found: dict[frozenset[str], tuple[str, TablePlan]] = {}
    for where, plan in _plans(sessions, name):
        if name in WIDE and where.startswith(("empty", "fresh, analysed")) and plan.whole:
            continue
        assert not plan.whole, f"{name}: {where}: reads a whole table\n{plan.text}"
        found.setdefault(plan.reads, (where, plan))
    told = "\n\n".join(
        f"{where}: {sorted(plan.reads)}\n{plan.text}" for where, plan in found.values()
    )
    assert len(found) == 1, f"{name} has {len(found)} plans\n{told}"


@pytest.mark.parametrize("state", ["full", "full, analysed", "idle after much work, vacuumed"])
def test_no_list_reads_a_whole_full_table(sessions: dict[str, Session], state: str) -> None:
    own = sessions[state]
    for name, query in _lists(_values(own)).items():
        plan = plan_of(own, query)
        assert not plan.whole, f"{name}: {state}: reads a whole table\n{plan.text}"


def test_every_index_of_a_hot_table_is_needed_by_what_its_page_names(
    sessions: dict[str, Session],
) -> None:
    own = sessions["full, analysed"]
    lists = _lists(_values(own))
    needed = dict(_documented())
    assert set(needed) == _indexes(own), "docs/reference/indexes.md has each index once"
    for index, names in needed.items():
        for name in names:
            if name in lists:
                plan = plan_of(own, lists[name])
            else:
                plan = next(plan for _, plan in _plans({"full, analysed": own}, name))
            assert index in plan.reads, f"{name} does not use {index}\n{plan.text}"


def _plans(sessions: dict[str, Session], name: str) -> Iterator[tuple[str, TablePlan]]:
    of = STATEMENTS.get(name) or OF_PLUGINS[name]
    for state, own in sessions.items():
        values = _values(own)
        # A statement that is planned each time has no other plan.
        for generic in (True, False) if Statements(of.FOLDER).kept(name) else (False,):
            given = _given(own, of.statement(name), values)
            plan = kept_plan(own, of.statement(name), given, generic=generic)
            yield f"{state}, {'generic' if generic else 'custom'} plan", plan


def _values(own: Session) -> dict[str, Any]:
    """Return the ids of existing rows, if there are any."""
    run = own.execute(
        "SELECT id, execution_id FROM runners_run WHERE finished_at IS NULL LIMIT 1"
    ).fetchone() or (uuid4(), uuid4())
    scope = own.execute("SELECT md5('w1')::uuid").fetchone()
    assert scope is not None
    return {
        "id": uuid4(), "run": run[0], "next": uuid4(), "execution": run[1], "ended": run[1],
        "ids": [run[1]], "executions": [run[1]], "runs": [run[0]], "workspace": scope[0],
        "workflow": scope[0], "after": FIRST, "paths": ["s1.main"], "reads": ["s1.main"],
        "path": "s1.main", "segment": "s1", "prefix": "s1[", "token": 1, "epoch": 0,
        "holder": "w@h|1", "name": "w@h|", "since": None, "before": "2026-01-01T00:00:00Z",
        "batch": 100, "most": 1_000, "newest": 20, "places": 10, "kind": "event", "key": "one",
        "keys": ["one"],
    }  # fmt: skip


DEFAULTS = {
    "bigint": 1, "integer": 1, "smallint": 1, "double precision": 1.0, "numeric": 1,
    "boolean": True, "text": "x", "character varying": "x", "json": "[]", "jsonb": "{}",
    "uuid": FIRST,
    "timestamp with time zone": "2026-01-01T00:00:00Z",
    "interval": "35 s",
}  # fmt: skip


def _given(own: Session, statement: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for each parameter: a known one, or one of its type."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    text = re.sub(r"%\((\w+)\)s", lambda m: f"${names.index(m[1]) + 1}", statement)
    own.execute(f"PREPARE typed AS {text.replace('%%', '%')}".encode())
    try:
        row = own.execute(
            "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'typed'"
        ).fetchone()
    finally:
        own.execute("DEALLOCATE typed")
    assert row is not None
    return {
        one: values[one]
        if one in values and isinstance(values[one], list) == kind.endswith("[]")
        else [DEFAULTS[kind[:-2]]]
        if kind.endswith("[]")
        else DEFAULTS[kind]
        for one, kind in zip(names, row[0], strict=True)
    }


def _documented() -> Iterator[tuple[str, list[str]]]:
    """Yield each index that the page lists, with the statements and lists that need it."""
    for line in INDEXES.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            yield cells[0].strip("`"), [name.strip().strip("`") for name in cells[2].split(",")]


def _indexes(own: Session) -> set[str]:
    rows = own.execute(
        "SELECT indexname FROM pg_indexes WHERE tablename = ANY(%s)", [list(HOT)]
    ).fetchall()
    return {name for (name,) in rows}
