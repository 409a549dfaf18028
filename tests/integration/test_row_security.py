"""PostgreSQL shows a request no row of another workspace, even if its queries have no filter."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import ProgrammingError, connection, models, transaction

from executions import configuration
from executions.access.row_security import scope_of
from executions.database import row_security
from executions.database.row_scope import limited
from executions.database.statements import BoundStatement, run, run_together
from executions.models import Credential, Workflow
from runners.models import Runner
from tests.support.two_workspaces import limited_models, pks, planted

pytestmark = pytest.mark.django_db
MODELS = limited_models()


@pytest.fixture(scope="module", autouse=True)
def world(kept_world: None, row_level_security: None) -> Iterator[SimpleNamespace]:
    here, boss, own = planted("here")
    there, stranger, foreign = planted("there")
    return SimpleNamespace(
        here=here, boss=boss, own=own, there=there, stranger=stranger, foreign=foreign
    )


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_a_query_without_any_filter_shows_own_rows_alone(
    world: SimpleNamespace, model: type[models.Model]
) -> None:
    assert world.own[model], "nothing was planted, so nothing would be shown"
    assert world.foreign[model], "nothing was planted elsewhere, so nothing could be hidden"
    shared = set(Runner.objects.filter(workspace=None).values_list("pk", flat=True))
    shared = shared if model is Runner else set()

    with limited(scope_of(world.boss)):
        mine = set(model._base_manager.values_list("pk", flat=True))
    with limited(scope_of(world.stranger)):
        theirs = set(model._base_manager.values_list("pk", flat=True))

    assert mine == world.own[model] | shared
    assert theirs == world.foreign[model] | shared


def test_without_a_scope_all_rows_are_seen(world: SimpleNamespace) -> None:
    everything = pks()

    for model in MODELS:
        assert everything[model] >= world.own[model] | world.foreign[model]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_rows_of_another_workspace_cannot_be_changed_or_deleted(
    world: SimpleNamespace, model: type[models.Model]
) -> None:
    # With a composite key: the first column of it, which is the row that owns it.
    table, [key, *_] = model._meta.db_table, [one.column for one in model._meta.pk_fields]
    listed = [str(pk[0] if isinstance(pk, tuple) else pk) for pk in world.foreign[model]]
    if model is Runner:
        known = Runner.objects.filter(pk__in=listed).exclude(workspace=None)
        listed = [str(pk) for pk in known.values_list("pk", flat=True)]
    with limited(scope_of(world.boss)), connection.cursor() as cursor:
        for statement in (
            f"UPDATE {table} SET {key} = {key} WHERE {key}::text = ANY(%s)",
            f"DELETE FROM {table} WHERE {key}::text = ANY(%s)",
        ):
            cursor.execute(statement, [listed])
            assert cursor.rowcount == 0


def test_rows_are_written_in_own_workspaces_alone(world: SimpleNamespace) -> None:
    with limited(scope_of(world.boss)):
        made = Workflow.objects.create(workspace=world.here, name="own", slug="own")
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            Workflow.objects.create(workspace=world.there, name="theirs", slug="theirs")
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            Workflow.objects.filter(pk=made.pk).update(workspace=world.there)

        assert Workflow.objects.filter(slug__in=["own", "theirs"]).get() == made


def test_statements_by_hand_are_limited_too(world: SimpleNamespace) -> None:
    count = BoundStatement("SELECT count(*) FROM executions_credential", {}, kept=True)
    own = len(world.own[Credential])
    everything = Credential.objects.count()

    with limited(scope_of(world.boss)):
        alone, together = run(count), run_together([count, count])
    after = run(count)

    assert (alone, together) == ([(own,)], [[(own,)], [(own,)]])
    assert after == [(everything,)]
    assert everything > own


def test_a_savepoint_that_is_undone_keeps_the_scope(world: SimpleNamespace) -> None:
    own = len(world.own[Workflow])
    everything = Workflow.objects.count()

    with limited(scope_of(world.boss)):
        with transaction.atomic():
            within = Workflow.objects.count()
            transaction.set_rollback(True)
        undone = Workflow.objects.count()
        with pytest.raises(ProgrammingError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT no_such_thing")
        failed = Workflow.objects.count()

    assert (within, undone, failed) == (own, own, own)
    assert Workflow.objects.count() == everything


def test_scopes_follow_each_other_in_one_transaction(world: SimpleNamespace) -> None:
    for _ in range(2):
        with limited(scope_of(world.boss)):
            assert set(_ids()) == world.own[Workflow]
        with limited(scope_of(world.stranger)):
            assert set(_ids()) == world.foreign[Workflow]


def test_an_iterator_over_chunks_is_limited(world: SimpleNamespace) -> None:
    with limited(scope_of(world.boss)):
        found = {row.pk for row in Workflow.objects.iterator(chunk_size=1)}

    assert found == world.own[Workflow]


def test_a_superuser_and_nobody_are_not_limited(world: SimpleNamespace, rf: Any) -> None:
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import AnonymousUser

    root = get_user_model().objects.create_superuser("root-of-all")

    assert scope_of(root) is None
    assert scope_of(AnonymousUser()) is None


def _ids() -> Any:
    return Workflow.objects.values_list("pk", flat=True)


def test_a_role_that_may_not_create_roles_is_told_what_to_run(
    world: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_ROW_LEVEL_SECURITY_ROLE", "not_yet_scoped")
    configuration.forget()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("CREATE ROLE may_little NOLOGIN")
            cursor.execute("SET LOCAL ROLE may_little")
            with pytest.raises(ImproperlyConfigured) as refused:
                row_security.install()
            transaction.set_rollback(True)
    finally:
        monkeypatch.undo()
        configuration.forget()

    assert "permission denied to create role" in str(refused.value)
    assert 'CREATE ROLE "not_yet_scoped" NOLOGIN; GRANT "not_yet_scoped" TO' in str(refused.value)
