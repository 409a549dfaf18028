"""A user skips a dead step: the steps after it continue, or are skipped too."""

from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from dlq.models import DeadLetterEntry
from dlq.resolve.fix_or_skip import fix, skip
from executions.errors import WrongState
from executions.models import Activity
from runners.models import Run
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.segments import run_of
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, effect, publish, start, states, task
from valkyr_plugins.timetravel.verify import verify

DEAD = {"errorType": "PERMANENT", "failTimes": 1}


def _letter(execution: UUID, path: str) -> DeadLetterEntry:
    return DeadLetterEntry.objects.get(execution_id=execution, step_path=path)


def _ends(execution: UUID) -> dict[str, str]:
    """Return the last state of each step."""
    runs = Run.objects.filter(execution_id=execution).order_by("attempt")
    return dict(runs.values_list("step_path", "state"))


def _run(queue: World, document: dict[str, Any]) -> UUID:
    execution = start(publish(document))
    queue.drain()
    assert states([execution])[execution] == "FAILED"
    return execution


def test_what_depends_on_a_skipped_step_alone_is_skipped_and_joins_go_on(queue: World) -> None:
    execution = _run(
        queue,
        {
            "tasks": [
                effect("bad", **DEAD),
                effect("good", value=7),
                effect("alone", after="bad"),
                effect("further", after="alone"),
                effect("either", after=["bad", "good"], value=1),
                effect("both", after=["bad", "good"], join="all"),
            ],
            "output": {"bad": "{{ tasks.bad.output }}", "either": "{{ tasks.either.output }}"},
        },
    )
    letter = _letter(execution, "bad.main")

    run = skip(letter.pk, actor=ACTOR, reason="not needed")
    queue.drain()

    assert (run.state, run.attempt) == ("SKIPPED", 2)
    assert states([execution])[execution] == "SUCCESS"
    ends = _ends(execution)
    assert {path for path, state in ends.items() if state == "SKIPPED"} == {
        "bad.main", "alone.main", "further.main", "both.main",
    }  # fmt: skip
    assert ends["either.main"] == "SUCCESS"
    letter.refresh_from_db()
    assert (letter.resolution, letter.notes) == ("SKIPPED", "not needed")
    assert letter.requeued_run_id == run.pk
    assert run.execution.output == {"bad": None, "either": 1}
    assert Activity.objects.filter(action="dead_letter.skipped").latest("pk").reason == "not needed"
    assert verify(execution).differences == []


def test_a_skipped_step_ends_its_chain(queue: World) -> None:
    execution = _run(
        queue,
        {
            "tasks": [
                {
                    "id": "chain",
                    "modules": [
                        {"id": "one", "use": "test.effect", "with": {"value": 1}},
                        {"id": "two", "use": "test.effect", "with": DEAD},
                        {"id": "three", "use": "test.effect", "with": {"value": 3}},
                    ],
                },
                effect("after", after="chain"),
                task("besides"),
            ]
        },
    )

    skip(_letter(execution, "chain.two").pk, actor=ACTOR)
    queue.drain()

    assert states([execution])[execution] == "SUCCESS"
    assert _ends(execution) == {
        "chain.one": "SUCCESS", "chain.two": "SKIPPED", "after.main": "SKIPPED",
        "besides.main": "SUCCESS",
    }  # fmt: skip
    assert verify(execution).differences == []


def test_an_item_of_a_map_is_skipped_and_the_others_come_out(queue: World) -> None:
    inner = [
        effect("work", value="{{ item }}", errorType="PERMANENT", failTimes="{{ item % 2 }}"),
        effect("more", after="work", value="{{ tasks.work.output + 10 }}"),
    ]
    mapped = {"id": "each", "use": "flow.map", "with": {"items": [1, 2, 3]}}
    execution = _run(
        queue,
        {
            "tasks": [{**mapped, "body": {"tasks": inner}}, effect("end", after="each")],
            "output": "{{ tasks.each.output }}",
        },
    )

    for path in ("each[0].work.main", "each[2].work.main"):
        skip(_letter(execution, path).pk, actor=ACTOR)
        queue.drain()

    assert states([execution])[execution] == "SUCCESS"
    assert run_of(execution, "each.main").outputs == [None, 12, None]
    assert run_of(execution, "end.main").state == "SUCCESS"
    assert verify(execution).differences == []


def test_an_iteration_whose_step_is_skipped_is_followed_by_the_next(queue: World) -> None:
    body = {"tasks": [effect("work", value=5, errorType="PERMANENT", failTimes=1)]}
    execution = _run(
        queue, {"tasks": [{"id": "again", "use": "flow.loop", "with": {"count": 2}, "body": body}]}
    )

    for index in range(2):
        skip(_letter(execution, f"again[{index}].work.main").pk, actor=ACTOR)
        queue.drain()

    assert states([execution])[execution] == "SUCCESS"
    assert run_of(execution, "again.main").outputs == {"iterations": 2, "last": {"work": None}}


def test_of_two_people_one_skips_and_the_other_is_told(queue: World, rivals: Rivals) -> None:
    execution = _run(queue, {"tasks": [effect("one", **DEAD), effect("two", after="one")]})
    letter = _letter(execution, "one.main")
    with transaction.atomic():
        skip(letter.pk, actor=ACTOR)
        loser = rivals.begin(fix, letter.pk, 6, actor=ACTOR)
        wait_until_blocked(my_session())
    with pytest.raises(WrongState):
        loser.result(60)
    queue.drain()
    assert _ends(execution) == {"one.main": "SKIPPED", "two.main": "SKIPPED"}
