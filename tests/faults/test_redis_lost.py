"""Redis is killed and restarted empty: all messages are lost, and all rows remain."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

from redis import Redis as Client

from executions.admission import rates
from executions.database.clock import database_now
from executions.models import RateCount, WorkflowExecution
from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.outages import redis_away
from tests.support.stack import PROJECT
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish, start_many, task, wait_for_end
from valkyr_project.embedded import Redis

EXECUTIONS = 100
WORKERS = 2  # of the queue `default`, in a fleet
EXECUTING = 4  # processes of these


def test_all_of_a_hundred_executions_end_though_redis_forgot_them(
    fleet: Fleet, redis: Redis
) -> None:
    tasks = [
        task("begin"),
        *(effect(f"part{n}", after="begin", seconds=0.02) for n in range(3)),
        effect("join", after=["part0", "part1", "part2"], join="all"),
        effect("flaky", after="join", failTimes=1, retry={"maxAttempts": 3, "baseSeconds": 0.2}),
    ]
    ids = start_many(publish({"tasks": tasks}), [{"n": n} for n in range(EXECUTIONS)])
    wait_until(lambda: _ended(ids) >= 10, 60, "the end of the first ten")
    with redis_away(redis):
        assert _ended(ids) < EXECUTIONS, "Redis was killed too late to lose anything"
    assert set(wait_for_end(ids, 100).values()) == {"SUCCESS"}
    audit(ids)


def test_what_is_started_while_redis_is_away_runs_when_it_is_back(
    fleet: Fleet, redis: Redis
) -> None:
    workflow = publish({"tasks": [effect("work")]})
    with redis_away(redis):
        ids = start_many(workflow, [{}] * 3)
        begun = Run.objects.filter(execution__in=ids)
        # Known to be unsent, they need not be considered lost first, which may take 40 s.
        assert [run.published_at for run in begun] == [None] * 3
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    assert all(run.publications > 1 for run in begun.all())
    audit(ids)


def test_workers_outlive_a_redis_that_refuses_to_write(fleet: Fleet, redis: Redis) -> None:
    pids = {name: member.pid for name, member in fleet.members.items()}
    workflow = publish({"tasks": [effect("work")]})
    with Client.from_url(redis.url) as server:
        refused = _refusals(server)
        # It reports a full disk and full memory in the same way: it does not write.
        server.config_set("min-replicas-to-write", 1)
        try:
            ids = start_many(workflow, [{}] * 3)
            wait_until(lambda: _refusals(server) - refused > 10, 60, "ten refusals")
        finally:
            server.config_set("min-replicas-to-write", 0)
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    audit(ids)
    assert {name: member.pid for name, member in fleet.members.items()} == pids
    assert all(member.alive() for member in fleet.members.values())


def test_workers_take_messages_again_after_redis_refused_their_acknowledgements(
    fleet: Fleet, redis: Redis
) -> None:
    pids = {name: member.pid for name, member in fleet.members.items()}
    workflow = publish({"tasks": [effect("work", seconds=2)]})
    quick = publish({"tasks": [effect("work")]})
    with Client.from_url(redis.url) as server:
        held = start_many(workflow, [{}] * 16)
        wait_until(lambda: _running(held) == EXECUTING, 60, "a step in each process")
        # Now, before a worker with a free slot asks for a message. Redis would reject that too; the
        # worker would connect again, and would not see a step's end meanwhile.
        before = _unacknowledged(server)
        server.config_set("min-replicas-to-write", 1)
        try:
            wait_until(lambda: not _running(held), 60, "the end of the steps in hand")
            wait_until(
                lambda: _unacknowledged(server) - before >= WORKERS, 60, "a refusal to each worker"
            )
        finally:
            server.config_set("min-replicas-to-write", 0)
    ids = start_many(quick, [{}] * 5)
    assert set(wait_for_end([*held, *ids]).values()) == {"SUCCESS"}
    audit(held)
    audit(ids)
    assert {name: member.pid for name, member in fleet.members.items()} == pids


def _refusals(server: Client) -> int:
    """Return how many commands Redis has rejected for lack of replicas."""
    told: dict[str, Any] = server.info("errorstats")
    return int(told.get("errorstat_NOREPLICAS", {}).get("count", 0))


def _unacknowledged(server: Client) -> int:
    """Return how many removals of an acknowledged message Redis has rejected."""
    told: dict[str, Any] = server.info("commandstats")
    return int(told.get("cmdstat_zrem", {}).get("rejected_calls", 0))


def _running(ids: list[UUID]) -> int:
    return Run.objects.filter(execution__in=ids, state="RUNNING").count()


def _ended(ids: list[UUID]) -> int:
    return WorkflowExecution.objects.filter(pk__in=ids, finished_at__isnull=False).count()


SIGNING_IN = """
import json, django
django.setup()
from executions.admission import rates
tries = [rates.count(rates.of_sign_in("192.0.2.%d" % n, "Ada")) for n in range(15)]
print(json.dumps([excess is None for excess in tries]))
"""


def test_processes_without_redis_count_sign_ins_together(engine: None, tmp_path: Path) -> None:
    # Nothing listens there.
    environment = Fleet(tmp_path, "redis://127.0.0.1:1/0").environment

    def let_in() -> int:
        told = subprocess.run(
            [sys.executable, "-c", SIGNING_IN],
            cwd=PROJECT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            timeout=120,
            check=True,
        )
        return sum(json.loads(told.stdout))

    assert (let_in(), let_in()) == (15, 5), "twenty with one name, whoever counts"
    RateCount.objects.update(ends_at=database_now())
    assert rates.prune() == 16
    assert (let_in(), RateCount.objects.count()) == (15, 16)
