"""Each statement of a session sees the scope that its code requests, regardless of earlier
statements.
"""

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import connection

from executions import configuration
from executions.database.row_scope import (
    ANY,
    LIST,
    UNKNOWN,
    RowScope,
    ScopeWatcher,
    Setting,
    limit,
    limited,
)
from executions.database.statements import MOST_PREPARED
from executions.vendor_seams.psycopg_pipeline import one_round_trip
from executions.vendor_seams.psycopg_scoped import watch

pytestmark = pytest.mark.django_db
SET = "SELECT coalesce(current_setting('valkyr.workspaces', true), '')"
BY_STATEMENT = "SELECT set_config('valkyr.workspaces', %s, false)"
FAILING = "SELECT no_such_thing"
STEPS = 400


@pytest.fixture(autouse=True)
def role(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use the session's own role for scopes, because it needs no preparation."""
    own = str(connection.settings_dict["USER"])
    monkeypatch.setenv("VALKYR_ROW_LEVEL_SECURITY_ROLE", own)
    configuration.forget()
    yield
    monkeypatch.undo()
    configuration.forget()


class Session:
    """A watched session; `actual` reads its scope without being watched."""

    def __init__(self) -> None:
        given: dict[str, Any] = connection.get_connection_params()
        given.pop("pool", None)
        self.raw = psycopg.connect(**given, autocommit=True)
        self.raw.prepared_max = MOST_PREPARED
        self._unwatched = self.raw.cursor()
        self.watcher = ScopeWatcher()
        watch(self.raw, self.watcher)

    def seen(self) -> str:
        """Return the list of workspaces that a statement of the application sees."""
        return str(self.raw.execute(SET).fetchone()[0])

    def actual(self) -> str:
        """Return the list that is set now."""
        return str(self._unwatched.execute(SET).fetchone()[0])


@pytest.fixture
def session() -> Iterator[Session]:
    made = Session()
    yield made
    made.raw.close()


def scope() -> tuple[RowScope, str]:
    """Return a row scope of one workspace, and the text of its list of IDs."""
    workspace = uuid4()
    return RowScope(None, UUID(str(workspace))), f"{{{workspace}}}"


def role_of(session: Session) -> str:
    return str(session.raw.info.user)


def test_a_scope_stays_in_a_session_until_another_is_asked_for(session: Session) -> None:
    wanted, ids = scope()

    with limited(wanted):
        assert session.seen() == ids
    assert session.actual() == ids
    assert session.seen() == ""
    assert session.actual() == ""


def test_a_transaction_leaves_its_scope_to_the_session(session: Session) -> None:
    wanted, ids = scope()
    session.raw.autocommit = False

    with limited(wanted):
        assert session.seen() == ids
    session.raw.rollback()

    assert session.actual() == ids
    assert session.seen() == ""


def test_a_second_scope_within_a_transaction_ends_with_it(session: Session) -> None:
    session.raw.autocommit = False
    session.seen()
    wanted, ids = scope()

    with limited(wanted):
        assert session.seen() == ids
    session.raw.commit()

    assert session.actual() == ""


def test_a_session_that_is_reset_gets_its_scope(session: Session) -> None:
    for _ in range(2):
        wanted, ids = scope()
        with limited(wanted):
            assert session.seen() == ids
        session.raw.execute("DISCARD ALL")


def test_commands_are_prepared_again_in_any_order_after_all_were_removed(session: Session) -> None:
    def see_another_list() -> None:
        wanted, ids = scope()
        with limited(wanted):
            assert session.seen() == ids

    def see_another_member() -> None:
        by_member = RowScope(None)
        by_member.setting = Setting(LIST + " -- another command", role_of(session), "{}")
        with limited(by_member):
            assert session.seen() == "{}"

    chance = random.Random(0)
    for _ in range(60):
        chance.choice([see_another_list, see_another_member])()
        if chance.random() < 0.4:
            session.raw.execute("DEALLOCATE ALL")


def test_a_statement_without_policies_leaves_the_scope_as_it_is(session: Session) -> None:
    wanted, ids = scope()
    with limited(wanted):
        session.seen()

    with limited(ANY):
        assert session.seen() == ids
    session.raw.autocommit = False
    with limited(ANY):
        session.seen()
    assert session.seen() == ""


def test_a_statement_can_set_the_scope_of_those_after_it(session: Session) -> None:
    wanted, ids = scope()

    assert session.watcher.can_be_set(session.raw)
    session.watcher.is_set_to(UNKNOWN)
    session.raw.execute(BY_STATEMENT, [ids])
    session.watcher.is_set_to(wanted)

    with limited(wanted):
        assert session.seen() == ids
    assert session.seen() == ""


def test_a_statement_that_failed_to_set_the_scope_leaves_it_to_be_set(session: Session) -> None:
    wanted, ids = scope()
    with limited(wanted):
        session.seen()
        session.watcher.is_set_to(UNKNOWN)
        with pytest.raises(psycopg.Error):
            _set_and_fail(session.raw)

        assert session.seen() == ids


def test_a_transaction_prevents_that_a_statement_sets_the_scope(session: Session) -> None:
    session.raw.autocommit = False
    assert not session.watcher.can_be_set(session.raw)

    session.raw.autocommit = True
    session.raw.execute("BEGIN")
    assert not session.watcher.can_be_set(session.raw)
    session.raw.execute("ROLLBACK")


def test_a_scope_that_cannot_be_set_runs_no_statement(session: Session) -> None:
    broken = RowScope(None, UUID(int=0))
    broken.setting = Setting(LIST, "no_such_role", "")

    with limited(broken), pytest.raises(psycopg.errors.InvalidParameterValue):
        session.raw.execute("SELECT set_config('valkyr.tried', 'yes', false)")

    found = session.raw.execute("SELECT current_setting('valkyr.tried', true)").fetchone()
    assert found in {(None,), ("",)}


@pytest.mark.parametrize("seed", range(8))
def test_every_statement_sees_the_scope_that_is_asked_for(session: Session, seed: int) -> None:
    chance = random.Random(seed)
    scopes: list[tuple[RowScope | None, str]] = [(None, ""), *(scope() for _ in range(3))]
    ways = [_begin, _end, _savepoint, _fail, _fail_together, _by_hand, _block, _nothing]
    with limited(None):
        for _ in range(STEPS):
            wanted, ids = chance.choice(scopes)
            limit(wanted)
            way = chance.choice(ways)
            with suppress(psycopg.Error):
                way(session.raw, chance)
            if session.raw.info.transaction_status == psycopg.pq.TransactionStatus.INERROR:
                session.raw.rollback()
            assert session.seen() == ids, way.__name__


def _begin(raw: Any, chance: random.Random) -> None:
    raw.commit()
    raw.autocommit = False


def _end(raw: Any, chance: random.Random) -> None:
    (raw.commit if chance.random() < 0.5 else raw.rollback)()
    raw.autocommit = True


def _savepoint(raw: Any, chance: random.Random) -> None:
    raw.execute("SAVEPOINT a")
    raw.execute(SET)
    raw.execute(chance.choice(["ROLLBACK TO SAVEPOINT a", "RELEASE SAVEPOINT a"]))


def _fail(raw: Any, chance: random.Random) -> None:
    raw.execute(FAILING)


def _fail_together(raw: Any, chance: random.Random) -> None:
    with one_round_trip(raw):
        raw.execute(SET)
        raw.execute(FAILING)


def _set_and_fail(raw: Any) -> None:
    with one_round_trip(raw):
        raw.execute(BY_STATEMENT, ["{}"])
        raw.execute(FAILING)


def _by_hand(raw: Any, chance: random.Random) -> None:
    """Run a transaction of which psycopg does not know."""
    raw.commit()
    raw.autocommit = True
    raw.execute("BEGIN")
    raw.execute(SET)
    raw.execute(chance.choice(["COMMIT", "ROLLBACK"]))


def _block(raw: Any, chance: random.Random) -> None:
    """Run a transaction of which only psycopg knows."""
    raw.commit()
    raw.autocommit = True
    with raw.transaction(force_rollback=chance.random() < 0.5):
        raw.execute(SET)


def _nothing(raw: Any, chance: random.Random) -> None:
    """Do nothing, so that the next statement follows at once."""
