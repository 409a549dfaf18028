"""SQL steps against a separate database on the tests' server."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from sqlalchemy.exc import TimeoutError as PoolTimeout

from runners.failures.classification import classify
from runners.modules import registry
from runners.modules.base import Bad, StepError
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.bad_inputs import check_row, rows
from tests.support.waiting import wait_until
from valkyr_plugins.connectors.sql import engines
from valkyr_project.embedded.child import free_port

NAME = f"steps_{os.getpid()}"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Create a database on the tests' own server; yield its owner's URL."""
    server = os.environ["DATABASE_URL"]
    made = urlsplit(server)._replace(path=f"/{NAME}").geturl()
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))
        yield made.replace("postgres://", "postgresql://")
        engines.close_all()
        drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(NAME))
        admin.execute(drop)


@pytest.fixture
def database(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[psycopg.Connection[Any]]:
    """Yield a separate connection to the database, which the administrator has allowed."""
    parts = urlsplit(url)
    monkeypatch.setenv("VALKYR_SQL_ALLOWED_HOSTS", f"{parts.hostname}:{parts.port}/{NAME}")
    with psycopg.connect(url, autocommit=True) as own:
        own.execute("CREATE TABLE sold (id int PRIMARY KEY, day date, total numeric, more jsonb)")
        own.execute("INSERT INTO sold VALUES (1, '2026-01-02', 12.50, '{\"a\": [1, null]}')")
        yield own
        own.execute("DROP TABLE IF EXISTS sold, valkyr_effects")


@pytest.fixture
def context_of(url: str) -> Callable[..., Context]:
    """Return a function that creates a context whose credential is the database's."""

    def make(key: str = "0" * 64, seconds: float = 60, address: str = url) -> Context:
        made = Context(
            execution_id=UUID(int=1),
            step_path="a.main",
            attempt=1,
            idempotency_key=key,
            seconds=seconds,
            variables={},
        )
        made.credential = {"url": address}
        return made

    return make


@pytest.fixture
def query(context_of: Callable[..., Context]) -> Callable[..., Any]:
    def run(statement: str, *, seconds: float = 60, **given: Any) -> Any:
        config = {"statement": statement, **given}
        result = registry.get("sql.query").run(config, context_of(seconds=seconds))
        return result.outputs

    return run


@pytest.fixture
def execute(context_of: Callable[..., Context]) -> Callable[..., Any]:
    def run(*, key: str = "0" * 64, **given: Any) -> Any:
        return registry.get("sql.execute").run(given, context_of(key)).outputs

    return run


@pytest.mark.parametrize(
    ("module_type", "bad"), rows(needs="sql", types=["sql.query", "sql.execute"])
)
def test_a_bad_statement_is_told(
    database: Any, module_type: str, bad: Bad, context_of: Callable[..., Context]
) -> None:
    check_row(module_type, bad, context_of())

    assert database.execute("SELECT count(*) FROM sold").fetchone() == (1,)


def test_rows_come_as_json_without_losing_anything(database: Any, query: Any) -> None:
    found = query("SELECT * FROM sold WHERE day = :day", params={"day": "2026-01-02"})

    assert found["columns"] == ["id", "day", "total", "more"]
    assert found["rows"] == [
        {"id": 1, "day": "2026-01-02", "total": "12.50", "more": {"a": [1, None]}}
    ]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("9007199254740993", 9007199254740993),
        ("1e-20::numeric", "0.00000000000000000001"),
        ("'NaN'::numeric", "NaN"),
        ("'-infinity'::float8", "-inf"),
        ("'2026-01-02T03:04:05+00'::timestamptz AT TIME ZONE 'UTC'", "2026-01-02T03:04:05"),
        ("'25:00:01.5'::interval", "P1DT3601.5S"),
        ("'\\x00ff'::bytea", "AP8="),
        ("'00000000-0000-0000-0000-000000000001'::uuid", "00000000-0000-0000-0000-000000000001"),
        ("ARRAY[1.5, NULL]", ["1.5", None]),
        ("'10.0.0.1'::inet", "10.0.0.1"),
        ("NULL", None),
        ("'50% \\:x'", "50% :x"),
    ],
)
def test_each_type_has_one_form(database: Any, query: Any, expression: str, value: Any) -> None:
    assert query(f"SELECT {expression} AS v")["rows"] == [{"v": value}]


def test_values_are_bound_whatever_they_hold(database: Any, query: Any) -> None:
    params = {
        "text": "'; DROP TABLE sold --%s {{ x }}",
        "list": [1, 2],
        "object": {"a": "b"},
        "objects": [{"a": 1}],
        "none": None,
        "yes": True,
    }
    found = query(
        "SELECT CAST(:text AS text) AS t, 1 = ANY(:list) AS l, :object AS o, :objects AS os, "
        "CAST(:none AS int) AS n, :yes AS y",
        params=params,
    )

    assert found["rows"] == [
        {"t": params["text"], "l": True, "o": {"a": "b"}, "os": [{"a": 1}], "n": None, "y": True}
    ]


