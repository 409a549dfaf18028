"""Two users work on one dead letter, and a user fixes a step in a body manually."""

import pytest
from django.db import transaction

from dlq.models import DeadLetterEntry
from dlq.resolve.fix_or_skip import fix
from dlq.resolve.requeue import requeue
from executions.errors import WrongState
from runners.models import Run
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.segments import run_of
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, effect, publish, start, states

TWO = {
    "tasks": [
        effect("one", errorType="PERMANENT", failTimes=1),
        effect("two", after="one", value="{{ tasks.one.output }}"),
    ],
    "output": "{{ tasks.two.output }}",
}
MAPPED = {
    "tasks": [
        {
            "id": "each",
            "use": "flow.map",
            "with": {"items": [1, 2, 3]},
            "body": {
                "tasks": [
                    effect("work", value="{{ item }}", errorType="PERMANENT", failTimes=1),
                    effect("more", after="work", value="{{ tasks.work.output + 10 }}"),
                ]
            },
        }
    ],
    "output": "{{ tasks.each.output }}",
}


@pytest.mark.parametrize("other", [fix, requeue])
def test_of_two_people_at_one_dead_letter_one_wins_and_the_other_is_told(
    queue: World, rivals: Rivals, other: object
) -> None:
    execution = start(publish(TWO))
    queue.drain()
    letter = DeadLetterEntry.objects.get(execution_id=execution)
    with transaction.atomic():
        fix(letter.pk, 5, actor=ACTOR)
        if other is fix:
            loser = rivals.begin(fix, letter.pk, 6, actor=ACTOR)
        else:
            loser = rivals.begin(requeue, letter.pk, actor=ACTOR)
        wait_until_blocked(my_session())
    with pytest.raises(WrongState):
        loser.result(60)
    queue.drain()
    assert states([execution])[execution] == "SUCCESS"
    assert run_of(execution, "two.main").outputs == 5
    assert Run.objects.filter(execution_id=execution, step_path="one.main").count() == 2
    letter.refresh_from_db()
    assert letter.resolution == "FIXED"


def test_steps_of_a_body_are_fixed_one_by_one(queue: World) -> None:
    execution = start(publish(MAPPED))
    queue.drain()
    letters = DeadLetterEntry.objects.filter(execution_id=execution).order_by("step_path")
    assert [letter.step_path for letter in letters] == [f"each[{i}].work.main" for i in range(3)]

    for number, letter in enumerate(letters):
        fix(letter.pk, number * 100, actor=ACTOR)
        queue.drain()

    assert states([execution])[execution] == "SUCCESS"
    assert run_of(execution, "each.main").outputs == [10, 110, 210]
