"""No reader sees another's rows, whether readers share sessions directly or behind a pooler."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import pgbouncer
from tests.support.folders import passable_folder
from tests.support.pgbouncer import PgBouncer
from tests.support.stack import PROJECT, clean_environment
from valkyr_project.embedded import Postgres


def run(environment: dict[str, str], *module: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *module],
        cwd=PROJECT, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def environment(url: str, home: Path) -> dict[str, str]:
    return clean_environment() | {
        "DATABASE_URL": url,
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
        "VALKYR_SECRET_KEY": os.environ["VALKYR_SECRET_KEY"],
        "VALKYR_KEY": os.environ["VALKYR_KEY"],
        "VALKYR_ROW_LEVEL_SECURITY": "1",
        "VALKYR_HOME": str(home),
    }


@pytest.mark.parametrize("pooled", [False, True])
def test_nobody_reads_what_is_not_theirs(pooled: bool) -> None:
    if pooled and pgbouncer.missing() and not os.environ.get("CI"):
        pytest.skip(pgbouncer.missing())
    with passable_folder() as home:
        server = Postgres(home, durable=False)
        url = server.start()
        pooler = PgBouncer(home, url, size=2)
        try:
            given = environment(url, home)
            if pooled:
                run(given | {"VALKYR_PROCESS": "migrate"}, "valkyr_project.migrate")
                pooler.start()
                given |= {"DATABASE_URL": pooler.url, "DATABASE_DIRECT_URL": url, "POOLED": "1"}

            said = run(given, "tests.servers.row_security_reads")
        finally:
            pooler.stop()
            server.stop()

    assert said.strip().splitlines()[-1] == "0 wrong"
