"""A migrated database from which the tests' own is copied: migrating takes five CPU seconds.

If there is none for these migrations and packages, it is migrated and its dump is stored beside
pytest's cache; later sessions, and the other processes of this one, load that dump. `migrate` runs
on every copy too: it finds nothing to migrate and updates what depends on the models.
"""

import fcntl
import hashlib
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from psycopg import sql
from psycopg.conninfo import make_conninfo

from valkyr_project.embedded.account import server_account
from valkyr_project.embedded.folders import postgres_bin

NAME = "migrated"
PINNED = Path(__file__).parents[2] / "requirements.txt"


def provide(folder: Path) -> str:
    """Create a migrated database on the tests' server, from a dump in `folder`; return its name."""
    dump = folder / f"{fingerprint()}.sql"
    _execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(NAME)))
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not dump.exists():
            _make(dump)
            return NAME
    _run("psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={dump}")
    return NAME


@contextmanager
def copied(name: str) -> Iterator[None]:
    """Create a copy of the migrated database, for a pytest session that a test starts; drop it at
    the end.
    """
    copy = sql.Identifier(name)
    _execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(copy, sql.Identifier(NAME)))
    try:
        yield
    finally:
        _execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(copy))


def fingerprint() -> str:
    """Return a hash of what a migrated database depends on: the migrations of all apps, and the
    packages.
    """
    made = hashlib.sha256(PINNED.read_bytes())
    for app in apps.get_app_configs():
        module, _ = MigrationLoader.migrations_module(app.label)
        assert module in {None, f"{app.name}.migrations"}, f"{module} is not looked at"
        for file in sorted(Path(app.path, "migrations").glob("**/*.py")):
            made.update(file.read_bytes())
    return made.hexdigest()


def _make(dump: Path) -> None:
    """Migrate the database and store its dump, completely or not at all; delete older dumps."""
    with _connected_to(NAME):
        call_command("migrate", verbosity=0)
    fresh = dump.with_suffix(".new")
    _run("pg_dump", "--no-owner", f"--file={fresh}")
    for old in dump.parent.glob("*.sql"):
        old.unlink()
    fresh.replace(dump)


@contextmanager
def _connected_to(name: str) -> Iterator[None]:
    """Use that database for Django's connection during the block."""
    usual = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = usual


def _run(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs on the migrated database; discard its output."""
    subprocess.run(
        [postgres_bin(server_account()) / program, f"--dbname={_address(NAME)}", *arguments],
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=120,
    )


def _execute(statement: sql.Composed) -> None:
    with psycopg.connect(_address("postgres"), autocommit=True) as server:
        server.execute(statement)


def _address(name: str) -> str:
    """Return the address of a database on the tests' server."""
    given = settings.DATABASES["default"]
    return make_conninfo(
        host=given["HOST"],
        port=given["PORT"],
        user=given["USER"],
        password=given["PASSWORD"],
        dbname=name,
    )
