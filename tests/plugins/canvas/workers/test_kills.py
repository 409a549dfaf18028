"""Workers are killed with SIGKILL while canvases run: each recorded result has its outside effect.

Effects are lines in a file, which no transaction removes.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from celery import chain, chord, group

import valkyr
from runners.models import Run
from tests.plugins.canvas.workers import tasks
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from valkyr_plugins.canvas.results import DurableResult

SECONDS = 60
ROUNDS = 6


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_a_task_killed_between_effect_and_record_acts_twice_and_is_recorded_once(
    fleet: Fleet, tmp_path: Path
) -> None:
    hold, mark = tmp_path / "hold", tmp_path / "mark"
    hold.touch()
    header = [tasks.held.s(str(hold), str(mark), number) for number in range(4)]
    result = valkyr.durable(chord(header, tasks.total.s())).start()
    wait_until(lambda: any(one.startswith("0 ") for one in lines_of(mark)), SECONDS, "the effect")

    fleet["default"].kill()
    hold.unlink()
    fleet.ensure()

    assert result.get(timeout=SECONDS) == 6
    acted = [line for line in lines_of(mark) if line.startswith("0 ")]
    assert len(acted) == 2
    assert len(set(acted)) == 1  # by one id, which the other side recognises
    assert {line.split()[0] for line in lines_of(mark)} == {"0", "1", "2", "3"}
    recorded = Run.objects.filter(execution_id=result.id, state="SUCCESS", superseded=False)
    paths = list(recorded.values_list("step_path", flat=True))
    header_paths = ["held.main", *(f"held_{number}.main" for number in (2, 3, 4))]
    assert sorted(paths) == [*header_paths, "total.main"]


CANVASES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "a chain with a group": (
        lambda acts: chain(acts(None), group(acts(), acts()), acts(), acts()),
        6,
    ),
    "a task that retries in a chain": (
        lambda acts: chain(acts(None), acts(busy=2), acts()),
        3,
    ),
    "a chord": (lambda acts: chord([acts(None) for _ in range(5)], acts()), 6),
    "a chord of chains": (
        lambda acts: chord([chain(acts(None), acts()) for _ in range(3)], acts()),
        7,
    ),
    "map, then a task": (
        lambda acts: chain(tasks.acts.starmap([(None, *acts.args)] * 5), acts()),
        6,
    ),
}


class Acting:
    """A factory of signatures of `acts` with one ledger."""

    def __init__(self, ledger: Path) -> None:
        self.args = [str(ledger)]

    def __call__(self, *before: Any, **more: Any) -> Any:
        return tasks.acts.s(*before, ledger=self.args[0], **more)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def test_five_canvases_survive_kills_of_any_worker_and_no_result_lacks_its_effect(
    fleet: Fleet, ledger: Path
) -> None:
    acts = Acting(ledger)
    started = [
        (valkyr.durable(make(acts)).start(), count)
        for _ in range(ROUNDS)
        for make, count in CANVASES.values()
    ]

    kills = 0
    for at, kill in enumerate((fleet["default"].kill, one_child_of(fleet), fleet["control"].kill)):
        wait_until(lambda most=15 + 25 * at: len(lines_of(ledger)) >= most, SECONDS, "effects")
        kill()
        kills += 1
        fleet.ensure()

    assert [result.get(timeout=SECONDS)["count"] for result, _ in started] == [
        count for _, count in started
    ]
    effects = Counter(lines_of(ledger))
    attempts = attempts_of([result for result, _ in started])
    assert effects.keys() == attempts.keys()  # none is missing, none is of an unknown task
    too_many = {one: n for one, n in effects.items() if n > attempts[one] + kills}
    assert too_many == {}


def one_child_of(fleet: Fleet) -> Callable[[], None]:
    def kill() -> None:
        os.kill(fleet["default"].children[0], signal.SIGKILL)

    return kill


def attempts_of(results: list[DurableResult]) -> dict[str, int]:
    """Return how often each task was tried according to its rows, by the id in its recorded
    result.
    """
    runs = Run.objects.filter(
        execution_id__in=[UUID(one.id) for one in results], module="celery.task", superseded=False
    )
    found: dict[tuple[UUID, str], int] = Counter(runs.values_list("execution_id", "step_path"))
    recorded = runs.filter(state="SUCCESS")
    rows = recorded.values_list("execution_id", "step_path", "outputs")
    return {outputs["result"]["id"]: found[execution, path] for execution, path, outputs in rows}
