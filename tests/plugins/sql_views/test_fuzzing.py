"""Random queries find no row of another workspace, and find them if the restriction is removed."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from executions.database import transaction
from tests.plugins.sql_views.conftest import SqlWorld
from tests.plugins.sql_views.random_queries import LEAK, RandomQueries
from valkyr_plugins.sql_views import installing
from valkyr_plugins.sql_views.asking import SqlQuestion, SqlRefused, ask

SEEDS = range(4)
QUERIES = 400
A_SESSION = 40
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Findings:
    """The rows of the other workspace that a client found."""

    def __init__(self, world: SqlWorld, seed: int) -> None:
        self._world, self._seed = world, seed
        self.queries = RandomQueries(seed, str(world.there.pk))
        self.found: list[str] = []
        self.answered = 0

    def look(self, text: str, statement: str) -> None:
        """Record a text with a key or name of the other workspace that is not in the statement."""
        told = {*UUID.findall(text)} & self._world.foreign - {*UUID.findall(statement)}
        if told or re.search(r"\border-rival\b|\brival\b(?!')", _without(text, statement)):
            self.found.append(f"seed {self._seed}: {statement}\n-> {text[:300]}")

    def run(self) -> None:
        """Run the statements of the seed, in several sessions."""
        for _ in range(QUERIES // A_SESSION):
            with self._connect() as session:
                self._use(session)

    def _connect(self) -> psycopg.Connection[Any]:
        # `DISCARD ALL` would drop statements that psycopg has prepared.
        return self._world.connect("reads_here", autocommit=True, prepare_threshold=None)

    def _use(self, session: psycopg.Connection[Any]) -> None:
        notices: list[str] = []
        session.add_notice_handler(lambda one: notices.append(str(one.message_primary)))
        for _ in range(A_SESSION):
            for statement in (*LEAK, *self.queries.tricks(), *self.queries.statements()):
                notices.clear()
                answer = self._answer(session, statement)
                for text in (*answer, *notices):
                    self.look(text, statement)
            if session.info.transaction_status:
                session.execute("ROLLBACK")

    def _answer(self, session: psycopg.Connection[Any], statement: str) -> Iterator[str]:
        try:
            cursor = session.execute(statement.encode())
            rows = cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            return iter(_of_error(error, statement))
        self.answered += bool(rows)
        return (str(value) for row in rows for value in row)


def _of_error(error: psycopg.Error, statement: str) -> list[str]:
    # The divisor is zero for a row of the other workspace alone.
    by_zero = isinstance(error, psycopg.errors.DivisionByZero)
    return ["order-rival, by a division" if by_zero else str(error.diag.message_primary)]


def _without(text: str, statement: str) -> str:
    """Return a text without the statement, which messages and lists of sessions repeat."""
    return text.replace(statement, "").replace("%rival%", "")


@pytest.mark.parametrize("seed", SEEDS)
def test_random_queries_find_no_row_of_another_workspace(world: SqlWorld, seed: int) -> None:
    client = Findings(world, seed)
    client.run()
    assert client.found == []
    assert client.answered > QUERIES / 4, "most queries must be valid, or they prove nothing"


def test_without_the_restriction_the_same_queries_find_rows(world: SqlWorld) -> None:
    client = Findings(world, 0)
    allowed = 'SELECT workspace_id FROM "valkyr_views"."allowed_workspaces"'
    with views_with((allowed, "SELECT id FROM executions_workspace")):
        client.run()
    assert len(client.found) > QUERIES / 4


def test_without_the_barrier_functions_of_the_client_reveal_rows(world: SqlWorld) -> None:
    client = Findings(world, 0)
    with views_with(("WITH (security_barrier)", "")):
        client.run()
    assert client.found


@pytest.mark.parametrize("seed", SEEDS)
def test_the_command_for_one_workspace_finds_no_row_of_another(world: SqlWorld, seed: int) -> None:
    client = Findings(world, seed)
    for _ in range(60):
        statement = client.queries.query().replace("pg_temp.leak(", "starts_with('', ")
        for text in _said(world, statement):
            client.look(text, statement)
    assert client.found == []


def _said(world: SqlWorld, statement: str) -> list[str]:
    try:
        answer = ask(SqlQuestion(statement=statement, workspaces=[world.here.pk], seconds=5))
    except SqlRefused as refused:
        return [refused.message.splitlines()[0].replace("division by zero", "order-rival")]
    return [str(value) for row in answer.rows for value in row]


@contextmanager
def views_with(change: tuple[str, str]) -> Iterator[None]:
    """Create the views with other SQL for the block, and restore them after it."""
    usual = installing._view

    def weakened(view: Any) -> str:
        before, after = change
        text = usual(view)
        assert before in text
        return text.replace(before, after)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(installing, "_view", weakened)
        installing.install()
    try:
        yield
    finally:
        with transaction.atomic():
            assert installing.install(), "the views must be created again"
