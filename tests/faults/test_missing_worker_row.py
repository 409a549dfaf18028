"""A worker whose row is missing or another worker's writes it again.

A row is missing in a database that was restored; another worker's, where two have the same name.
"""

from pathlib import Path

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


def test_a_worker_is_live_after_another_of_its_name_has_left(fleet: Fleet, tmp_path: Path) -> None:
    rows = Runner.objects.filter(name__startswith="control@")
    other = Fleet(tmp_path, fleet.environment["REDIS_URL"])
    other.worker("control", "control", "threads", 1)
    with other.running():
        assert rows.get().pid == other["control"].pid

    wait_until(
        rows.filter(pid=fleet["control"].pid, leaving_at=None).exists,
        60,
        "the row of the worker that still runs",
        lambda: str(rows.values().get()),
    )
