"""Tests of SQL over the archive: its views, the caller's workspaces, no access to the machine."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from executions.models import Workflow
from tests.plugins.archive.conftest import old
from tests.support import admin_rows
from valkyr_plugins.archive import archiving
from valkyr_plugins.archive.asking import ArchiveQuestion, ArchiveSqlRefused, ask

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
pytestmark = pytest.mark.django_db


@pytest.fixture
def rivals(archive: Path, orders: Workflow) -> Workflow:
    """Create a workflow of another workspace; both have archived executions."""
    other = admin_rows.workflow(owner=admin_rows.workspace("rival"))
    for days in (40, 41, 42):
        old(orders, days)
    old(other, 40, output={"secret": "of the rival"})
    archiving.turn()
    return other


def asked(of: Workflow, statement: str, **limits: Any) -> list[tuple[Any, ...]]:
    question = ArchiveQuestion(statement=statement, workspaces=[of.workspace_id], **limits)
    return ask(question).rows


def test_each_workspace_has_its_own_rows(orders: Workflow, rivals: Workflow) -> None:
    count = "SELECT state, count(*) FROM executions GROUP BY ALL"

    assert asked(orders, count) == [("SUCCESS", 3)]
    assert asked(rivals, count) == [("SUCCESS", 1)]
    assert asked(orders, "SELECT count(*) FROM archive") == [(3,)]
    everything = asked(orders, "SELECT output FROM executions")
    assert "rival" not in str(everything)
    assert ask(ArchiveQuestion(statement=count, workspaces=[])).rows == []


def test_runs_and_days_are_found(orders: Workflow, rivals: Workflow) -> None:
    steps = "SELECT step_path, count(*) FROM runs GROUP BY ALL ORDER BY 1"
    assert asked(orders, steps) == [("begin.main", 3), ("charge.main", 3)]
    assert asked(orders, "SELECT count(*) FROM dead_letters") == [(0,)]
    sums = "SELECT sum((output::json->>'sum')::int), min(labels->>'order') FROM executions"
    assert asked(orders, sums) == [(21, "1047")]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '{archive}/**/*.parquet'",
        "SELECT * FROM read_parquet('{archive}/**/*.parquet')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM read_csv('https://example.com/a.csv')",
        "COPY executions TO '{archive}/copy.parquet'",
        "ATTACH '{archive}/new.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET memory_limit = '100GB'",
        "SET enable_external_access = true",
        "CREATE TABLE mine AS SELECT 1",
        "SELECT 1; SELECT 2",
        "EXPORT DATABASE '{archive}/all'",
        "CALL pragma_version()",
        "SELECT * FROM rows_of_python",
        "",
    ],
)
def test_nothing_but_the_views_can_be_read(
    orders: Workflow, rivals: Workflow, archive: Path, statement: str
) -> None:
    rows_of_python = [1]  # noqa: F841 - a name that DuckDB could look for
    before = sorted(archive.rglob("*"))

    with pytest.raises(ArchiveSqlRefused):
        asked(orders, statement.replace("{archive}", str(archive)))

    assert sorted(archive.rglob("*")) == before


def test_time_memory_and_rows_are_limited(orders: Workflow, rivals: Workflow) -> None:
    with pytest.raises(ArchiveSqlRefused, match="time limit"):
        asked(orders, "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b",
              seconds=0.2)  # fmt: skip
    with pytest.raises(ArchiveSqlRefused, match="memory"):
        asked(orders, "SELECT count(*) FROM (SELECT DISTINCT range::text || repeat('x', 100) "
              "FROM range(20000000))")  # fmt: skip
    found = ask(
        ArchiveQuestion(
            statement="SELECT id FROM executions", workspaces=[orders.workspace_id], limit=2
        )
    )
    assert (len(found.rows), found.more) == (2, True)


def test_the_command_limits_to_a_workspace(
    orders: Workflow, rivals: Workflow, capsys: pytest.CaptureFixture[str]
) -> None:
    count = "SELECT count(*) AS n FROM executions"
    call_command("valkyr_archive", "sql", count, "--format", "csv")
    assert capsys.readouterr().out.split() == ["n", "4"]
    call_command("valkyr_archive", "sql", count, "--workspace", "rival", "--format", "csv")
    assert capsys.readouterr().out.split() == ["n", "1"]
    call_command("valkyr_sql", count, "--archive", "--workspace", "rival", "--format", "csv")
    assert capsys.readouterr().out.split() == ["n", "1"]
    with pytest.raises(CommandError, match="no workspace"):
        call_command("valkyr_archive", "sql", count, "--workspace", "nowhere")
