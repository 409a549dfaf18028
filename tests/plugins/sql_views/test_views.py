"""The views show a role only the rows of its workspaces, and contain no payloads."""

from collections.abc import Iterator

import psycopg
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection, transaction

from dlq.models import DeadLetterEntry
from executions.errors import NotFound, ValkyrError
from executions.models import Activity, Credential, Workflow, WorkflowExecution, Workspace
from runners.models import Run
from tests.plugins.sql_views.conftest import ACTOR, SqlWorld
from valkyr_plugins.sql_views import catalogue, granting, installing
from valkyr_plugins.sql_views.asking import SqlQuestion, ask
from valkyr_plugins.sql_views.catalogue import views
from valkyr_plugins.sql_views.granting import RoleLimits
from valkyr_plugins.sql_views.models import SqlGrant

NAMES = [view.name for view in views()]


@pytest.mark.parametrize("view", NAMES)
def test_a_role_sees_the_rows_of_its_workspace_alone(world: SqlWorld, view: str) -> None:
    column = "id" if view == "workspaces" else "workspace_id"
    for role, place in (("reads_here", world.here), ("reads_rival", world.there)):
        with world.connect(role) as session:
            found = session.execute(f"SELECT DISTINCT {column} FROM {view}".encode()).fetchall()
        assert found == [(place.pk,)]


def test_a_role_reads_no_table_and_not_the_list_of_grants(world: SqlWorld) -> None:
    models = (Workspace, Workflow, WorkflowExecution, Run, DeadLetterEntry, Credential, SqlGrant)
    hidden = [model._meta.db_table for model in models]
    with world.connect("reads_here", autocommit=True) as session:
        for name in (*(f"public.{table}" for table in hidden), installing.ALLOWED):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(f"SELECT * FROM {name}".encode())


def test_a_role_writes_nothing_even_if_it_switches_its_session_to_writing(world: SqlWorld) -> None:
    with world.connect("reads_here", autocommit=True) as session:
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            session.execute("CREATE TEMP TABLE kept (id int)")
        session.execute("SET default_transaction_read_only = off")
        for statement in (
            "UPDATE executions SET state = 'FAILED'",
            "DELETE FROM workspaces",
            "INSERT INTO workspaces (slug) VALUES ('mine')",
            "CREATE VIEW valkyr_views.mine AS SELECT 1",
        ):
            with pytest.raises(psycopg.Error) as refused:
                session.execute(statement.encode())
            assert isinstance(
                refused.value,
                psycopg.errors.InsufficientPrivilege | psycopg.errors.ObjectNotInPrerequisiteState,
            )


def test_the_views_have_no_column_that_a_workspace_can_seal(world: SqlWorld) -> None:
    from django.apps import apps

    from executions.models.sealed_columns import SealedColumnMixin

    sealed = {
        (model._meta.db_table, field.column)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, SealedColumnMixin)
    }
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.view_column_usage"
            " WHERE view_schema = 'valkyr_views'"
        )
        read = {(table, column) for table, column in cursor.fetchall()}
    assert ("executions_workflowexecution", "state") in read
    assert not sealed & read


def test_the_columns_of_the_catalogue_are_those_of_the_views(world: SqlWorld) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, array_agg(column_name::text ORDER BY ordinal_position)"
            " FROM information_schema.columns WHERE table_schema = 'valkyr_views'"
            " AND table_name <> %s GROUP BY 1",
            [installing.ALLOWED],
        )
        found = dict(cursor.fetchall())
    assert found == {view.name: [one.name for one in view.columns] for view in views()}


def test_labels_are_columns(world: SqlWorld) -> None:
    WorkflowExecution.objects.filter(workspace=world.here).update(labels={"order": "4711"})
    DeadLetterEntry.objects.filter(workspace=world.here).update(labels={"order": "4711"})
    with world.connect("reads_here") as session:
        for view in ("executions", "dead_letters"):
            found = session.execute(f"SELECT DISTINCT labels ->> 'order' FROM {view}".encode())
            assert found.fetchall() == [("4711",)]


def test_every_column_is_described_in_postgresql(world: SqlWorld) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
            " WHERE c.relnamespace = 'valkyr_views'::regnamespace AND c.relname <> %s"
            " AND col_description(c.oid, a.attnum) IS NULL AND a.attnum > 0",
            [installing.ALLOWED],
        )
        assert cursor.fetchall() == []


def test_a_grant_takes_effect_in_open_sessions_and_is_audited(world: SqlWorld) -> None:
    count = b"SELECT count(*) FROM workspaces"
    with world.connect("reads_here", autocommit=True) as session:
        session.execute("PREPARE mine AS SELECT count(*) FROM workspaces")
        granting.grant("reads_here", ["rival"], RoleLimits(), actor=ACTOR, reason="the report")
        try:
            assert session.execute("EXECUTE mine").fetchone() == (2,)
        finally:
            granting.revoke("reads_here", ["rival"], actor=ACTOR)
        assert session.execute("EXECUTE mine").fetchone() == (1,)
        assert session.execute(count).fetchone() == (1,)
    lines = Activity.objects.filter(object_id="reads_here", workspace=world.there)
    assert list(lines.order_by("id").values_list("action", "reason")) == [
        ("sql_role.grant", "the report"),
        ("sql_role.revoke", ""),
    ]


