"""Tests of durable canvases on real workers, compared with plain Celery's; repair, transactions."""

import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from celery import chain, chord, group
from celery.exceptions import TaskRevokedError, TimeLimitExceeded
from celery.result import ResultBase
from django.db import transaction
from kombu.utils.json import dumps

import valkyr
from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from examples import celery_canvas
from executions.access.actor import Actor
from executions.errors import KeyReused, NotFound
from executions.models import Workflow
from runners.models import Run
from tests.plugins.canvas.workers import tasks
from tests.plugins.canvas.workers.canvases import CORPUS
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from valkyr_plugins.canvas.results import DurableResult

DOCS = Path(__file__).parents[4] / "docs" / "how-to"
ACTOR = Actor.system("tests")
SECONDS = 40


def told(result: Any) -> Any:
    """Return the result of `get` of a plain or a durable result, as text or as an error's facts."""
    try:
        if isinstance(result, ResultBase) and not getattr(result, "ignored", False):
            # Polled: our result backend does not listen.
            wait_until(result.ready, SECONDS, f"the end of {result}")
        found = result.get(timeout=SECONDS)
    except Exception as error:  # whatever the task raised
        return type(error).__name__, re.sub(r"[0-9a-f-]{36}", "ID", str(error))
    return json.loads(dumps(found))


@pytest.fixture(scope="module")
def ended(fleet: Fleet) -> dict[str, tuple[Any, Any]]:
    """Return the results of each canvas of the corpus: plain Celery's, and the durable one's."""
    plain = {name: make().apply_async() for name, make in CORPUS.items()}
    durable = {name: valkyr.durable(make()).start() for name, make in CORPUS.items()}
    return {name: (told(plain[name]), told(durable[name])) for name in CORPUS}


@pytest.mark.parametrize("name", CORPUS)
def test_a_canvas_comes_to_what_plain_celery_makes_of_it(
    ended: dict[str, tuple[Any, Any]], name: str
) -> None:
    plain, durable = ended[name]

    assert durable == plain


def test_retries_are_rows_and_the_result_tells_of_each_task(fleet: Fleet) -> None:
    result = valkyr.durable(chain(tasks.again.s(2), tasks.add.s(1))).start()

    assert result.get(timeout=SECONDS) == 3
    assert (result.ready(), result.successful(), result.failed()) == (True, True, False)
    assert (result.state, result.result) == ("SUCCESS", 3)
    facts = [(one.name, one.state, one.retries, one.result) for one in result.children]
    assert facts == [("corpus.again", "SUCCESS", 2, 2), ("corpus.add", "SUCCESS", 0, 3)]
    assert Run.objects.filter(execution_id=result.id).count() == 4


def test_children_are_in_the_order_of_canvas_and_items(fleet: Fleet) -> None:
    pairs = [(number, 0) for number in range(12)]
    result = valkyr.durable(chain(tasks.add.starmap(pairs), tasks.total.s())).start()

    assert result.get(timeout=SECONDS) == 66
    facts = [(one.name, one.result) for one in result.children]
    assert facts == [*(("corpus.add", number) for number in range(12)), ("corpus.total", 66)]


def test_a_start_commits_or_vanishes_with_the_callers_rows(fleet: Fleet) -> None:
    with transaction.atomic():
        kept = tasks.charge.delay(7)
        lost = tasks.charge.delay(8)
        transaction.set_rollback(True)
    with transaction.atomic():
        kept = tasks.charge.apply_async((7,), {"currency": "CHF"})

    assert kept.get(timeout=SECONDS) == [7, "CHF", kept.id]
    with pytest.raises(NotFound):
        _ = lost.state
    assert valkyr.DurableResult(kept.id).state == "SUCCESS"


def test_a_task_id_starts_a_durable_task_once(fleet: Fleet) -> None:
    first, second = (tasks.charge.apply_async((7,), task_id="order-7") for _ in range(2))

    assert first == second
    with pytest.raises(KeyReused):
        tasks.charge.apply_async((8,), task_id="order-7")


def test_many_calls_start_together(fleet: Fleet) -> None:
    results = tasks.charge.delay_many([(1,), (2, "CHF")])

    assert [r.get(timeout=SECONDS)[:2] for r in results] == [[1, "EUR"], [2, "CHF"]]
    assert tasks.charge.delay_many([]) == []
    with pytest.raises(TypeError):
        tasks.charge.delay_many([(1,), ()])


def test_a_durable_task_in_a_plain_canvas_is_plain(fleet: Fleet) -> None:
    assert told(chain(tasks.add.s(1, 2), tasks.charge.s())())[0] == 3


def test_calls_of_one_shape_share_a_version(fleet: Fleet) -> None:
    for number in range(3):
        valkyr.durable(chain(tasks.add.s(number, 1), tasks.late.s())).start()

    found = Workflow.objects.get(origin="celery canvas", name="corpus.add, corpus.late")
    assert found.versions.count() == 1


def test_a_queue_of_the_projects_own_has_the_step(fleet: Fleet) -> None:
    result = tasks.where.apply_async(queue="letters")

    assert result.get(timeout=SECONDS) == "worker-default"
    assert Run.objects.get(execution_id=result.id).queue == "letters"


def test_a_key_starts_a_canvas_once(fleet: Fleet) -> None:
    canvas = valkyr.durable(tasks.add.s(1, 2))

    assert canvas.start(key="one") == canvas.start(key="one") != canvas.start()


