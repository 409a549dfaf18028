"""Processes killed inside their transactions, callers and steps, leave nothing half-done."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import UUID

from tests.support.fleet import Fleet
from tests.support.running import output_of
from tests.support.stack import PROJECT
from tests.support.workflows import effect, publish, wait_for_end
from valkyr_project.embedded import Redis

KILLS = 120
SEED = os.environ.get("VALKYR_TEST_SEED", "20261120")


# The first function that is called after the commit ends the process: no message is sent.
DIES_AFTER_THE_COMMIT = """
import os, signal, sys, uuid, django
django.setup()
from django.db import transaction
from executions.public.starting import start_from_code
with transaction.atomic():
    transaction.on_commit(lambda: os.kill(os.getpid(), signal.SIGKILL))
    print(start_from_code(uuid.UUID(sys.argv[1]), {"order": 1}).id, flush=True)
"""


def test_what_a_caller_committed_before_its_death_is_sent_by_the_sweeper(fleet: Fleet) -> None:
    workflow = publish({"tasks": [effect("one")]})

    caller = subprocess.run(
        [sys.executable, "-c", DIES_AFTER_THE_COMMIT, str(workflow.pk)],
        cwd=PROJECT,
        env=fleet.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert caller.returncode == -signal.SIGKILL, caller.stderr
    execution = UUID(caller.stdout.strip())
    assert wait_for_end([execution]) == {execution: "SUCCESS"}


def test_kills_leave_no_start_without_its_row_and_no_doubled_row(
    redis: Redis, tmp_path: Path
) -> None:
    program = (sys.executable, "-m", "tests.support.killed_transactions")
    found = json.loads(
        output_of(
            [*program, "--kills", str(KILLS), "--seed", SEED],
            environment=Fleet(tmp_path, redis.url).environment,
            seconds=240,
        ).splitlines()[-1]
    )

    print(found)
    assert found["problems"] == {}, found
    assert found["kills"] == KILLS
    # It would prove nothing if no kill had met an open transaction, or a running step.
    met = found["killed while it"]
    assert met.get("caller: started", 0) + met.get("caller: row written", 0) > KILLS / 20, found
    assert found["steps taken over"] > KILLS / 40, found