def test_a_revoked_role_cannot_sign_in_and_its_open_session_sees_nothing(world: SqlWorld) -> None:
    world.passwords["leaves"] = granting.grant("leaves", ["here"], RoleLimits(), actor=ACTOR)
    with world.connect("leaves", autocommit=True) as session:
        assert session.execute("SELECT count(*) FROM workspaces").fetchone() == (1,)
        assert granting.revoke("leaves", [], actor=ACTOR)
        with pytest.raises(psycopg.Error):
            session.execute("SELECT count(*) FROM workspaces")
    with pytest.raises(psycopg.OperationalError):
        world.connect("leaves")


def test_connections_of_a_role_are_limited(world: SqlWorld) -> None:
    limits = RoleLimits(connections=1)
    world.passwords["alone"] = granting.grant("alone", ["here"], limits, actor=ACTOR)
    try:
        with (
            world.connect("alone"),
            pytest.raises(psycopg.OperationalError, match="too many connections"),
        ):
            world.connect("alone")
    finally:
        granting.revoke("alone", [], actor=ACTOR)


def test_another_grant_keeps_the_limits_that_it_does_not_name(world: SqlWorld) -> None:
    first = RoleLimits(seconds=7, connections=3)
    world.passwords["limited"] = granting.grant("limited", ["here"], first, actor=ACTOR)
    try:
        granting.grant("limited", ["rival"], RoleLimits(connections=2), actor=ACTOR)

        [role] = [one for one in granting.granted() if one.role == "limited"]
        assert (role.workspaces, role.connections) == (["here", "rival"], 2)
        with world.connect("limited") as session:
            assert session.execute("SHOW statement_timeout").fetchone() == ("7s",)
    finally:
        granting.revoke("limited", [], actor=ACTOR)


def test_a_role_of_others_is_refused(world: SqlWorld) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE of_others LOGIN")
    try:
        with pytest.raises(ValkyrError, match="was not created by this command"):
            granting.grant("of_others", ["here"], RoleLimits(), actor=ACTOR)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP ROLE of_others")
    assert not SqlGrant.objects.filter(role="of_others").exists()


def test_tables_that_everybody_may_read_are_refused(world: SqlWorld) -> None:
    with connection.cursor() as cursor:
        cursor.execute("GRANT SELECT (id) ON runners_run TO PUBLIC")
    try:
        with pytest.raises(ValkyrError, match=r"could read these tables.*runners_run"):
            granting.grant("curious", ["here"], RoleLimits(), actor=ACTOR)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("REVOKE SELECT (id) ON runners_run FROM PUBLIC")
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = 'curious'")
        assert cursor.fetchall() == [], "the transaction also reverts the role"


@pytest.mark.parametrize("name", ["Metabase", "pg_mine", "1st", "a b", 'a"b', "a" * 64])
def test_a_role_needs_a_plain_name(world: SqlWorld, name: str) -> None:
    with pytest.raises(ValkyrError, match="is not valid; expected"):
        granting.grant(name, ["here"], RoleLimits(), actor=ACTOR)


def test_unknown_workspaces_and_grants_are_named(world: SqlWorld) -> None:
    with pytest.raises(NotFound, match="no workspace 'nowhere'"):
        granting.grant("reads_here", ["nowhere"], RoleLimits(), actor=ACTOR)
    with pytest.raises(NotFound, match="has no such grant"):
        granting.revoke("reads_here", ["rival"], actor=ACTOR)


def test_migrations_that_change_a_column_find_no_view_and_leave_all_of_them(
    world: SqlWorld,
) -> None:
    before = _definitions()
    installing.drop_views()
    assert _definitions() == {}
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE executions_workflow ALTER COLUMN slug TYPE varchar(90)")
        cursor.execute("ALTER TABLE executions_workflow ALTER COLUMN slug TYPE varchar(80)")

    call_command("migrate", verbosity=0)

    assert _definitions() == before
    with world.connect("reads_here") as session:
        assert session.execute("SELECT count(*) FROM workspaces").fetchone() == (1,)


def test_migrations_drop_the_views_only_if_there_is_something_to_do(world: SqlWorld) -> None:
    before = _definitions()
    installing._before_migrate(using="default", plan=[])
    assert _definitions() == before
    installing._before_migrate(using="default", plan=[("one", False)])
    assert _definitions() == {}
    installing._after_migrate(using="default")
    assert _definitions() == before


def test_views_on_the_views_are_named(world: SqlWorld) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE VIEW on_top AS SELECT id FROM valkyr_views.workspaces")
    try:
        with pytest.raises(ImproperlyConfigured, match="view on_top depends on"):
            installing.drop_views()
        assert {view.name for view in views()} <= set(_definitions())
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP VIEW on_top")


def test_a_schema_with_objects_of_others_is_not_removed() -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE VIEW valkyr_views.notes AS SELECT 1 AS one")
    try:
        with pytest.raises(ImproperlyConfigured, match=r"view valkyr_views\.notes depends on"):
            installing.remove()
        assert {view.name for view in views()} <= set(_definitions())
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP VIEW valkyr_views.notes")


