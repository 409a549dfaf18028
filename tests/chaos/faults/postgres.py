"""PostgreSQL is shut down under load and restarted: `fast`, then `immediate`."""

import signal
import time

import httpx

from executions.database.clock import database_now
from tests.chaos.fault import Fault, Load
from tests.chaos.servers import postgres
from tests.chaos.world import World
from tests.support.waiting import wait_until

AWAY = 8.0
SLOWEST = 6.0  # seconds until an answer, including rejections
# tests/integration/test_database_gone.py requests every address without a database.
PAGES = ("/v1/WorkflowExecution", "/v1/Run", "/v1/Workflow", "/actuator/health/ready")


def ask(world: World, client: httpx.Client, path: str) -> int:
    """Return the status of a page. Raise AssertionError if there is no answer in time."""
    begun = time.monotonic()
    answer = client.get(path, headers={"Authorization": f"Bearer {world.token}"})
    took = time.monotonic() - begun
    assert took < SLOWEST, f"{path} took {took:.1f} s to answer {answer.status_code}"
    if answer.status_code == 503:
        assert int(answer.headers["Retry-After"]) >= 1
    return answer.status_code


def recover(world: World, client: httpx.Client) -> None:
    """Measure the time until the API answers, and until a step that was started then is done."""
    begun, back = time.monotonic(), database_now()
    wait_until(lambda: ask(world, client, PAGES[0]) == 200, 60, "an answer of the API")
    world.recovered("the API answers", time.monotonic() - begun)
    wait_until(lambda: _ended_since(world, back), 60, "the end of an execution after the return")
    world.recovered("executions end", time.monotonic() - begun)
    world.pause(5)


def _ended_since(world: World, since: object) -> bool:
    from executions.models import WorkflowExecution

    return WorkflowExecution.objects.filter(finished_at__gt=since, state="SUCCESS").exists()


def _restarted(world: World, name: str, how: signal.Signals) -> None:
    with httpx.Client(base_url=world.web.address, timeout=30) as client:
        for _ in range(1 if world.quick else 3):
            wait_until(lambda: len(world.load.accepted) >= 5, 60, "five executions")
            with world.excused():
                world.injected(f"PostgreSQL shut down ({name})")
                with postgres.away(world.postgres, how):
                    until = time.monotonic() + AWAY
                    while time.monotonic() < until:
                        statuses = {path: ask(world, client, path) for path in PAGES}
                        wrong = {p: code for p, code in statuses.items() if code != 503}
                        assert not wrong, f"answered without a database: {wrong}"
                        world.pause(0.5)
            recover(world, client)
    world.figure("requests rejected during the fault", dict(world.load.refused))
    world.figure("slowest answer", f"{world.load.slowest:.2f} s")
    assert set(world.load.refused) <= {"503"}, f"the API answered {dict(world.load.refused)}"


def _fast(world: World) -> None:
    _restarted(world, "fast", postgres.FAST)


def _immediate(world: World) -> None:
    _restarted(world, "immediate", postgres.IMMEDIATE)


PROMISE = "the API answers 503 in the gap, nothing accepted is lost, all reconnect by themselves"
POSTGRES_FAST = Fault(
    "postgres-fast",
    "PostgreSQL stopped (`fast`) under load, and started again after 8 s",
    PROMISE,
    30,
    _fast,
    load=Load(api=True),
)
POSTGRES_IMMEDIATE = Fault(
    "postgres-immediate",
    "PostgreSQL stopped (`immediate`) under load, and started again (crash recovery) after 8 s",
    PROMISE,
    30,
    _immediate,
    load=Load(api=True),
)
