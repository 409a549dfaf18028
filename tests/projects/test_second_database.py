"""Valkyr's tables on a second alias.

There is no database at `default`: a query there fails its caller.
"""

from pathlib import Path

import pytest

from tests.projects.conftest import Running
from tests.support.waiting import wait_until


def test_every_page_of_the_admin_reads_the_second_database(second: Running) -> None:
    told = second.project.run("-W", "ignore", "-m", "tests.projects.people.walk").splitlines()

    assert told[:-1] == []


def test_every_periodic_task_works_on_the_second_database(second: Running) -> None:
    told = second.project.run("-W", "ignore", "-m", "tests.projects.people.ticks").splitlines()

    assert told[:-1] == []


def test_an_execution_is_started_run_and_read_there(second: Running) -> None:
    path = f"/v1/WorkflowExecution/{second.ids['chain']}/execute"
    pk = second.ask("post", path, json={}, headers={"Idempotency-Key": "1"}).json()["id"]

    def ended() -> bool:
        state = second.ask("get", f"/v1/WorkflowExecution/{pk}").json()["state"]
        assert state in {"PENDING", "RUNNING", "SUCCESS"}, state
        return bool(state == "SUCCESS")

    with second.project.worker():
        wait_until(ended, 60, "the execution's success")
    runs = second.ask("get", f"/v1/Run?executionId={pk}").json()

    assert [run["state"] for run in runs] == ["SUCCESS", "SUCCESS"]


def test_migrating_the_projects_first_database_makes_none_of_our_tables(second: Running) -> None:
    project = second.project
    shop = f"{project.database}_shop"
    with project.databases(shop, own=False):
        project.run(
            "manage.py", "migrate", "-v0", "--database", "default",
            SHOP_DATABASE_URL=project.url(shop),
        )  # fmt: skip
        found = project.rows(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'", database=shop
        )

    assert found == [("django_migrations",)]


def test_our_models_follow_the_alias_and_the_projects_follow_their_own_router(
    second: Running,
) -> None:
    asked = (
        "import django; django.setup(); from django.db import router;"
        "from executions.models import Workflow; from tests.projects.people.models import Person;"
        "from executions.database import alias;"
        "print(alias(), router.db_for_write(Workflow), router.db_for_read(Person))"
    )

    assert second.project.run("-c", asked).split() == ["workflows"] * 3


# Two aliases of one database: ours with its own pool, limits or role.


def test_two_aliases_of_one_database_share_its_tables(twin: Running) -> None:
    told = twin.project.run("-W", "ignore", "-m", "tests.projects.people.walk").splitlines()

    assert told[:-1] == []


def test_a_sessions_settings_hold_for_our_statements_alone(twin: Running) -> None:
    asked = (
        "import django; django.setup(); from django.db import connections;"
        "from executions.database.statements import fetch;"
        "from executions.models import Workflow; from tests.projects.people.models import Person;"
        "print(Workflow.objects.db, Person.objects.db, Workflow.objects.count() > 0);"
        "cursor = connections['workflows'].cursor();"
        "cursor.execute('SHOW application_name'); print(cursor.fetchone()[0])"
    )

    said = twin.project.run("-c", asked).split()

    assert said == ["workflows", "default", "True", "valkyr-only"]


@pytest.mark.parametrize(
    ("code", "settings"),
    [
        ("valkyr.E020", "VALKYR = {'DATABASE': 'nowhere'}"),
        ("valkyr.E021", "VALKYR = {'DATABASE': 'files'}"),
        ("valkyr.E022", "VALKYR = {'DATABASE': 'other'}"),
        ("valkyr.E023", "DATABASE_ROUTERS = [ROUTERS + 'Nothing']; VALKYR = {'DATABASE': 'other'}"),
    ],
)
def test_databases_that_cannot_work_are_refused_by_name(
    twin: Running, code: str, settings: str, tmp_path: Path
) -> None:
    (tmp_path / "wrong.py").write_text(
        "from tests.projects.people.settings import *\n"
        "DATABASES['files'] = {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}\n"
        "DATABASES['other'] = DATABASES['default'] | {'NAME': 'other'}\n"
        "ROUTERS = 'tests.projects.second.routers.'\n"
        "DATABASE_ROUTERS = [ROUTERS + 'Elsewhere']\n" + settings + "\n"
    )

    told = twin.project.refused(
        "manage.py", "check", DJANGO_SETTINGS_MODULE="wrong",
        PYTHONPATH=f"{tmp_path}:{twin.project.environment['PYTHONPATH']}",
    )  # fmt: skip

    assert code in told