@pytest.fixture
def no_redrives(world: SqlWorld) -> Iterator[None]:
    """Remove the plugin `redrive` after its view was created; add the plugin again afterwards."""
    assert "redrives" in _definitions()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(catalogue.PLUGINS, "redrives", "valkyr_plugins.removed")
        yield
    installing.install()
    assert "redrives" in _definitions()


def test_the_view_of_a_removed_plugin_is_dropped(world: SqlWorld, no_redrives: None) -> None:
    assert installing.install()

    assert set(_definitions()) == {installing.ALLOWED, *catalogue.ENGINE}
    assert not installing.install()
    with world.connect("reads_here") as session:
        assert session.execute("SELECT count(*) FROM workspaces").fetchone() == (1,)


def test_migrations_drop_the_view_of_a_removed_plugin(no_redrives: None) -> None:
    installing._before_migrate(using="default", plan=[("one", False)])

    assert _definitions() == {}


def test_the_schema_is_dropped_with_the_view_of_a_removed_plugin(no_redrives: None) -> None:
    installing.remove()

    assert not installing.is_installed()


def test_a_role_that_could_read_the_view_of_a_removed_plugin_is_dropped(world: SqlWorld) -> None:
    granting.grant("reads_redrives", ["here"], RoleLimits(), actor=ACTOR)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(catalogue.PLUGINS, "redrives", "valkyr_plugins.removed")

        assert granting.revoke("reads_redrives", [], actor=ACTOR)


def test_views_of_others_in_the_schema_are_never_dropped(no_redrives: None) -> None:
    installing.install()
    with connection.cursor() as cursor:
        cursor.execute("CREATE VIEW valkyr_views.redrives AS SELECT 1 AS mine")
        cursor.execute("CREATE VIEW valkyr_views.other AS SELECT 2 AS mine")
    try:
        installing.drop_views()
        assert set(_definitions()) == {"redrives", "other"}
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(catalogue.PLUGINS, "redrives", "valkyr_plugins.redrive")
            with pytest.raises(ImproperlyConfigured, match="did not create: redrives"):
                installing.install()
        installing.install()
        assert {"redrives", "other"} < set(_definitions())
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP VIEW valkyr_views.redrives, valkyr_views.other")


def test_the_views_of_version_0_1_0_are_recreated(world: SqlWorld) -> None:
    before = _definitions()
    with connection.cursor() as cursor:
        cursor.execute(f"COMMENT ON SCHEMA valkyr_views IS '{installing.MARK}{'0' * 64}'")

    assert installing.install()

    assert _definitions() == before


@pytest.mark.parametrize(
    "lost",
    [
        "ALTER FUNCTION valkyr_views.run_statement(text, bigint) OWNER TO CURRENT_USER",
        "DROP FUNCTION valkyr_views.run_statement(text, bigint)",
        "REVOKE SELECT ON valkyr_views.steps FROM valkyr_views_reader",
        "REVOKE USAGE ON SCHEMA valkyr_views FROM reads_here",
    ],
)
def test_owners_and_rights_that_a_restore_did_not_restore_are_set_again(
    world: SqlWorld, lost: str
) -> None:
    before = _definitions()
    with connection.cursor() as cursor:
        cursor.execute(lost)

    assert installing.install()

    assert _definitions() == before
    found = ask(SqlQuestion(statement="SELECT current_user, id FROM workspaces",
                            workspaces=[world.here.pk]))  # fmt: skip
    assert found.rows == [("valkyr_views_reader", world.here.pk)]
    with world.connect("reads_here") as session:
        assert session.execute("SELECT count(*) FROM workspaces").fetchone() == (1,)
    assert not installing.install()


def test_a_schema_of_others_is_left_alone(world: SqlWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    from executions import configuration

    monkeypatch.setenv("VALKYR_SQL_VIEWS_SCHEMA", "public")
    configuration.forget()
    try:
        with pytest.raises(ImproperlyConfigured, match="schema public exists"):
            installing.install()
    finally:
        monkeypatch.undo()
        configuration.forget()


def test_a_role_that_may_not_create_schemas_is_told_the_remedy(
    world: SqlWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    from executions import configuration

    monkeypatch.setenv("VALKYR_SQL_VIEWS_SCHEMA", "elsewhere")
    configuration.forget()
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("CREATE ROLE elsewhere_reader; CREATE ROLE no_schemas")
                cursor.execute("GRANT elsewhere_reader TO no_schemas; SET LOCAL ROLE no_schemas")
            with pytest.raises(ImproperlyConfigured, match=r'ON DATABASE .* TO "no_sch'):
                installing.install()
            transaction.set_rollback(True)
    finally:
        monkeypatch.undo()
        configuration.forget()


def _definitions() -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, pg_get_viewdef(oid)"
            " || ARRAY(SELECT unnest(relacl)::text ORDER BY 1)::text"
            " FROM pg_class WHERE relnamespace = 'valkyr_views'::regnamespace AND relkind = 'v'"
        )
        return dict(cursor.fetchall())