def test_error_callbacks_are_called_as_celery_does(fleet: Fleet, tmp_path: Path) -> None:
    told_inline, told_apart = tmp_path / "inline", tmp_path / "apart"
    canvas = chain(tasks.add.s(1, 1), tasks.fails.s(word="late"))
    canvas.link_error(tasks.on_error.s(path=str(told_inline)))
    canvas.link_error(tasks.told_of.s(path=str(told_apart)))

    result = valkyr.durable(canvas).start()

    with pytest.raises(ValueError, match="late"):
        result.get(timeout=SECONDS)
    assert result.failed()
    assert isinstance(result.result, ValueError)
    assert "raise ValueError" in (result.traceback or "")
    wait_until(told_apart.exists, SECONDS, "the callback's execution")
    assert told_inline.read_text() == "corpus.fails ValueError ('late', 7)\n"
    assert told_apart.read_text() == "told of 36\n"


def test_a_chords_failed_header_calls_the_bodys_error_callback(
    fleet: Fleet, tmp_path: Path
) -> None:
    mark = tmp_path / "told"
    body = tasks.total.s().on_error(tasks.on_error.s(path=str(mark)))

    result = valkyr.durable(chord([tasks.add.s(1, 1), tasks.fails.s()], body)).start()

    assert isinstance(result.get(timeout=SECONDS, propagate=False), ValueError)
    assert mark.read_text().startswith("corpus.fails ValueError")


def test_links_run_after_their_task(fleet: Fleet, tmp_path: Path) -> None:
    mark = tmp_path / "linked"
    signature = tasks.add.s(1, 2)
    signature.link(tasks.note_after.s(str(mark)))

    assert valkyr.durable(signature).start().get(timeout=SECONDS) == 3
    assert mark.read_text() == "3\n"


def test_a_time_limit_ends_a_task_once(fleet: Fleet, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    result = valkyr.durable(tasks.sleeps.s(str(mark)).set(time_limit=0.5)).start()

    with pytest.raises(TimeLimitExceeded):
        result.get(timeout=SECONDS)
    assert mark.read_text() == "began\n"


def test_an_expired_task_does_not_run_until_a_person_says_so(fleet: Fleet) -> None:
    result = valkyr.durable(tasks.add.s(1, 2).set(expires=-1)).start()
    with pytest.raises(TaskRevokedError):
        result.get(timeout=SECONDS)

    requeue(letter_of(result).pk, actor=ACTOR, reason="run it now")

    wait_until(result.successful, SECONDS, "the end")


@pytest.mark.parametrize(
    ("task", "method"), [(tasks.replaces, "replace"), (tasks.adds_to_chord, "add_to_chord")]
)
def test_a_task_that_changes_its_canvas_fails_once_and_is_told(
    fleet: Fleet, task: Any, method: str
) -> None:
    result = valkyr.durable(task.s()).start()

    with pytest.raises(Exception, match=f"called self.{method}"):
        result.get(timeout=SECONDS)
    assert Run.objects.filter(execution_id=result.id).count() == 1


def test_a_revoked_canvas_ends(fleet: Fleet) -> None:
    result = valkyr.durable(tasks.add.s(1, 2).set(countdown=600)).start()
    wait_until(lambda: result.state == "STARTED", SECONDS, "the beginning")

    result.revoke()

    assert result.state == "REVOKED"
    with pytest.raises(TaskRevokedError):
        result.get(timeout=0)


def test_a_dead_letter_goes_on_with_changed_arguments(fleet: Fleet) -> None:
    canvas = group(chain(tasks.pays.s("ann", -5), tasks.given.s()), tasks.pays.s("bob", 5))
    result = valkyr.durable(canvas).start()
    with pytest.raises(ValueError, match="cannot pay -5"):
        result.get(timeout=SECONDS)

    requeue(letter_of(result).pk, actor=ACTOR, overrides={"args": ["ann", 50]}, reason="a typo")

    wait_until(result.successful, SECONDS, "the end")
    assert result.result == [[["ann: 50"], {}], "bob: 5"]


def test_a_person_who_changes_the_task_needs_the_allow_list(fleet: Fleet) -> None:
    result = valkyr.durable(tasks.fails.s()).start()
    assert isinstance(result.get(timeout=SECONDS, propagate=False), ValueError)

    requeue(letter_of(result).pk, actor=ACTOR, overrides={"task": "corpus.add"}, reason="no")

    wait_until(lambda: DeadLetterEntry.objects.filter(execution_id=result.id).count() == 2, SECONDS)
    with pytest.raises(Exception, match="VALKYR\\['CELERY_TASKS'\\]"):
        result.get(timeout=SECONDS)


def test_five_canvases_as_people_write_them_come_to_the_same(fleet: Fleet) -> None:
    plain = {name: make().apply_async() for name, make in celery_canvas.CANVASES.items()}

    durable = celery_canvas.run(SECONDS)

    assert durable == {name: told(result) for name, result in plain.items()}
    assert durable["order"] == "7-EUR by post"


@pytest.mark.parametrize("page", ["celery-canvas", "celery-tasks"])
def test_the_code_of_the_page_runs(
    fleet: Fleet, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "shop", ModuleType("shop"))
    monkeypatch.setitem(sys.modules, "shop.tasks", celery_canvas)
    names: dict[str, Any] = {"__name__": f"docs_{page.replace('-', '_')}"}

    for block in re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text(), re.DOTALL):
        exec(block, names)

    assert names["result"].successful()


def letter_of(result: DurableResult) -> DeadLetterEntry:
    """Return the open dead letter of a canvas."""
    return DeadLetterEntry.objects.filter(execution_id=result.id).latest("pk")
