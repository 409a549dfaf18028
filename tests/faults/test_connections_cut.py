"""The database ends every session of every worker while they work, repeatedly."""

from uuid import UUID

from django.db import connection

from executions.models import WorkflowExecution
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish, start_many, task, wait_for_end

EXECUTIONS = 60
CUT = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def test_executions_end_though_all_connections_are_cut(fleet: Fleet) -> None:
    tasks = [
        task("begin"),
        *(effect(f"part{n}", after="begin", seconds=0.05) for n in range(3)),
        effect("join", after=["part0", "part1", "part2"], join="all"),
        {**effect("io", after="join", seconds=0.1), "queue": "io"},
    ]
    ids = start_many(publish({"tasks": tasks}), [{}] * EXECUTIONS)
    for ended in (1, EXECUTIONS // 3, 2 * EXECUTIONS // 3):
        wait_until(lambda ended=ended: _ended(ids) >= ended, 60, f"the end of {ended}")
        wait_until(_cut, 10, "somebody who is connected")  # all may have been cut just now
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    assert all(member.alive() for member in fleet.members.values())
    audit(ids)


def _cut() -> int:
    """End all sessions except this one; return their number."""
    with connection.cursor() as cursor:
        cursor.execute(CUT)
        row = cursor.fetchone()
    assert row is not None
    return int(row[0])


def _ended(ids: list[UUID]) -> int:
    return WorkflowExecution.objects.filter(pk__in=ids, finished_at__isnull=False).count()