def test_plans_and_settings_can_be_read(database: Any, query: Any) -> None:
    assert query("SHOW server_encoding")["rows"] == [{"server_encoding": "UTF8"}]
    assert query("-- why\n EXPLAIN SELECT 1")["count"] == 1


def test_a_step_leaves_nothing_behind_in_its_connection(database: Any, query: Any) -> None:
    query("SELECT pg_advisory_lock(4711), set_config('search_path', 'nowhere', false)")

    assert database.execute("SELECT pg_try_advisory_lock(4711)").fetchone() == (True,)
    assert query("SELECT count(*) AS n FROM sold")["rows"] == [{"n": 1}]


def test_the_database_ends_a_query_with_the_steps_time(database: Any, query: Any) -> None:
    with pytest.raises(StepError, match="57014") as error:
        query("SELECT pg_sleep(60)", seconds=1)

    assert classify(error.value).error_type is ErrorType.TIMEOUT
    assert query("SELECT 1 AS one")["rows"] == [{"one": 1}]


def test_all_statements_are_done_or_none(database: Any, execute: Any) -> None:
    insert = "INSERT INTO sold (id) VALUES (:id)"
    done = execute(
        statements=[
            {"statement": insert, "params": [{"id": 2}, {"id": 3}]},
            {"statement": "UPDATE sold SET total = 1 RETURNING id, total"},
        ]
    )

    assert (done["rowCount"], done["repeated"]) == (5, False)
    assert sorted(row["id"] for row in done["results"][1]["rows"]) == [1, 2, 3]
    with pytest.raises(StepError, match=r"23505.*sold_pkey"):
        execute(
            statements=[
                {"statement": "DELETE FROM sold WHERE id = 2"},
                {"statement": insert, "params": {"id": 1}},
            ]
        )
    assert database.execute("SELECT count(*) FROM sold").fetchone() == (3,)


def test_tables_can_be_made_and_have_no_row_count(database: Any, execute: Any) -> None:
    done = execute(statement="CREATE TABLE IF NOT EXISTS sold (id int)")

    assert done == {
        "rowCount": 0,
        "results": [{"rowCount": None, "rows": []}],
        "repeated": False,
    }


def test_a_repeated_step_does_it_once_and_gives_the_same(database: Any, execute: Any) -> None:
    given = {
        "statement": "UPDATE sold SET total = total + 1 RETURNING total",
        "once": True,
    }

    first, again = execute(**given), execute(**given)
    other = execute(key="1" * 64, **given)

    assert first["results"] == again["results"] == [{"rowCount": 1, "rows": [{"total": "13.50"}]}]
    assert (first["repeated"], again["repeated"], other["repeated"]) == (False, True, False)
    assert other["results"][0]["rows"] == [{"total": "14.50"}]


def test_attempts_at_the_same_time_do_it_once(url: str, database: Any, execute: Any) -> None:
    """Concurrent attempts do the work once: the second waits for the key until the first has ended,
    and then does nothing.
    """
    given = {"statement": "UPDATE sold SET total = total + 1", "once": True}
    execute(key="f" * 64, statement="SELECT 1", once=True)  # the table is there
    found: list[Any] = []
    with psycopg.connect(url) as holder:
        holder.execute("SELECT total FROM sold FOR UPDATE")
        threads = [threading.Thread(target=lambda: found.append(execute(**given))) for _ in "ab"]
        for thread in threads:
            thread.start()
        wait_until(lambda: waiting(database) == 2, 30, "both to wait")
        holder.rollback()
    for thread in threads:
        thread.join(30)

    assert sorted(done["repeated"] for done in found) == [False, True]
    assert str(database.execute("SELECT total FROM sold").fetchone()[0]) == "13.50"


def waiting(database: Any) -> int:
    found = database.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND cardinality(pg_blocking_pids(pid)) > 0"
    ).fetchone()
    return int(found[0])


def test_what_failed_may_be_done_again_under_the_same_key(database: Any, execute: Any) -> None:
    database.execute("ALTER TABLE sold ADD CHECK (total < 100)")
    with pytest.raises(StepError, match="23514"):
        execute(statement="UPDATE sold SET total = 100", once=True)

    done = execute(statement="UPDATE sold SET total = 99", once=True)

    assert (done["repeated"], done["rowCount"]) == (False, 1)


def test_a_lost_connection_is_passing_and_the_next_step_has_a_new_one(
    database: Any, query: Any
) -> None:
    with pytest.raises(StepError) as error:
        query("SELECT pg_terminate_backend(pg_backend_pid())")

    assert classify(error.value).error_type is ErrorType.TRANSIENT
    assert query("SELECT 1 AS one")["count"] == 1
    database.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    assert query("SELECT 1 AS one")["count"] == 1


