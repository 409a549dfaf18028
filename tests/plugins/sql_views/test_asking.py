"""`valkyr_sql` runs one statement that only reads, limits it, and explains errors."""

import csv
import io
import json
from contextlib import suppress
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.core.management import CommandError, call_command

from executions.management.query_results import result_lines
from executions.models import Workflow
from tests.plugins.sql_views.conftest import SqlWorld
from valkyr_plugins.sql_views import installing
from valkyr_plugins.sql_views.catalogue import views

NO_OTHER_ROLE = 'cannot set parameter "{}" within security-definer function'


def run(statement: str = "", **options: Any) -> str:
    out = io.StringIO()
    call_command("valkyr_sql", statement, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


def rows(statement: str, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(statement, format="json", **options))
    return found


def test_all_workspaces_or_one_are_read(world: SqlWorld) -> None:
    both = rows("SELECT slug FROM workspaces ORDER BY slug")
    assert [one["slug"] for one in both] == ["default", "here", "rival"]
    assert rows("SELECT slug FROM workspaces", workspace="here") == [{"slug": "here"}]
    assert rows("SELECT DISTINCT workspace FROM executions", workspace="here") == [
        {"workspace": "here"}
    ]


def test_csv_has_a_header_and_a_table_has_columns(world: SqlWorld) -> None:
    text = run("SELECT slug, name FROM workflows", workspace="here", format="csv")
    slugs = Workflow.objects.filter(workspace=world.here).values_list("slug", flat=True)
    assert {line["slug"] for line in csv.DictReader(io.StringIO(text))} == set(slugs)
    shown = run("SELECT 1 AS one, 'a' AS letter").splitlines()
    assert shown == ["one  letter", "---  ------", "1    a"]


def test_columns_with_one_name_keep_their_values() -> None:
    [line] = result_lines(["id", "id", "id_2", "id"], [(1, 2, 3, 4)], "json")
    assert json.loads(line) == [{"id": 1, "id_2": 2, "id_2_2": 3, "id_3": 4}]


def test_more_rows_than_the_limit_are_mentioned(world: SqlWorld) -> None:
    err = io.StringIO()
    out = io.StringIO()
    statement = "SELECT * FROM generate_series(1, 1000000)"
    call_command("valkyr_sql", statement, limit=3, format="csv", stdout=out, stderr=err)
    assert out.getvalue().split() == ["generate_series", "1", "2", "3"]
    assert "larger --limit" in err.getvalue()


def test_percent_signs_and_comments_are_passed_on(world: SqlWorld) -> None:
    assert rows("-- ours\nSELECT 7 % 4 AS rest, '%s' AS text;") == [{"rest": 3, "text": "%s"}]
    assert rows("(SELECT 1 AS one)") == [{"one": 1}]
    assert "Aggregate" in run("EXPLAIN SELECT count(*) FROM executions")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("", "There is no statement"),
        ("-- only this", "There is no statement"),
        ("SELECT 1; SELECT 2", "There are several statements; expected one"),
        ("DELETE FROM executions", "DELETE is refused: this command only reads"),
        ("SET ROLE none", "SET is refused"),
        ("EXPLAIN ANALYZE UPDATE workspaces SET slug = ''", "permission denied"),
        ("WITH gone AS (DELETE FROM workspaces RETURNING 1) SELECT 1", "permission denied"),
        ("SELECT set_config('role', 'none', true)", NO_OTHER_ROLE.format("role")),
        ("SELECT * FROM set_config('ro' || 'le', 'none', false)", NO_OTHER_ROLE.format("role")),
        (
            "SELECT set_config('session_authorization', 'reads_rival', true)",
            NO_OTHER_ROLE.format("session_authorization"),
        ),
        (
            "SELECT query_to_xml('SELECT set_config(''role'', ''none'', true)', true, true, '')",
            NO_OTHER_ROLE.format("role"),
        ),
        ("SELECT query_to_xml('TABLE public.runners_run', true, true, '')", "permission denied"),
        ("SELECT FROM workspaces", "returns no columns"),
        ("SELECT pg_sleep(0)", "cast it, as in `column::text`"),
        ("SELECT pg_read_file('/etc/passwd')", "permission denied"),
        ("SELECT * FROM executions_credential", "does not exist"),
        ("SELECT * FROM public.executions_credential", "permission denied"),
        ("SELECT * FROM allowed_workspaces", "permission denied"),
        ("SELECT nextval('public.dlq_redriveitem_id_seq')", "permission denied"),
        ("SELECT pg_sleep(20)::text", "The time-out is 0.2 s. Read a shorter range of time"),
    ],
)
def test_what_does_not_read_or_takes_too_long_is_refused(
    world: SqlWorld, statement: str, message: str
) -> None:
    with pytest.raises(CommandError) as refused:
        run(statement, timeout=0.2)
    assert message in str(refused.value)


def test_the_place_of_a_mistake_is_shown(world: SqlWorld) -> None:
    with pytest.raises(CommandError) as refused:
        run("SELECT id,\n       staet FROM executions")
    lines = str(refused.value).splitlines()
    assert lines[0] == 'column "staet" does not exist'
    assert lines[1] == "line 2:        staet FROM executions"
    assert lines[2].index("^") == lines[1].index("staet")
    assert "--list shows the columns" in lines[-1]


def test_an_unknown_workspace_is_named(world: SqlWorld) -> None:
    with pytest.raises(CommandError, match="no workspace 'nowhere'"):
        run("SELECT 1", workspace="nowhere")


def test_without_views_the_command_says_what_to_run(world: SqlWorld) -> None:
    from valkyr_plugins.sql_views import conf

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(installing, "schema", lambda: "not_yet")
        patch.setattr(conf, "schema", lambda: "not_yet")
        with pytest.raises(CommandError, match="valkyr_views install"):
            run("SELECT 1")


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_the_views_and_columns_are_listed(form: str) -> None:
    text = run(list=True, format=form)
    for view in views():
        assert view.name in text
        for column in view.columns:
            assert column.name in text


def test_a_statement_cannot_add_a_workspace_to_the_chosen_one(world: SqlWorld) -> None:
    for value in ("*", "", "rival", f"{{{UUID(int=0)}}}"):
        change = f"SELECT set_config('valkyr.sql_workspaces', '{value}', true)"
        statement = f"WITH more AS MATERIALIZED ({change}) SELECT slug FROM more, workspaces"
        with suppress(CommandError):
            assert {one["slug"] for one in rows(statement, workspace="here")} <= {"here"}


def test_columns_of_one_name_and_of_all_types_are_returned(world: SqlWorld) -> None:
    text = run("SELECT 1 AS a, 'x' AS a, NULL AS a, now()::date - 1 < now() AS a", format="csv")
    assert text.split() == ["a,a,a,a", "1,x,,True"]
    found = rows("SELECT w AS whole, ARRAY[1.5, 2] AS list FROM workspaces w", workspace="here")
    assert "here" in found[0]["whole"]
    assert found[0]["list"] == ["1.5", "2"]


def test_a_login_role_cannot_run_a_statement_as_the_reading_role(world: SqlWorld) -> None:
    with (
        world.connect("reads_here") as session,
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="run_statement"),
    ):
        session.execute("SELECT * FROM run_statement('SELECT 1', 1) AS t(one int)")
