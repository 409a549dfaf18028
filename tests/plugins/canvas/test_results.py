"""Tests of results of durable canvases that are awaited, without workers."""

import asyncio
from typing import Any

import pytest
from celery.exceptions import TaskRevokedError

from executions.public.database import connection, in_a_thread
from executions.public.messaging import celery_app
from tests.support.waiting import wait_until
from tests.support.workflows import default_workspace
from valkyr import durable

pytestmark = pytest.mark.django_db(transaction=True)


def connections_open() -> int:
    """Return the number of connections to this process's database, including this one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


def test_awaiting_results_leaves_no_connection_open() -> None:
    default_workspace()
    results = [durable(celery_app().signature("shop.charge", (n,))).start() for n in range(3)]

    async def main() -> list[Any]:
        waiting = asyncio.gather(*results, return_exceptions=True)
        await asyncio.sleep(0)
        for result in results:
            await in_a_thread(result.revoke)
        return await waiting

    before = connections_open()
    ended = asyncio.run(main())

    assert {type(one) for one in ended} == {TaskRevokedError}
    wait_until(lambda: connections_open() == before, 5, "closed connections")
