"""Two databases with Valkyr's tables in one process: each context uses one of them."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import update_last_login
from django.db import connections, router
from django.test import RequestFactory, override_settings
from django.test.utils import CaptureQueriesContext
from django_celery_beat.models import PeriodicTask

from executions.configuration import problems
from executions.configuration.engine import PlaceSettings
from executions.database import (
    Router,
    accounts,
    alias,
    checks,
    connection,
    statements,
    transaction,
)
from executions.database.routing import alias_of, aliases, cell, cell_of, first, own, serving
from executions.models import Membership, Tier, Workspace
from executions.replica import reading
from tests.support.cell_databases import second_cell

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "b"])
NAME = f"cell_b_{os.getpid()}"
DATABASE = "SELECT current_database()"


@pytest.fixture(name="b", scope="module")
def _b(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    with django_db_blocker.unblock(), second_cell(NAME) as made:
        yield made


@pytest.fixture(autouse=True)
def _left(b: str, db: None) -> Iterator[None]:
    yield
    for of in (b, "default"):
        with serving(of):
            Membership.objects.filter(workspace__slug="two").delete()
            Workspace.objects.filter(slug="two").delete()
            Tier.objects.filter(name__in=["one", "two"]).delete()


def database() -> str:
    """Return the name of the database that a statement uses."""
    return str(statements.run(statements.BoundStatement(DATABASE, {}, kept=False))[0][0])


def test_each_context_has_the_alias_of_its_cell(b: str) -> None:
    with serving(b):
        inside = alias(), cell(), database()

    assert inside == (b, "b", NAME)
    assert (alias(), cell(), own()) == ("default", "", first())
    assert database() != NAME
    assert aliases() == ("default", b)


def test_threads_that_copy_the_context_use_its_cell(b: str) -> None:
    with ThreadPoolExecutor(2) as pool, serving(b):
        copied = pool.submit(copy_context().run, _named_and_closed).result()
        others = pool.submit(_named_and_closed).result()

    assert copied == NAME
    assert others != NAME


def _named_and_closed() -> str:
    try:
        return database()
    finally:
        connections.close_all()


def test_a_row_is_written_to_the_cell_and_keeps_it(b: str) -> None:
    with serving(b):
        row = Tier.objects.create(name="two")
    row.max_pending = 7
    row.save()

    assert not Tier.objects.filter(name="two").exists()
    with serving(b):
        assert Tier.objects.get(name="two").max_pending == 7


def test_a_transaction_stays_in_the_cell_in_which_it_began(b: str) -> None:
    told: list[str] = []
    block = transaction.atomic()
    with serving(b):
        block.__enter__()
        Tier.objects.create(name="two")
        transaction.on_commit(lambda: told.append(alias()))
    assert connections[b].in_atomic_block
    assert not connection.in_atomic_block

    block.__exit__(None, None, None)

    assert told == [b]
    assert not connections[b].in_atomic_block
    with serving(b):
        assert Tier.objects.filter(name="two").exists()


@transaction.atomic
def _both(cells: list[str], told: list[tuple[str, bool]]) -> None:
    told.append((alias(), connection.in_atomic_block))
    if cells:
        with serving(cells[0]):
            _both(cells[1:], told)


def test_a_decorated_function_that_calls_itself_has_a_block_of_each_cell(b: str) -> None:
    told: list[tuple[str, bool]] = []

    _both([b, "default"], told)

    assert told == [("default", True), (b, True), ("default", True)]
    assert not connections[b].in_atomic_block
    assert not connection.in_atomic_block


def test_a_failed_transaction_of_a_cell_leaves_the_others(b: str) -> None:
    @transaction.atomic
    def fail() -> None:
        Tier.objects.create(name="two")
        raise ZeroDivisionError

    with transaction.atomic():
        Tier.objects.create(name="one")
        with serving(b), pytest.raises(ZeroDivisionError):
            fail()

    assert Tier.objects.filter(name="one").exists()
    with serving(b):
        assert not Tier.objects.filter(name="two").exists()


def test_accounts_are_copied_to_the_cell_whose_rows_name_them(b: str) -> None:
    user = get_user_model().objects.create_user("ada", password="secret-word-9")
    with serving(b):
        space = Workspace.objects.create(
            name="Two", slug="two", tier=Tier.objects.create(name="two")
        )
        assert accounts.apart()
        Membership.objects.create(user=user, workspace=space, role="ADMIN")
    copy = get_user_model().objects.using(b).get(pk=user.pk)
    user.email = "ada@example.org"
    user.save()

    assert not accounts.apart()
    assert copy.password.startswith("!copy$")
    assert get_user_model().objects.using(b).get(pk=user.pk).email == "ada@example.org"

    user.delete()

    assert not get_user_model().objects.using(b).filter(username="ada").exists()
    with serving(b):
        assert not Membership.objects.exists()


def test_a_sign_in_waits_for_no_cell(b: str) -> None:
    user = get_user_model().objects.create_user("eve", password="secret-word-9")
    with CaptureQueriesContext(connections[b]) as there:
        update_last_login(None, user)  # type: ignore[arg-type]

    assert not there.captured_queries
    user.delete()


def test_a_cell_without_its_own_database_is_reported(
    b: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connections.settings, "d", connections.settings["default"])
    with override_settings(VALKYR={"CELLS": [b, "c", "d"]}):
        found = {str(one.msg) for one in checks.databases(None) if one.id == "valkyr.E025"}
    connections["d"].close()
    del connections["d"]

    assert found == {
        "VALKYR['CELLS'] names 'c'; expected its database in DATABASES.",
        "The cell 'd' has the same database as 'default'; expected its own.",
    }


def test_beats_entries_are_in_the_database_of_their_triggers(b: str) -> None:
    with serving(b):
        assert router.db_for_write(PeriodicTask) == b
        assert router.db_for_write(get_user_model()) == "default"
    assert router.db_for_write(PeriodicTask) == "default"


def test_a_replica_of_the_first_database_is_not_read_for_another_cell(
    b: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connections.settings, reading.ALIAS, connections.settings["default"])
    monkeypatch.setattr(reading, "_watch", lambda: pytest.fail("asked for the replica"))
    with serving(b):
        found = reading.read(RequestFactory().get("/"), database)

    assert found == NAME


def test_our_tables_are_migrated_in_each_cell_and_nowhere_else(b: str) -> None:
    mine = Router()

    assert mine.allow_migrate("default", "executions") is True
    assert mine.allow_migrate(b, "executions") is True
    assert mine.allow_migrate("elsewhere", "executions") is False
    assert mine.allow_migrate(b, "auth") is None


def test_a_database_names_its_cell_where_that_is_not_its_alias(b: str) -> None:
    assert (alias_of("b"), cell_of("b"), cell_of("default")) == (b, "b", "")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"CELLS": ["Big"]}, "lower-case letters"),
        ({"CELLS": ["default"]}, "not 'default'"),
        ({"CELLS": "{broken"}, "a JSON object of names and addresses"),
        ({"CELLS": ["b"], "CELL": "c"}, "one of CELLS: b"),
        ({"CELL": "c"}, "none is set"),
    ],
)
def test_invalid_cells_are_named(given: dict[str, Any], told: str) -> None:
    with override_settings(VALKYR=given):
        found = [str(one) for one in problems([PlaceSettings])]

    assert told in found[0], found


def test_the_password_of_a_cells_address_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VALKYR_CELLS", '{"b": "postgres://valkyr:hidden@b/valkyr"')

    found = [str(one) for one in problems([PlaceSettings])]

    assert "hidden" not in found[0]
    assert "VALKYR_CELLS" in found[0]
