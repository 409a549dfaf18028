"""An OOM kill is blamed on the step that took the memory, never on the victim."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.memory_group import MemoryGroup, memory_group
from tests.support.outages import marks_of, wait_for_mark
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish, start, wait_for_end

MEBIBYTES = 1_000  # of the group: what a worker and its children share, and room for more
TAKES = 4_000
QUEUE = "short"
# Takes memory until the kernel has killed a process for it, waits until the process of that id has
# ended, and holds the memory until its input closes.
EATER = """
import sys
from pathlib import Path
stat, held = Path(f"/proc/{sys.argv[1]}/stat"), []
def kills():
    return Path("/proc/vmstat").read_text().partition("oom_kill ")[2].split()[0]
sys.stdin.readline()
before = kills()
while kills() == before:
    held.append(b"x" * 2**20)
try:
    while stat.read_text().rpartition(")")[2].split()[0] not in "ZX":
        pass
except (FileNotFoundError, ProcessLookupError):
    pass
print("ended", flush=True)
sys.stdin.read()
"""
# The kernel may kill again before the first one's memory is free: these processes come next.
SPARE = "import sys; held = b'x' * (30 * 2**20); print('here', flush=True); sys.stdin.read()"
SPARES = 3


@pytest.fixture
def group() -> Iterator[MemoryGroup]:
    with memory_group(MEBIBYTES) as made:
        yield made


@pytest.fixture(params=["prefork", "threads"])
def suspect(
    fleet: Fleet, group: MemoryGroup, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Run]]:
    """Yield a function that starts one suspect step, and a worker in the group that sets no memory
    limit itself.
    """

    def started(**inputs: object) -> Run:
        task = effect("work", timeoutSeconds=200, **inputs) | {"queue": QUEUE}
        run = Run.objects.get(execution_id=start(publish({"tasks": [task]})))
        Run.objects.filter(pk=run.pk).update(suspect=True)  # threads execute it apart
        unlimited = {"VALKYR_WORKER_MEMORY_MB": "0", "VALKYR_ISOLATED_MEMORY_MB": "0"}
        group.join(fleet.worker(QUEUE, QUEUE, request.param, 2, **unlimited).pid)
        fleet.ensure()
        return run

    yield started
    fleet.remove(QUEUE)


def test_the_step_that_takes_all_memory_is_a_dead_letter(
    suspect: Callable[..., Run], fleet: Fleet
) -> None:
    run = suspect(takeMebibytes=TAKES)
    wait_for_end([run.execution_id], 120)
    run.refresh_from_db()
    assert (run.state, run.crashes) == ("DLQ", 3)
    assert "out of memory" in run.crash_cause
    assert "MiB, more than any other process" in run.error
    assert fleet[QUEUE].alive()
    audit([run.execution_id])


def test_a_step_that_is_killed_for_what_another_process_took_is_not_blamed(
    suspect: Callable[..., Run], group: MemoryGroup, held: Path
) -> None:
    run = suspect(whileThere=str(held))
    for number in range(1, 4):
        mark = wait_for_mark(run.execution_id, number=number, seconds=60)
        take_all_memory_of(mark["pid"], group, partial(released, run, mark["token"]))
    held.unlink()
    assert wait_for_end([run.execution_id], 60) == {run.execution_id: "SUCCESS"}
    run.refresh_from_db()
    assert (run.crashes, run.suspect) == (0, True)
    assert len(marks_of(run.execution_id, "work.main")) == 4
    audit([run.execution_id])


def take_all_memory_of(victim: int, group: MemoryGroup, noticed: Callable[[], bool]) -> None:
    """Let another process take memory until the kernel kills the victim, and the engine has
    noticed.
    """
    # The kernel selects it first, as it does every isolated step.
    Path(f"/proc/{victim}/oom_score_adj").write_text("1000")
    with ExitStack() as stack:
        for _ in range(SPARES):
            spare = stack.enter_context(_beside([SPARE], group, "999"))
            assert spare.stdout
            assert spare.stdout.readline() == b"here\n"
        eater = stack.enter_context(_beside([EATER, str(victim)], group, "0"))
        assert eater.stdin
        assert eater.stdout
        eater.stdin.write(b"\n")
        eater.stdin.flush()
        assert eater.stdout.readline() == b"ended\n", "the kernel took the eater instead"
        wait_until(noticed, 30, "the release of the victim's run")


@contextmanager
def _beside(
    program: list[str], group: MemoryGroup, adjustment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process in the group during the block; the kernel prefers to kill it by
    `adjustment`.
    """
    command = [sys.executable, "-c", *program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        group.join(process.pid)
        Path(f"/proc/{process.pid}/oom_score_adj").write_text(adjustment)
        try:
            yield process
        finally:
            process.kill()


def released(run: Run, token: int) -> bool:
    """Return whether that lease has ended: no worker holds the run, or another worker does."""
    run.refresh_from_db()
    return run.state == "PENDING" or run.lease_token > token
