"""The SQL views, installed by a role without superuser rights: behind a pooler, on a replica."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tests.support import pgbouncer
from tests.support.fleet import database_url
from tests.support.pgbouncer import PgBouncer
from tests.support.replication import Standby, copy_database, primary
from tests.support.stack import PROJECT, clean_environment
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.django_db]
APP = "CREATE ROLE app LOGIN NOSUPERUSER CREATEROLE PASSWORD 'of-the-app'"


def as_role(url: str, role: str, password: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{role}:{password}@{parts.hostname}:{parts.port}"))


@dataclass(frozen=True, slots=True)
class Installed:
    """A database of the role `app`, and the command `valkyr` with it."""

    superuser: str
    home: Path
    more: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The URL for the role that owns the tables."""
        return as_role(self.superuser, "app", "of-the-app")

    def valkyr(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `valkyr`; return the result."""
        environment = clean_environment() | {
            "DATABASE_URL": self.url,
            "REDIS_URL": "redis://127.0.0.1:1/0",
            "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
            "VALKYR_SECRET_KEY": os.environ["VALKYR_SECRET_KEY"],
            "VALKYR_KEY": os.environ["VALKYR_KEY"],
            "VALKYR_HOME": str(self.home),
        }
        return subprocess.run(
            [sys.executable, "-m", "valkyr", *arguments],
            cwd=PROJECT, env=environment | self.more, capture_output=True, text=True, check=False,
            timeout=120,
        )  # fmt: skip

    def ran(self, *arguments: str) -> tuple[str, str]:
        """Run `valkyr`, which must succeed; return its output and its messages."""
        done = self.valkyr(*arguments)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout.strip(), done.stderr


@pytest.fixture(scope="module")
def installed(engine: None, django_db_blocker: Any, home: Path) -> Iterator[Installed]:
    with primary(home) as server:
        with psycopg.connect(server.url, autocommit=True) as session:
            session.execute(APP)
            session.execute("ALTER DATABASE valkyr OWNER TO app")
        made = Installed(server.url, home)
        with django_db_blocker.unblock():
            copy_database(database_url(), made.url)
        made.ran("manage", "valkyr_views", "install")
        yield made


def test_a_role_with_createrole_installs_the_views_and_creates_logins(installed: Installed) -> None:
    assert "up to date" in installed.ran("manage", "valkyr_views", "install")[0]
    grant = ("manage", "valkyr_views", "grant", "metabase", "--workspace", "default")
    password, _ = installed.ran(*grant)
    with psycopg.connect(as_role(installed.superuser, "metabase", password)) as session:
        assert session.execute("SELECT slug FROM workspaces").fetchall() == [("default",)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute("SELECT * FROM public.executions_workspace")
    said, _ = installed.ran("manage", "valkyr_views", "revoke", "metabase")
    assert said == "The role metabase was dropped."


def test_valkyr_sql_passes_its_options_on(installed: Installed) -> None:
    found, place = installed.ran("sql", "--format", "csv", "SELECT slug FROM workspaces")
    assert found.split() == ["slug", "default"]
    assert "1 rows from the primary." in place
    assert "executions: Executions, one row each." in installed.ran("sql", "--list")[0]
    refused = installed.valkyr("sql", "SELECT set_config('role', 'app', true)")
    assert refused.returncode == 1
    assert 'cannot set parameter "role"' in refused.stderr
    refused = installed.valkyr("sql", "SELECT count(*) FROM public.executions_workspace")
    assert "permission denied" in refused.stderr


def test_valkyr_sql_leaves_no_setting_in_a_pooled_session(installed: Installed) -> None:
    if pgbouncer.missing() and not os.environ.get("CI"):
        pytest.skip(pgbouncer.missing())
    pooler = PgBouncer(installed.home, installed.url, size=1)
    try:
        pooler.start()
        more = {"DATABASE_URL": pooler.url, "DATABASE_DIRECT_URL": installed.url}
        pooled = Installed(installed.superuser, installed.home, more)
        found, _ = pooled.ran("sql", "SELECT slug FROM workspaces", "--format", "csv")
        assert found.split() == ["slug", "default"]
        settings = "SELECT current_user, current_setting('statement_timeout')"
        with psycopg.connect(pooler.url) as session, psycopg.connect(installed.url) as fresh:
            assert session.execute(settings).fetchone() == fresh.execute(settings).fetchone()
            # Known, so the session is the one that ran the command.
            assert session.execute("SHOW valkyr.sql_workspaces").fetchone() == ("",)
    finally:
        pooler.stop()


def test_valkyr_sql_reads_a_replica_until_it_stops_answering(installed: Installed) -> None:
    standby = Standby(installed.home, installed.superuser)
    try:
        standby.start()
        replica = as_role(standby.url, "app", "of-the-app")
        read = Installed(installed.superuser, installed.home, {"DATABASE_REPLICA_URL": replica})
        grant = ("manage", "valkyr_views", "grant", "grafana", "--workspace", "default")
        password, _ = read.ran(*grant)
        login = as_role(standby.url, "grafana", password)
        wait_until(lambda: _reads(login), 20, "the role on the replica")
        found, place = read.ran("sql", "SELECT slug FROM workspaces", "--format", "csv")
        assert found.split() == ["slug", "default"]
        assert "1 rows from the replica, which can lag." in place
        assert "from the primary" in read.ran("sql", "--primary", "SELECT 1 AS one")[1]
    finally:
        standby.close()
    assert "from the primary" in read.ran("sql", "SELECT 1 AS one")[1]


def _reads(url: str) -> bool:
    try:
        with psycopg.connect(url) as session:
            return session.execute("SELECT slug FROM workspaces").fetchall() == [("default",)]
    except psycopg.Error:
        return False
