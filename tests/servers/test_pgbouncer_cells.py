"""A cell whose processes reach its PostgreSQL through PgBouncer, beside a first database without.

The pooler has fewer sessions than the processes have threads.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import psycopg
import pytest

from executions.database.advisory_locks import AdvisoryLock
from executions.database.routing import serving
from tests.support import nursery, pgbouncer
from tests.support.auditor import audit
from tests.support.cell_databases import CELL
from tests.support.cell_fleet import Cell, cell_with_workers, run
from tests.support.fleet import QUICK
from tests.support.pgbouncer import PgBouncer

pytestmark = [
    pytest.mark.skipif(
        bool(pgbouncer.missing()) and not os.environ.get("CI"), reason=pgbouncer.missing()
    ),
]
HOLDERS = """
    SELECT client_port FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND (classid::bigint << 32) + objid::bigint = %s
"""


@pytest.fixture(name="cell", scope="module")
def _cell(engine: None, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    folder = tmp_path_factory.mktemp("cell")
    with ExitStack() as stack:

        def address(url: str) -> dict[str, str]:
            pooler = PgBouncer(home, url, size=4)
            stack.callback(pooler.stop)
            pooler.start()
            return {"url": pooler.url, "direct": url}

        made = cell_with_workers(home, folder, os.environ["REDIS_URL"], QUICK, address=address)
        yield stack.enter_context(made)


def test_executions_of_a_cell_end_behind_its_pooler(cell: Cell) -> None:
    ids = cell.start(20)

    cell.succeed(ids)
    with serving(cell.alias):
        audit(ids)


def test_beat_of_a_cell_is_elected_past_the_pooler(cell: Cell) -> None:
    """Its session lasts, which one of the pooler would not."""
    with psycopg.connect(cell.server.url) as session:
        holders = session.execute(HOLDERS, [AdvisoryLock.BEAT_ELECTION]).fetchall()

    beat = cell.fleet.members["beat-b"].pid
    ports = {one.laddr.port for one in psutil.Process(beat).net_connections("tcp")}
    assert [port for (port,) in holders if port in ports], holders


def test_a_cell_behind_a_pooler_is_migrated_past_it(cell: Cell) -> None:
    both = run(cell.fleet, "migrate"), run(cell.fleet, "status")
    environment = {**cell.fleet.environment, "VALKYR_CELL": CELL}
    done = nursery.run(
        [sys.executable, "-m", "valkyr_project.migrate"], environment=environment, seconds=120
    )

    assert both[0].startswith("0 b: migrated"), both
    assert both[1].startswith("0 "), both
    assert done.returncode == 0, done.stderr
