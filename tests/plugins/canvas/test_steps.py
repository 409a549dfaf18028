"""A translated canvas runs on the engine and has Celery's results."""

import re
from typing import Any

import pytest
from celery import Task, chain, chord, group, shared_task

from executions.messaging import celery_app
from runners.testing import run_module
from runners.testing.harness import Valkyr
from valkyr_plugins.canvas.translation import translate


@shared_task(name="canvas_tests.add")
def add(x: int, y: int = 0) -> int:
    return x + y


@shared_task(name="canvas_tests.total")
def total(numbers: list[int]) -> int:
    return sum(numbers)


@shared_task(name="canvas_tests.climb", bind=True, max_retries=3)
def climb(self: "Task[Any, Any]", number: int) -> list[int]:
    if number < 3:
        raise self.retry(args=(number + 1,), countdown=30)
    return [number, self.request.retries]


@shared_task(name="canvas_tests.broken", bind=True, max_retries=1)
def broken(self: "Task[Any, Any]") -> None:
    raise self.retry(countdown=5, exc=ValueError("still busy"))


@shared_task(name="canvas_tests.items")
def items() -> list[int]:
    return [5]


@shared_task(name="canvas_tests.2nd-half")
def half(numbers: list[int]) -> float:
    return numbers[0] / 2


@pytest.fixture
def valkyr(db: None, monkeypatch: pytest.MonkeyPatch) -> Valkyr:
    monkeypatch.setenv("VALKYR_CELERY_TASKS", "canvas_tests.*,runners.*")
    celery_app().loader.import_default_modules()
    celery_app().finalize()
    return Valkyr()


def started(valkyr: Valkyr, signature: Any) -> Any:
    found = translate(signature)
    return valkyr.start(dict(found.definition), dict(found.payload))


@pytest.mark.parametrize(
    ("signature", "result"),
    [
        (add.s(1, 2), 3),
        (add.s(1, y=4), 5),
        (chain(add.s(1, 2), add.s(3), add.s(4)), 10),
        (add.s(1, 2) | add.si(5, 5), 10),
        (group(add.s(i, i) for i in range(4)), [0, 2, 4, 6]),
        (chord([add.s(1, 1), add.s(2, 2)], total.s()), 6),
        (chord([add.s(1, 1)], total.s()), 2),
        (chord([], total.s()), 0),
        (chain(add.s(1, 1), group(add.s(1), add.s(2)), total.s()), 7),
        (chain(add.s(1, 1), group(add.s(1), chain(add.s(2), add.s(3)))), [3, 7]),
        (group(chain(add.s(1, 1), add.s(1)), chord([add.s(5, 5)], total.s())), [3, 10]),
        (chain(add.s(1, 1), group([add.s(3)]), add.s(4)), 9),
        (chain(items.s(), half.s()), 2.5),
    ],
    ids=str,
)
def test_a_canvas_comes_to_what_celery_makes_of_it(
    valkyr: Valkyr, signature: Any, result: Any
) -> None:
    run = started(valkyr, signature)

    run.assert_state("SUCCESS")
    assert run.output == {"result": result}


def test_each_retry_is_an_attempt_with_the_arguments_and_delay_it_asked_for(
    valkyr: Valkyr,
) -> None:
    run = started(valkyr, climb.s(1))
    run.advance_time(29).assert_state("RUNNING")
    assert run.attempts("climb") == 2

    run.advance_time(2).advance_time(31)

    run.assert_state("SUCCESS")
    assert run.output == {"result": [3, 2]}


def test_a_step_that_comes_after_a_final_failure_begins_with_its_own_arguments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VALKYR_CELERY_TASKS", "canvas_tests.add")
    ran = run_module(
        "celery.task", {"task": "canvas_tests.add", "args": [7]}, details={"final": True}
    )

    assert ran.outputs == {"result": 7}


def test_a_task_that_gives_up_is_a_dead_letter_that_names_its_error(valkyr: Valkyr) -> None:
    run = started(valkyr, broken.s())
    run.advance_time(6)

    run.assert_state("FAILED")
    assert "ValueError: still busy" in run.dead_letters["broken.main"]


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ("celery.backend_cleanup", r"Name it in VALKYR\['CELERY_TASKS'\]\."),
        ("runners.sweep", r"is one of Valkyr's own tasks(?!.*CELERY_TASKS)"),
    ],
)
def test_a_task_that_steps_may_not_run_fails_its_step(valkyr: Valkyr, task: str, told: str) -> None:
    step = {"id": "only", "use": "celery.task", "with": {"task": task}}

    run = valkyr.start({"schema": "valkyr/1", "name": "not allowed", "tasks": [step]}, {})

    run.assert_state("FAILED")
    assert re.search(told, run.dead_letters["only.main"], re.DOTALL)
