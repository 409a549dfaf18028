"""The reference client as a process is killed, frozen and stopped in the middle of its steps."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from django.contrib.auth import get_user_model

from executions.models import Membership
from runners.models import HeldPermit, Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet, database_url
from tests.support.nursery import Forked, from_libraries
from tests.support.outages import marks_of, wait_for_mark
from tests.support.remote_handlers import EFFECT
from tests.support.segments import run_of
from tests.support.signed_in import pair_of
from tests.support.waiting import wait_until
from tests.support.workflows import (
    default_workspace,
    effect,
    publish,
    start,
    start_many,
    task,
    wait_for_end,
)
from valkyr_plugins.limits.models import Quota
from valkyr_project.embedded.child import free_port


def remote(name: str, after: Any = None, **inputs: Any) -> dict[str, Any]:
    return effect(name, after, **inputs) | {"queue": "gpu"}


@pytest.fixture
def door(fleet: Fleet, tmp_path: Path) -> Iterator[str]:
    """Run a web process in addition to the fleet's workers; yield its address."""
    port = free_port()
    command = (
        *(sys.executable, "-m", "uvicorn", "valkyr_project.asgi:application", "--lifespan", "off"),
        *("--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"),
    )
    own = {"VALKYR_PROCESS": "web", "VALKYR_POOL": "threads"}
    with process(command, fleet.environment | own, tmp_path / "web.log"):
        address = f"http://127.0.0.1:{port}"
        wait_until(lambda: answers(f"{address}/actuator/health/live"), 60, "the web process")
        yield address


@pytest.fixture
def client(door: str, tmp_path: Path) -> Iterator[Callable[..., Forked]]:
    """Yield a function that starts the reference client; end its remaining processes with the
    test.
    """
    user, _ = get_user_model().objects.get_or_create(username="remote-runner")
    Membership.objects.get_or_create(
        user=user, workspace=default_workspace(), defaults={"role": "SYSTEM"}
    )
    environment = {
        "PATH": os.environ["PATH"],
        "VALKYR_URL": door,
        "VALKYR_TOKEN": pair_of(user).access,
        "DATABASE": database_url(),
    }
    with ExitStack() as made:

        def begin(name: str, slots: int = 1) -> Forked:
            command = (
                *(sys.executable, "examples/remote_runner/runner.py"),
                *("tests/support/remote_handlers.py", "--queue", "gpu"),
                *("--slots", str(slots), "--name", name),
            )
            return made.enter_context(process(command, environment, tmp_path / f"{name}.log"))

        yield begin


def test_what_a_killed_runner_had_is_done_by_another(client: Callable[..., Forked]) -> None:
    tasks = [remote("work", hangSeconds=60), effect("more", after="work")]
    execution = start(publish({"tasks": tasks, "output": "{{ tasks.work.output.value }}"}))
    first = client("first")
    mark = wait_for_mark(execution)
    wait_until(lambda: run_of(execution, "work.main").state == "RUNNING", 30, "the heartbeat")
    assert mark["pid"] == first.pid
    first.kill()
    second = client("second")

    assert wait_for_end([execution])[execution] == "SUCCESS"

    run = run_of(execution, "work.main")
    assert (run.recoveries, run.attempt, run.leased_by) == (1, 1, "default/second")
    assert run.outputs["by"] == second.pid  # type: ignore[index]
    marks = marks_of(execution, "work.main")
    assert [one["pid"] for one in marks] == [first.pid, second.pid]
    assert len({one["key"] for one in marks}) == 1
    assert (marks[1]["at"] - marks[0]["at"]).total_seconds() < 30
    assert audit([execution]).repeats == 1


def test_the_late_result_of_a_frozen_runner_is_refused(
    client: Callable[..., Forked], tmp_path: Path
) -> None:
    execution = start(publish({"tasks": [remote("work", hangSeconds=5)]}))
    frozen = client("frozen")
    wait_for_mark(execution)
    os.kill(frozen.pid, signal.SIGSTOP)
    quick = client("quick")
    assert wait_for_end([execution])[execution] == "SUCCESS"

    os.kill(frozen.pid, signal.SIGCONT)

    log = tmp_path / "frozen.log"
    wait_until(lambda: "work.main: complete" in log.read_text(), 30, "the late report")
    assert "complete 200" not in log.read_text()
    run = run_of(execution, "work.main")
    assert (run.leased_by, run.lease_token) == ("default/quick", 3)
    assert run.outputs["by"] == quick.pid  # type: ignore[index]
    assert audit([execution]).repeats == 1


