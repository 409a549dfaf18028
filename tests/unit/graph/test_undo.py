from uuid import UUID

import pytest

from executions.definition.graph.compile import compile_graph
from executions.definition.graph.document import normalise
from executions.definition.graph.places import find, module_in, split, undo_path, undoes
from executions.definition.graph.resolve import resolve
from executions.definition.graph.undo import (
    Succeeded,
    UndoMove,
    UndoStatus,
    next_undo,
    status,
    undo_order,
)
from executions.definition.graph.validation import problems
from tests.unit.graph.catalog import definition, noop
from tests.unit.graph.containers import CONTAINERS, each, loop

WORKFLOW = UUID(int=7)


def undoing(value="x", use="flow.noop", **more):
    return {"use": use, "with": {"v": value}} | more


def found(*tasks, **more):
    return [(one.path, one.code) for one in problems(definition(tasks, **more), CONTAINERS)]


def graph(*tasks, **more):
    resolved = resolve(normalise(definition(tasks, **more)), CONTAINERS)
    return compile_graph(resolved, WORKFLOW), resolved


def test_an_undo_reads_its_own_task_and_what_the_task_could_read():
    reading = undoing(
        "{{ tasks.charge.output }} {{ tasks.reserve.output }} {{ input }} {{ vars.n }} "
        "{{ execution.id }}"
    )

    assert (
        found(noop("reserve"), noop("charge", after="reserve", undo=reading), variables={"n": 0})
        == []
    )


def test_an_undo_in_a_body_reads_its_turn():
    inner = noop(
        "pack", undo=undoing("{{ item }} {{ index }} {{ loop.index }} {{ tasks.a.output }}")
    )

    assert found(noop("a"), loop("l", each("m", inner), after="a")) == []


@pytest.mark.parametrize(
    ("undo", "path", "code"),
    [
        (undoing("{{ tasks.later.output }}"), "undo.with.v", "task_not_before"),
        (undoing("{{ tasks.beside.output }}"), "undo.with.v", "task_not_before"),
        (undoing("{{ tasks.nobody.output }}"), "undo.with.v", "unknown_task"),
        (undoing("{{ previous }}"), "undo.with.v", "no_previous"),
        (undoing("{{ item }}"), "undo.with.v", "not_in_map"),
        (undoing("{{ tasks.a.history }}"), "undo.with.v", "no_history"),
        (undoing("{{ 1 + }}"), "undo.with.v", "template_syntax"),
        (undoing(use="flow.nop"), "undo.use", "unknown_module"),
        (undoing(use="flow.if"), "undo.use", "not_for_undo"),
        (undoing(use="flow.wait"), "undo.use", "not_for_undo"),
        (undoing(use="flow.subworkflow"), "undo.use", "not_for_undo"),
        (undoing(queue="control"), "undo.queue", "reserved_queue"),
        (undoing(credential="key"), "undo.credential", "no_credential"),
        (undoing(retry="patiently"), "undo.retry", "unknown_retry_policy"),
        (undoing(cache={"ttlSeconds": 1}), "undo.cache", "unknown_key"),
        (undoing(undo={}), "undo.undo", "unknown_key"),
        ({"with": {}}, "undo.use", "required"),
        (3, "undo", "type"),
    ],
)
def test_a_mistake_in_an_undo_is_found_where_it_stands(undo, path, code):
    tasks = (noop("a", undo=undo), noop("later", after="a"), noop("beside"))

    assert (f"tasks[0].{path}", code) in found(*tasks)


def test_a_container_has_no_undo_of_its_own():
    task = each("m", noop("a")) | {"undo": undoing()}

    assert found(task) == [("tasks[0].undo", "not_for_containers")]


def test_an_undo_inherits_nothing_from_its_task():
    task = noop("a", queue="slow", retry="none", timeoutSeconds=1, undo=undoing(timeoutSeconds=9))

    undo = graph(task)[1]["tasks"][0]["undo"]

    assert (undo["queue"], undo["retry"]["name"], undo["timeoutSeconds"]) == (
        "default",
        "standard",
        9,
    )
    assert not undo["inline"]


def test_a_failed_execution_is_undone_at_once_unless_it_is_said():
    assert graph(noop("a"))[0].compensation == "automatic"
    assert graph(noop("a"), settings={"compensation": "manual"})[0].compensation == "manual"


def test_an_undo_step_is_found_by_its_path_and_reads_the_tasks_around_it():
    task = noop("pack", undo=undoing("{{ tasks.pack.output }} {{ tasks.a.output }}"))
    whole, resolved = graph(noop("a"), each("m", noop("first"), task, after="a"))

    place, step = find(whole, "m[3].undo:pack.main")

    assert place.prefix == "m[3].undo:"
    assert place.up(1).prefix == "m[3]."
    assert (step.path, step.task) == ("pack.main", 0)
    assert step.outer_reads == {(1, 1), (2, 0)}
    assert step.reads == frozenset()
    assert (
        module_in(resolved, "m[3].undo:pack.main")
        == resolved["tasks"][1]["body"]["tasks"][1]["undo"]
    )
    with pytest.raises(KeyError):
        find(whole, "undo:a.main")


def test_what_is_undone_is_known_by_the_last_module_of_its_task():
    chain = {
        "id": "c",
        "modules": [{"id": "x", "use": "flow.noop"}, {"id": "y", "use": "flow.noop"}],
    }
    whole, _ = graph(chain | {"undo": undoing()}, loop("l", noop("b", undo=undoing())), noop("d"))
    steps = [find(whole, path)[1].module_uuid for path in ("c.y", "l[0].b.main")]

    assert whole.undone == set(steps)


@pytest.mark.parametrize("place", ["", "refine[2].", "batch[17].inner[0]."])
def test_paths_of_undo_steps(place):
    path = undo_path(f"{place}charge.pay")

    assert path == f"{place}undo:charge.main"
    assert split(path) == (f"{place}undo:", "charge.main")
    assert undoes(path)
    assert not undoes(f"{place}charge.pay")


def test_what_ended_last_is_undone_first():
    done = [
        Succeeded((2, "a"), "b.main"),
        Succeeded((1, "z"), "a.x"),
        Succeeded((2, "b"), "c.main"),
    ]

    assert undo_order(done) == ["undo:c.main", "undo:b.main", "undo:a.main"]


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([], UndoStatus.DUE),
        (["CANCELLED"], UndoStatus.DUE),
        (["FAILED", "PENDING"], UndoStatus.LIVE),
        (["FAILED", "DLQ"], UndoStatus.DEAD),
        (["DLQ", "RUNNING"], UndoStatus.LIVE),
        (["DLQ", "SUCCESS"], UndoStatus.OVER),
        (["DLQ", "SKIPPED"], UndoStatus.OVER),
    ],
)
def test_how_an_undo_stands(states, expected):
    assert status(states) is expected


def test_a_dead_undo_stops_those_behind_it():
    order = [("c", UndoStatus.OVER), ("b", UndoStatus.DEAD), ("a", UndoStatus.DUE)]

    assert next_undo(order).move is UndoMove.STOP
    assert next_undo(order).path == "b"
    assert next_undo(order[:1]).move is UndoMove.END
