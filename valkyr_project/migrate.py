"""`python -m valkyr_project.migrate`: migrate the tables to this version, in one process at a time.

With `--wait SECONDS`, the command changes nothing, but waits at most this time until another
process has migrated the tables. Without `--wait`, the command also creates the administrator if
VALKYR_ADMIN_PASSWORD is set.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence

import django
import psycopg

from executions import environment as env
from executions.database.advisory_locks import AdvisoryLock
from valkyr_project.database import past_poolers

PAUSE_SECONDS = 1.0


def main(arguments: Sequence[str] | None = None) -> str:
    """Migrate the tables, or wait for their migration; return the reason for a failure, or ""."""
    parser = argparse.ArgumentParser(prog="python -m valkyr_project.migrate", description=__doc__)
    parser.add_argument("--wait", type=float, metavar="SECONDS")
    seconds = parser.parse_args(arguments).wait
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "valkyr_project.settings")
    # Bypass a pooler, because locks and limits belong to a session, which can change with each
    # statement there.
    if direct := env.text("DATABASE_DIRECT_URL"):
        os.environ["DATABASE_URL"] = direct
        del os.environ["DATABASE_DIRECT_URL"]
    if cells := env.text("VALKYR_CELLS"):
        os.environ["VALKYR_CELLS"] = past_poolers(cells)
    django.setup()
    if seconds is not None:
        return _wait(seconds)
    _migrate()
    return ""


def _migrate() -> None:
    """Migrate under an advisory lock in a separate session, so that a second process waits."""
    from django.core.management import call_command

    from valkyr_project.messaging.beat import direct_conninfo

    with psycopg.connect(direct_conninfo(), autocommit=True) as session:
        session.execute("SELECT pg_advisory_lock(%s)", [AdvisoryLock.MIGRATION])
        call_command("migrate", interactive=False)
        # Accounts are in the first database; cells only have copies.
        if os.environ.get("VALKYR_ADMIN_PASSWORD") and not env.text("VALKYR_CELL"):
            call_command("ensure_admin")


def _wait(seconds: float) -> str:
    deadline = time.monotonic() + seconds
    while reason := _missing():
        if time.monotonic() > deadline:
            return f"After {seconds:g} s {reason}"
        time.sleep(PAUSE_SECONDS)
    return ""


def _missing() -> str:
    """Return the reason if migrations are not applied or the database does not answer; else ""."""
    from django.db import DatabaseError
    from django.db.migrations.executor import MigrationExecutor

    from executions.database import connection

    try:
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        return f"the database does not answer: {error}"
    finally:
        connection.close()
    names = ", ".join(f"{migration.app_label}.{migration.name}" for migration, _ in plan[:3])
    return (
        (f"{len(plan)} migrations are not applied ({names}); run the job `migrate`.")
        if plan
        else ""
    )


if __name__ == "__main__":
    sys.exit(main() or 0)
