"""`python -m tests.support.killed_transactions`: kill processes inside transactions, and count the
rows.

*Callers* insert an order and start an execution for it in one transaction. *Carriers* run the
executions' steps, which write rows with their records. Both are killed at random moments, `--kills`
times. Then all remaining work is completed and counted: a start without its order, an order without
its start, a missing or duplicate row. The result is JSON on standard output.
"""

import argparse
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Any
from uuid import UUID

import django

SECONDS = 90.0  # the time limit for the rest
LIFE = 0.04  # the longest life of a child, from its second deed on
POINTS = ("begins", "row written", "started", "commits", "committed", "looks", "runs a step")
CREATE = """
CREATE TABLE IF NOT EXISTS test_orders (id bigserial PRIMARY KEY, workflow uuid NOT NULL)
"""
ORDER = "INSERT INTO test_orders (workflow) VALUES (%s) RETURNING id"
OPEN = """
SELECT r.execution_id, e.version_id, r.segment FROM runners_run r
  JOIN executions_workflowexecution e ON e.id = r.execution_id
 WHERE e.workflow_id = %s AND r.state IN ('PENDING', 'RUNNING')
   AND (r.retry_after IS NULL OR r.retry_after <= clock_timestamp())
 ORDER BY random() LIMIT 10
"""
STARTS = "executions_workflowexecution e WHERE e.workflow_id = %(workflow)s"
STEPS = f"""
(SELECT r.execution_id, r.step_path, count(*) FILTER (WHERE r.state = 'SUCCESS') AS done,
        (SELECT count(*) FROM test_rows t
          WHERE t.execution = r.execution_id AND t.step = r.step_path) AS written
   FROM runners_run r WHERE r.module = 'test.row'
    AND r.execution_id IN (SELECT e.id FROM {STARTS})
  GROUP BY r.execution_id, r.step_path) AS s
"""
COUNTS = {
    "executions started with their order row": f"SELECT count(*) FROM {STARTS}",
    "rows written by steps": f"SELECT coalesce(sum(written), 0) FROM {STEPS}",
    "steps taken over": f"SELECT coalesce(sum(r.recoveries), 0) FROM runners_run r "
    f"WHERE r.execution_id IN (SELECT e.id FROM {STARTS})",
    "executions failed after three kills": f"SELECT count(*) FROM {STARTS} AND e.state = 'FAILED'",
}
PROBLEMS = {
    "starts without their row": f"SELECT count(*) FROM {STARTS} AND NOT EXISTS (SELECT 1 "
    "FROM test_orders o WHERE o.id = (e.trigger_payload->>'order')::bigint)",
    "rows without their start": "SELECT count(*) FROM test_orders o WHERE o.workflow = "
    "%(workflow)s AND o.id NOT IN (SELECT (e.trigger_payload->>'order')::bigint FROM "
    f"{STARTS})",
    "effects doubled": f"SELECT count(*) FROM {STEPS} WHERE written > 1",
    "effects without their record": f"SELECT count(*) FROM {STEPS} WHERE written > done",
    "records without their effect": f"SELECT count(*) FROM {STEPS} WHERE written < done",
    "not ended": f"SELECT count(*) FROM {STARTS} AND e.state NOT IN ('SUCCESS', 'FAILED')",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Kill processes, complete the work, count the rows, and print the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    django.setup()
    print(json.dumps(_killed(given.kills, Random(given.seed))), flush=True)


def _killed(kills: int, random: Random) -> dict[str, Any]:
    from django.db import connections

    from tests.support.dying_children import kill_many

    workflow = _publish()
    _warm(workflow)
    connections.close_all()
    began = time.monotonic()
    acts = [("caller", _caller(workflow)), ("worker", _carrier(workflow))]
    met, begun = kill_many(acts, POINTS, kills, random, LIFE)
    seconds = time.monotonic() - began
    _finish(workflow)
    return {
        "workflow": str(workflow),
        "kills": met.total(),
        "killed while it": dict(met.most_common()),
        "transactions begun": dict(begun),
        "seconds": round(seconds, 1),
        **{name: _count(query, workflow) for name, query in COUNTS.items()},
        "problems": {
            name: found for name, query in PROBLEMS.items() if (found := _count(query, workflow))
        },
    }


def _publish() -> UUID:
    """Publish the workflow whose two steps write a row each, and create all tables; return its
    id.
    """
    from django.db import connection

    from executions.definition.versions import compiled
    from executions.public.publishing import publish_from_code
    from tests.support import modules

    modules.install()
    with connection.cursor() as cursor:
        cursor.execute(CREATE)
    steps = [
        {"id": name, "use": "test.row", "queue": "killed", "with": {"seconds": 0.002}, **more}
        for name, more in (("reserve", {}), ("book", {"after": "reserve"}))
    ]
    definition = {"schema": "valkyr/1", "name": "killed", "tasks": steps}
    made = publish_from_code(f"killed-{os.getpid()}", definition, origin="tests:killed")
    compiled(made.version_id)
    return made.workflow_id


def _warm(workflow: UUID) -> None:
    """Import and compile in this process what each child would have to do again."""
    from django.db import transaction

    from executions.public.starting import start_from_code
    from runners.pipeline import receive  # noqa: F401 - imported for the children
    from tests.support.row_steps import MODULE

    MODULE.load()
    MODULE.validated({"seconds": 0})
    with transaction.atomic():
        start_from_code(workflow, {"order": 0})
        transaction.set_rollback(True)


def _caller(workflow: UUID) -> Any:
    from django.db import connection, transaction

    from executions.public.starting import start_from_code

    def call(progress: Any, random: Random) -> None:
        progress.at("begins", begun=1)
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(ORDER, [workflow])
                [order] = cursor.fetchone() or [0]
            progress.at("row written")
            time.sleep(random.uniform(0, 0.002))
            start_from_code(workflow, {"order": order})
            progress.at("started")
            time.sleep(random.uniform(0, 0.002))
            progress.at("commits")
        progress.at("committed")

    return call


def _carrier(workflow: UUID) -> Any:
    from django.db import connection

    from runners.errors import LeaseLost, StepFailed
    from runners.pipeline import receive

    def carry(progress: Any, random: Random) -> None:
        progress.at("looks", begun=1)
        with connection.cursor() as cursor:
            cursor.execute(OPEN, [workflow])
            found = cursor.fetchall()
        for execution, version, segment in found:
            progress.at("runs a step", begun=1)
            with suppress(LeaseLost, StepFailed):
                receive.run_segment(execution, version, segment)

    return carry


def _finish(workflow: UUID) -> None:
    """Execute the remaining work, with the sweeper's duties, until everything has ended."""
    from runners.recovery import sweeper
    from tests.support.dying_children import Progress

    carry, progress, random = _carrier(workflow), Progress(POINTS), Random()
    until = time.monotonic() + SECONDS
    while _count(PROBLEMS["not ended"], workflow) and time.monotonic() < until:
        carry(progress, random)
        sweeper.often()


def _count(query: str, workflow: UUID) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(query, {"workflow": workflow})
        [found] = cursor.fetchone() or [0]
    return int(found)


if __name__ == "__main__":
    main()
