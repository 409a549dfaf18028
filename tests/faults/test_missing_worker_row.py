"""A worker whose row is missing, as in a database that was restored, writes it again."""

from runners.models import Runner
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until


def test_a_worker_writes_its_row_again(fleet: Fleet) -> None:
    rows = Runner.objects.filter(name__startswith="control")
    wait_until(rows.exists, 30, "the control worker's row")
    before = rows.values("name", "host", "pid", "pool", "processes", "queues").get()
    rows.delete()

    wait_until(rows.exists, 60, "the control worker's new row")

    assert rows.values("name", "host", "pid", "pool", "processes", "queues").get() == before
