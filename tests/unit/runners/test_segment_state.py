"""A worker's knowledge of an execution while it runs a segment, and its conclusions."""

from types import SimpleNamespace
from typing import Any
from uuid import UUID

from executions.definition.graph.places import Place
from runners.segment.context import SegmentContext
from runners.segment.state import SegmentState
from runners.segment.template_data import TemplateData, failed, missing, reads_of, result
from tests.support.compiled import graph_of
from tests.support.workflows import effect, task

DIAMOND = [effect("begin"), effect("a", "begin"), effect("b", "begin"), effect("end", ["a", "b"])]


def on(document: dict[str, Any], **known: Any) -> SegmentState:
    version = SimpleNamespace(graph=graph_of(document), workspace_id=UUID(int=2))
    context = SegmentContext(UUID(int=1), version, epoch=0, priority=5, queue="default", input={})
    return SegmentState(context, TemplateData(context, Place("", version.graph)), "", **known)


def end(state: SegmentState, name: str, outcome: str = "success", outputs: Any = None) -> None:
    state.ended(state.graph.steps[state.graph.by_path[f"{name}.main"]], outcome, outputs)


def names(state: SegmentState, tasks: Any) -> list[str]:
    return [state.graph.tasks[index].id for index in tasks]


def ready(state: SegmentState) -> list[str]:
    return [state.graph.steps[index].path for index in state.frontier.ready]


def test_both_branches_of_a_fork_are_ready():
    state = on({"tasks": DIAMOND})
    end(state, "begin")
    assert ready(state) == ["a.main", "b.main"]


def test_a_join_stays_unsettled_until_all_its_branches_ended():
    state = on({"tasks": DIAMOND})
    end(state, "a")
    assert names(state, state.frontier.unsettled) == ["end"]
    end(state, "b")
    assert ready(state) == ["end.main"]
    assert not state.frontier.unsettled


def test_the_way_not_taken_is_skipped_as_far_as_it_leads():
    gate = task("gate", "flow.if", **{"with": {"condition": True}})
    state = on(
        {"tasks": [gate, effect("yes", "gate:true"), effect("no", "gate:false"), effect("x", "no")]}
    )
    end(state, "gate", "true")
    assert ready(state) == ["yes.main"]
    assert names(state, state.frontier.skipped) == ["no", "x"]
    assert state.data.results["no"]["outcome"] == "skipped"


def test_the_next_module_of_a_chain_sees_the_one_before():
    chain = {"id": "t", "modules": [
        {"id": "one", "use": "test.effect"},
        {"id": "two", "use": "test.effect", "with": {"value": "{{ previous.n }}"}},
    ]}  # fmt: skip
    state = on({"tasks": [chain]})
    one, two = state.graph.steps
    state.ended(one, "success", {"n": 3})
    assert ready(state) == ["t.two"]
    assert "t" not in state.data.results, "the task has not ended yet"
    assert two.config.render(state.data.scope(two, 1))["value"] == 3
    state.ended(two, "success", 3)
    assert state.data.results["t"]["output"] == 3


def test_a_step_that_failed_over_ends_its_task_in_the_middle_of_a_chain():
    chain = {"id": "t", "modules": [{"id": n, "use": "test.effect"} for n in ("one", "two")]}
    state = on({"tasks": [chain, effect("rescue", "t:error")]})
    one, _, _ = state.graph.steps
    state.ended(one, "error", None, failed("no", "PERMANENT", "t.one"))
    assert ready(state) == ["rescue.main"]
    assert state.data.results["t"]["error"] == {
        "message": "no", "type": "PERMANENT", "step": "t.one",
    }  # fmt: skip


def test_results_from_rows_are_as_those_seen():
    state = on({"tasks": [*DIAMOND, effect("rescue", "end:error")]})
    state.data.learn(
        [
            ("begin.main", "SUCCESS", "success", {"n": 1}, "", ""),
            ("a.main", "SKIPPED", "", None, "", ""),
            ("end.main", "FAILED", "error", None, "no", "TIMEOUT"),
        ]
    )
    assert state.data.results["begin"] == result({"n": 1}, "success")
    assert state.data.results["a"] == result(None, "skipped")
    assert state.data.results["end"]["error"]["type"] == "TIMEOUT"


def test_a_step_reads_only_what_its_templates_name():
    reader = effect("reader", ["a", "b"], value="{{ tasks.a.output.x }}")
    state = on({"tasks": [effect("a"), effect("b"), reader]})
    step = state.graph.steps[2]
    assert reads_of(state.place, step) == ["a.main"]
    assert missing(state.data, step) == ["a.main"]
    state.data.learn([("a.main", "SUCCESS", "success", {"x": 1}, "", "")])
    assert missing(state.data, step) == []
