"""The effects of `migrate` on its connection."""

from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, models
from django.db.migrations.state import ProjectState
from django.db.models.signals import pre_migrate
from django.test.utils import CaptureQueriesContext

from executions.database.migrations import AddIndexWhileWritten

LIMITS = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
pytestmark = pytest.mark.django_db


def limits() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join('current_setting(%s)' for _ in LIMITS)}", LIMITS)
        return list(cursor.fetchone())


def limits_while_migrating() -> list[str]:
    seen: list[str] = []

    def look(**_: Any) -> None:
        seen.extend(limits())

    later = apps.get_app_config("runners")
    pre_migrate.connect(look, sender=later)
    try:
        call_command("migrate", verbosity=0)
    finally:
        pre_migrate.disconnect(look, sender=later)
    return seen


def test_who_migrates_has_all_time_but_for_locks_and_the_usual_limits_afterwards() -> None:
    before = limits()

    assert limits_while_migrating() == ["3s", "0", "0"]
    assert limits() == before
    assert "0" not in before


def test_behind_a_pooler_nothing_is_set_that_another_client_would_find(
    settings: Any,
) -> None:
    before = limits()
    settings.VALKYR = settings.VALKYR | {"DATABASE_DIRECT_URL": "postgres://elsewhere"}

    assert limits_while_migrating() == before


INDEX = models.Index(
    fields=["version", "id"], condition=models.Q(canary=True), name="execution_canary"
)


def is_valid() -> bool | None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('execution_canary')"
        )
        row = cursor.fetchone()
    return None if row is None else bool(row[0])


@pytest.mark.django_db(transaction=True)
def test_an_index_is_built_without_a_lock_and_an_interrupted_build_is_repeated() -> None:
    state = ProjectState.from_apps(apps)
    build = AddIndexWhileWritten("workflowexecution", INDEX)
    before = limits()

    with connection.schema_editor(atomic=False) as editor, connection.cursor() as cursor:
        build.database_forwards("executions", editor, state, state)  # it exists: it stays
        cursor.execute("UPDATE pg_index SET indisvalid = false "
                       "WHERE indexrelid = 'execution_canary'::regclass")  # fmt: skip
        with CaptureQueriesContext(connection) as found:
            build.database_forwards("executions", editor, state, state)

    statements = [query["sql"] for query in found]
    assert any(one.startswith("CREATE INDEX CONCURRENTLY") for one in statements), statements
    assert is_valid()
    assert limits() == before
