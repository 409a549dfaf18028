"""Rolling back while real workers run: their results are rejected, and every execution ends
once.
"""

from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from executions.models import WorkflowExecution
from runners.models import Run
from runners.waits.events import signal
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.modules import marks
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, effect, publish, start, task, wait_for_end
from valkyr_plugins.timetravel.fork import fork
from valkyr_plugins.timetravel.rollback import roll_back
from valkyr_plugins.timetravel.verify import verify


def present(execution_id: UUID, path: str, state: str) -> bool:
    return Run.objects.filter(
        execution_id=execution_id, step_path=path, state=state, superseded=False
    ).exists()


def latch(after: str) -> dict[str, Any]:
    """Return a last step that waits, so that nothing ends before the roll-back."""
    return task("latch", "flow.wait_for_event", after, **{"with": {"event": "go"}})


def let_end(execution_id: UUID) -> None:
    wait_until(partial(present, execution_id, "latch.main", "WAITING"), 60, "the step that waits")
    signal(WorkflowExecution.objects.get(pk=execution_id), "go", None, actor=ACTOR)


def test_rolling_back_while_steps_run_runs_them_again_once(fleet: Fleet, tmp_path: Path) -> None:
    document = {
        "variables": {"stage": "new"},
        "output": "{{ vars.stage }}",
        "tasks": [
            effect("one"),
            task("note", "flow.set_variables", "one", **{"with": {"values": {"stage": "noted"}}}),
            effect("left", "note", whileThere="{{ input.held }}"),
            effect("right", "note", whileThere="{{ input.held }}"),
            effect("join", after=["left", "right"], join="all"),
        ],
    }
    workflow = publish(document)
    ids = []
    for number in range(5):
        held = tmp_path / str(number)
        held.touch()
        pk = start(workflow, {"held": str(held)})
        wait_until(partial(present, pk, "left.main", "RUNNING"), 30, "the step to run")
        assert roll_back(pk, step_path="one.main", actor=ACTOR).context_data == {"stage": "new"}
        held.unlink()
        ids.append(pk)
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    audit(ids)
    for pk in ids:
        execution = WorkflowExecution.objects.get(pk=pk)
        assert (execution.output, execution.epoch) == ("noted", 1)
        steps = [mark["step"] for mark in marks(pk)]
        assert (steps.count("one.main"), steps.count("join.main")) == (1, 1)
        assert verify(pk).differences == []


def test_loops_and_maps_go_on_where_they_were_set_back(fleet: Fleet) -> None:
    document = {
        "output": "{{ tasks.refine.output.last.batch }}",
        "tasks": [
            task(
                "refine",
                "flow.loop",
                **{"with": {"count": 4}},
                body={
                    "tasks": [
                        task(
                            "batch",
                            "flow.map",
                            **{"with": {"items": [1, 2, 3, 4], "maxConcurrency": 2}},
                            body={
                                "tasks": [
                                    effect("get", value="{{ [loop.index, item] }}", seconds=0.1)
                                ]
                            },
                        )
                    ]
                },
            ),
            latch("refine"),
        ],
    }
    ids = [start(publish(document)) for _ in range(3)]
    for pk in ids:
        third = Run.objects.filter(execution_id=pk, step_path="refine[2].batch[1].get.main")
        wait_until(third.exists, 60, "the third iteration")
        roll_back(pk, step_path="refine[1].batch[0].get.main", actor=ACTOR)
    for pk in ids:
        let_end(pk)
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    audit(ids)
    for pk in ids:
        output = WorkflowExecution.objects.get(pk=pk).output
        assert output == [[3, 1], [3, 2], [3, 3], [3, 4]]
        assert sum(mark["step"] == "refine[0].batch[3].get.main" for mark in marks(pk)) == 1
        assert verify(pk).differences == []


def test_again_and_again_under_load(fleet: Fleet) -> None:
    steps = [effect("s0")] + [effect(f"s{n}", f"s{n - 1}") for n in range(1, 30)]
    pk = start(publish({"tasks": [*steps, latch("s29")]}))
    for number in (2, 4, 6, 8):
        path = f"s{number}.main"
        wait_until(partial(present, pk, path, "SUCCESS"), 30, path)
        roll_back(pk, step_path=f"s{number - 1}.main", actor=ACTOR)
    let_end(pk)
    assert wait_for_end([pk])[pk] == "SUCCESS"
    audit([pk])


def test_a_fork_runs_on_real_workers(fleet: Fleet) -> None:
    origin = start(publish({"tasks": [effect("one"), effect("two", "one"), effect("end", "two")]}))
    wait_for_end([origin])
    made = fork(origin, step_path="two.main", actor=ACTOR)
    assert wait_for_end([made.pk])[made.pk] == "SUCCESS"
    audit([made.pk])
    assert [mark["step"] for mark in marks(made.pk)] == ["two.main", "end.main"]