def test_a_runner_that_is_asked_to_stop_finishes_what_it_has(client: Callable[..., Forked]) -> None:
    execution = start(publish({"tasks": [remote("work", hangSeconds=2), remote("next", "work")]}))
    asked = client("asked")
    wait_for_mark(execution)

    asked.terminate()

    assert asked.wait(30) == 0
    run = run_of(execution, "work.main")
    assert (run.state, run.recoveries) == ("SUCCESS", 0)
    assert run_of(execution, "next.main").state == "PENDING"
    client("other")
    assert wait_for_end([execution])[execution] == "SUCCESS"
    audit([execution])


def test_nothing_is_lost_while_runners_are_killed_again_and_again(
    client: Callable[..., Forked],
) -> None:
    body = {"tasks": [remote("one", value="{{ item }}", seconds=0.05)]}
    tasks = [
        task("many", "flow.map", **{"with": {"items": list(range(8))}}, body=body),
        remote("after", "many"),
        effect("end", "after"),
    ]
    ids = start_many(publish({"tasks": tasks}), [{}] * 6)
    running = [client(f"r{number}", slots=3) for number in range(3)]
    for turn in range(3):
        done = Run.objects.filter(execution_id__in=ids, queue="gpu", state="SUCCESS")
        wait_until(lambda n=turn, rows=done: rows.count() >= 12 * (n + 1), 60, "some steps")  # type: ignore[misc]
        running[turn].kill()
        running.append(client(f"r{turn + 3}", slots=3))

    assert set(wait_for_end(ids, 120).values()) == {"SUCCESS"}
    audit(ids)


def test_a_quota_holds_while_runners_are_killed(client: Callable[..., Forked]) -> None:
    quota = Quota.objects.create(
        workspace=default_workspace(), resource="module", target="test.effect", max_concurrent=2
    )
    try:
        ids = start_many(publish({"tasks": [remote("work", seconds=0.3)]}), [{}] * 24)
        done = Run.objects.filter(execution_id__in=ids, queue="gpu", state="SUCCESS")
        with seen_at_once(ids) as seen:
            running = [client(f"q{number}", slots=3) for number in range(4)]
            for turn in range(3):
                wait_until(lambda n=turn: done.count() >= 4 * (n + 1), 60, "some steps")  # type: ignore[misc]
                running[turn].kill()
                running.append(client(f"q{turn + 4}", slots=3))
            assert set(wait_for_end(ids, 120).values()) == {"SUCCESS"}
    finally:
        quota.delete()

    assert 1 <= max(effects for effects, _, _ in seen) <= 2
    assert 1 <= max(leases for _, leases, _ in seen) <= 2
    assert {without_place for _, _, without_place in seen} == {0}
    wait_until(lambda: not HeldPermit.objects.exists(), 30, "the end of all permits")
    audit(ids)


# In one snapshot: the current effects, the valid leases, and those of them without a slot.
AT_ONCE = """
SELECT (SELECT count(*) FROM pg_stat_activity WHERE application_name = %s), count(r.id),
       count(r.id) FILTER (WHERE h.id IS NULL)
  FROM runners_run r
  LEFT JOIN executions_quotahold h ON h.run_id = r.id AND h.token = r.lease_token
 WHERE r.execution_id = ANY(%s) AND r.state IN ('LEASED', 'RUNNING')
   AND r.lease_until > clock_timestamp()
"""


@contextmanager
def seen_at_once(ids: Sequence[UUID]) -> Iterator[list[tuple[int, int, int]]]:
    """Record what a separate session sees, repeatedly, during the block."""
    seen: list[tuple[int, int, int]] = []
    over = threading.Event()

    def look() -> None:
        with psycopg.connect(database_url(), autocommit=True) as own:
            while not over.is_set():
                seen.extend(own.execute(AT_ONCE, [EFFECT, list(ids)]).fetchall())

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        over.set()
        looking.join()


@contextmanager
def process(command: Sequence[str], environment: dict[str, str], log: Path) -> Iterator[Forked]:
    """Run a process during the block, with its output in a file."""
    with log.open("ab") as output:
        begun = from_libraries(command, environment=environment, output=output.fileno())
    try:
        yield begun
    finally:
        begun.kill()
        begun.wait()


def answers(address: str) -> bool:
    try:
        return httpx.get(address).status_code == 200
    except httpx.TransportError:
        return False
