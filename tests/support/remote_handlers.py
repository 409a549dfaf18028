"""The steps of the tests' remote runners: `test.effect` writes its mark as in a worker.

The reference client, which knows nothing of Valkyr, loads them; the marks' table is in DATABASE.
During an effect the client has a session there, named EFFECT, which ends with its process.
"""

import os
import time
from typing import Any

import psycopg

EFFECT = "remote effect"
INSERT = """
INSERT INTO test_effects (key, execution, step, attempt, run, token, pid)
SELECT %(key)s, execution_id, step_path, attempt, id, lease_token, %(pid)s
  FROM runners_run WHERE id = %(run)s
RETURNING (SELECT count(*) FROM test_effects t
            WHERE t.execution = test_effects.execution AND t.step = test_effects.step)
"""


def effect(job: Any) -> dict[str, Any]:
    """Write a mark, wait as configured, and return the facts about who did it."""
    given = {"key": job.key, "run": job.run["id"], "pid": os.getpid()}
    database = os.environ["DATABASE"]
    with psycopg.connect(database, autocommit=True, application_name=EFFECT) as own:
        row = own.execute(INSERT, given).fetchone()
        assert row is not None
        job.details = {"tries": row[0] + 1}
        hangs = row[0] < job.inputs.get("hangTimes", 1)
        time.sleep(job.inputs.get("hangSeconds", 0) if hangs else job.inputs.get("seconds", 0))
    return {"by": os.getpid(), "value": job.inputs.get("value")}


HANDLERS = {"test.effect": effect}
