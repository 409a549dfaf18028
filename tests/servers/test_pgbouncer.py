"""All processes behind PgBouncer in transaction mode, with fewer sessions than threads."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.graphs import TASKS
from tests.support import pgbouncer
from tests.support.auditor import audit
from tests.support.fleet import Fleet, database_url, publishing_to
from tests.support.outages import kill, wait_for_mark
from tests.support.pgbouncer import PgBouncer
from tests.support.workflows import effect, publish, start, start_many, wait_for_end

pytestmark = pytest.mark.skipif(
    bool(pgbouncer.missing()) and not os.environ.get("CI"), reason=pgbouncer.missing()
)


@pytest.fixture(scope="module")
def pooler(engine: None, home: Path) -> Iterator[PgBouncer]:
    made = PgBouncer(home, database_url(), size=4)
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="module")
def fleet(pooler: PgBouncer, home: Path) -> Iterator[Fleet]:
    made = Fleet(home, os.environ["REDIS_URL"])
    made.environment |= {"DATABASE_URL": pooler.url, "DATABASE_DIRECT_URL": database_url()}
    try:
        made.worker("control", "control", "threads", 4)
        made.worker("default", "default", "prefork", 2)
        made.worker("io", "io", "threads", 8)
        made.beat()
        made.ensure()
        with publishing_to(os.environ["REDIS_URL"]):
            yield made
    finally:
        made.stop()


def test_executions_end_behind_a_pooler(fleet: Fleet) -> None:
    ids = start_many(publish({"tasks": TASKS}), [{}] * 20)

    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    audit(ids)


def test_a_killed_childs_step_is_taken_over_behind_a_pooler(fleet: Fleet) -> None:
    execution = start(publish({"tasks": [effect("work", hangSeconds=50)]}))
    mark = wait_for_mark(execution)

    kill(mark["pid"])
    again = wait_for_mark(execution, number=2)

    assert again["token"] > mark["token"]
    assert wait_for_end([execution])[execution] == "SUCCESS"
    audit([execution])
