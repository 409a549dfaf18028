"""Short siblings share one message; one of them is killed, slow, or cancelled in the middle."""

from executions import lifecycle
from executions.definition.versions import compiled
from executions.models import Workflow
from runners.dispatch import estimates
from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.modules import marks
from tests.support.outages import kill, marks_of, wait_for_mark
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, effect, publish, start, wait_for_end

BRANCHES = 12
ODD = "b1.main"  # the second of the first pack


def fan(**odd: object) -> Workflow:
    """Publish twelve branches to one join. All are known to be short, even if the second one is
    not.
    """
    branches = [effect("b0"), effect("b1", **odd)]
    branches += [effect(f"b{n}") for n in range(2, BRANCHES)]
    tasks = [*branches, effect("end", [t["id"] for t in branches])]
    workflow = publish({"tasks": tasks})
    assert workflow.latest_version_id is not None
    for step in compiled(workflow.latest_version_id).graph.steps:
        estimates.note_duration(step, 1.0)
    estimates.forget_capacity()  # the fleet started after this process may have read it
    return workflow


def test_siblings_that_share_messages_are_done_once_each(fleet: Fleet) -> None:
    ids = [start(workflow) for workflow in [fan()] * 5]
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    assert audit(ids).repeats == 0


def test_kill_9_in_a_pack_loses_the_step_under_way_alone(fleet: Fleet) -> None:
    execution = start(fan(hangSeconds=50))
    first = wait_for_mark(execution, ODD)
    killed = kill(first["pid"])
    again = wait_for_mark(execution, ODD, number=2)
    third = wait_for_mark(execution, "b2.main")
    assert again["token"] > first["token"]
    assert (again["at"] - killed).total_seconds() < 30
    assert (third["at"] - killed).total_seconds() < 30
    assert wait_for_end([execution])[execution] == "SUCCESS"
    assert audit([execution]).repeats == 1
    assert len(marks_of(execution, "b0.main")) == 1, "what was recorded is not done again"


def test_kill_9_of_a_whole_worker_sends_the_siblings_promptly(fleet: Fleet) -> None:
    execution = start(fan(hangSeconds=50))
    first = wait_for_mark(execution, ODD)
    victim = fleet.member_of(first["pid"])
    killed = kill(victim.pid)
    third = wait_for_mark(execution, "b2.main")
    assert (third["at"] - killed).total_seconds() < 30
    assert wait_for_end([execution])[execution] == "SUCCESS"
    audit([execution])


def test_siblings_of_a_slow_step_are_done_by_others_meanwhile(fleet: Fleet) -> None:
    execution = start(fan(hangSeconds=50))
    wait_for_mark(execution, ODD)
    others = Run.objects.filter(execution_id=execution).exclude(step_path=ODD)
    wait_until(
        lambda: others.filter(state="SUCCESS").count() == BRANCHES - 1,
        40,
        "the end of the slow step's siblings",
    )
    assert Run.objects.get(execution_id=execution, step_path=ODD).state == "RUNNING"
    lifecycle.cancel(execution, actor=ACTOR)
    assert len(marks(execution)) == BRANCHES, "each was done once"


def test_cancelling_in_the_middle_of_a_pack_begins_no_more_of_it(fleet: Fleet) -> None:
    execution = start(fan(hangSeconds=20))
    wait_for_mark(execution, ODD)
    begun = {mark["step"] for mark in marks(execution)}
    lifecycle.cancel(execution, actor=ACTOR)
    assert wait_for_end([execution])[execution] == "CANCELLED"
    after = {mark["step"] for mark in marks(execution)} - begun
    assert "end.main" not in after
    wait_until(lambda: not Run.objects.filter(execution_id=execution).exclude(
        state__in=["SUCCESS", "CANCELLED"]).exists(), 10, "the end of all runs")  # fmt: skip
    audit([execution])