def test_a_database_that_is_not_there_is_passing_but_a_wrong_password_is_not(
    url: str, database: Any, context_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_SQL_ALLOWED_HOSTS", "127.0.0.1")

    def failure(address: str) -> Any:
        with pytest.raises(StepError) as error:
            registry.get("sql.query").run({"statement": "SELECT 1"}, context_of(address=address))
        return classify(error.value)

    nobody = failure(f"postgresql://ann:top-secret@127.0.0.1:{free_port()}/shop")
    assert nobody.error_type is ErrorType.TRANSIENT
    assert "top-secret" not in nobody.message + nobody.traceback


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("{url}", "engine's own tables"),
        ("postgresql://u:p@127.0.0.1:1/x", "a private or special address"),
        ("postgresql://u:p@localhost:1/x", "a private or special address"),
        ("postgresql://u:p@[::ffff:10.0.0.1]/x", "a private or special address"),
        ("postgresql://u:p@169.254.169.254/x", "a private or special address"),
        ("postgresql://u:p@%2Fvar%2Frun%2Fpostgresql/x", "socket on this machine"),
        ("postgresql://u:p@h/x?host=127.0.0.1", "sets host"),
        ("postgresql://u:p@h/x?service=own&passfile=/etc/x", "sets passfile, service"),
        ("postgresql://u:p@h/x?sslrootcert=/etc/passwd", "only to 'system'"),
        ("postgresql://u:p@h1,h2/x", "names no database"),
        ("postgresql://h/x", "names no database"),
        ("sqlite:////etc/passwd", "only PostgreSQL"),
        ("mysql://u:secret@h/x", "only PostgreSQL"),
        ("no url at all", "only PostgreSQL"),
        ("postgresql://u:p@[::1/x", "names no database"),
    ],
)
def test_a_credential_that_leads_astray_is_refused(
    url: str, context_of: Any, address: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VALKYR_SQL_ALLOWED_HOSTS", raising=False)
    monkeypatch.delenv("VALKYR_HTTP_ALLOWED_NETWORKS", raising=False)
    engines.close_all()

    with pytest.raises(StepError, match=sentence) as error:
        registry.get("sql.query").run(
            {"statement": "SELECT 1"}, context_of(address=address.replace("{url}", url))
        )

    assert "secret" not in str(error.value)


def test_the_engines_own_server_needs_the_whole_name(
    url: str, context_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = urlsplit(url)
    for entry in (parts.hostname, f"{parts.hostname}:{parts.port}", f"{parts.hostname}/{NAME}"):
        monkeypatch.setenv("VALKYR_SQL_ALLOWED_HOSTS", str(entry))
        engines.close_all()
        with pytest.raises(StepError, match="engine's own tables"):
            registry.get("sql.query").run({"statement": "SELECT 1"}, context_of())


def test_a_name_with_several_addresses_is_tried_at_each(
    url: str, database: Any, context_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each address of a name is tried, as if `localhost` were ::1 and 127.0.0.1, with the server at
    one of them.
    """
    named = url.replace("127.0.0.1", "localhost")
    monkeypatch.setenv("VALKYR_SQL_ALLOWED_HOSTS", f"localhost:{urlsplit(url).port}/{NAME}")

    found = registry.get("sql.query").run({"statement": "SELECT 1 AS n"}, context_of(address=named))

    assert found.outputs["rows"] == [{"n": 1}]


def test_pools_stay_few_and_idle_ones_are_closed(
    url: str, database: Any, query: Any, context_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines.close_all()
    query("SELECT 1 AS one")
    assert connections(database) == 1
    monkeypatch.setattr(engines, "IDLE_SECONDS", 0)
    with suppress(StepError):
        other = context_of(address="postgresql://u:p@127.0.0.1:1/x")
        registry.get("sql.query").run({"statement": "SELECT 1"}, other)

    wait_until(lambda: connections(database) == 0, 30, "the idle connection to be closed")


def connections(database: Any) -> int:
    found = database.execute(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = 'valkyr'"
    ).fetchone()
    return int(found[0])


def test_a_full_pool_is_passing() -> None:
    assert classify(PoolTimeout("QueuePool limit")).error_type is ErrorType.TRANSIENT


@pytest.mark.parametrize(
    ("config", "pointer"),
    [
        ({"statement": "SELECT {{ input.what }}"}, ("statement",)),
        ({"statement": "SELECT 1 {% if x %}"}, ("statement",)),
        ({"statements": "{{ input.all }}"}, ("statements",)),
        ({"statements": ["{{ input.one }}"]}, ("statements", 0)),
        (
            {"statements": [{"statement": "SELECT 1"}, {"statement": "{{ input.x }}"}]},
            ("statements", 1, "statement"),
        ),
    ],
)
def test_a_template_in_a_statement_cannot_be_published(config: Any, pointer: Any) -> None:
    (problem,) = registry.specs()["sql.execute"].check(config)

    assert (problem.pointer, problem.code) == (pointer, "template_not_allowed")
    assert "under params" in problem.message


def test_the_circuit_is_the_databases_and_tells_no_password() -> None:
    module = registry.get("sql.query")
    inputs = module.validated({"statement": "SELECT 1"})

    assert module.has_circuit()
    assert module.circuit_with(inputs, None) is None
    url = "postgresql://ann:secret@db.example.com/shop"
    assert module.circuit_with(inputs, {"url": url}) == "sql:db.example.com:5432/shop"
