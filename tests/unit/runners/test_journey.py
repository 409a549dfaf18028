"""What a worker knows of an execution while it carries a segment, and what it concludes."""

from types import SimpleNamespace
from typing import Any
from uuid import UUID

from executions.definition.graph.places import Place
from runners.segment.state import Journey, failed, result
from runners.segment.template_scope import missing, reads_of
from tests.support.compiled import graph_of
from tests.support.workflows import effect, task

DIAMOND = [effect("begin"), effect("a", "begin"), effect("b", "begin"), effect("end", ["a", "b"])]


def on(document: dict[str, Any], **known: Any) -> Journey:
    facts = {
        "segment": "",
        "queue": "default",
        "epoch": 0,
        "priority": 5,
        "started_at": None,
        "input": {},
        **known,
    }
    version = SimpleNamespace(graph=graph_of(document))
    return Journey(UUID(int=1), version, Place("", version.graph), variables={}, **facts)


def end(journey: Journey, name: str, outcome: str = "success", outputs: Any = None) -> None:
    journey.ended(journey.graph.steps[journey.graph.by_path[f"{name}.main"]], outcome, outputs)


def names(journey: Journey, tasks: Any) -> list[str]:
    return [journey.graph.tasks[index].id for index in tasks]


def ready(journey: Journey) -> list[str]:
    return [journey.graph.steps[index].path for index in journey.frontier.ready]


def test_both_branches_of_a_fork_are_ready():
    journey = on({"tasks": DIAMOND})
    end(journey, "begin")
    assert ready(journey) == ["a.main", "b.main"]


def test_a_join_stays_unsettled_until_all_its_branches_ended():
    journey = on({"tasks": DIAMOND})
    end(journey, "a")
    assert names(journey, journey.frontier.unsettled) == ["end"]
    end(journey, "b")
    assert ready(journey) == ["end.main"]
    assert not journey.frontier.unsettled


def test_the_way_not_taken_is_skipped_as_far_as_it_leads():
    gate = task("gate", "flow.if", **{"with": {"condition": True}})
    journey = on(
        {"tasks": [gate, effect("yes", "gate:true"), effect("no", "gate:false"), effect("x", "no")]}
    )
    end(journey, "gate", "true")
    assert ready(journey) == ["yes.main"]
    assert names(journey, journey.frontier.skipped) == ["no", "x"]
    assert journey.results["no"]["outcome"] == "skipped"


def test_the_next_module_of_a_chain_sees_the_one_before():
    chain = {"id": "t", "modules": [
        {"id": "one", "use": "test.effect"},
        {"id": "two", "use": "test.effect", "with": {"value": "{{ previous.n }}"}},
    ]}  # fmt: skip
    journey = on({"tasks": [chain]})
    one, two = journey.graph.steps
    journey.ended(one, "success", {"n": 3})
    assert ready(journey) == ["t.two"]
    assert "t" not in journey.results, "the task has not ended yet"
    assert two.config.render(journey.scope(two, 1))["value"] == 3
    journey.ended(two, "success", 3)
    assert journey.results["t"]["output"] == 3


def test_a_step_that_failed_over_ends_its_task_in_the_middle_of_a_chain():
    chain = {"id": "t", "modules": [{"id": n, "use": "test.effect"} for n in ("one", "two")]}
    journey = on({"tasks": [chain, effect("rescue", "t:error")]})
    one, _, _ = journey.graph.steps
    journey.ended(one, "error", None, failed("no", "PERMANENT", "t.one"))
    assert ready(journey) == ["rescue.main"]
    assert journey.results["t"]["error"] == {
        "message": "no", "type": "PERMANENT", "step": "t.one",
    }  # fmt: skip


def test_results_from_rows_are_as_those_seen():
    journey = on({"tasks": [*DIAMOND, effect("rescue", "end:error")]})
    journey.learn(
        [
            ("begin.main", "SUCCESS", "success", {"n": 1}, "", ""),
            ("a.main", "SKIPPED", "", None, "", ""),
            ("end.main", "FAILED", "error", None, "no", "TIMEOUT"),
        ]
    )
    assert journey.results["begin"] == result({"n": 1}, "success")
    assert journey.results["a"] == result(None, "skipped")
    assert journey.results["end"]["error"]["type"] == "TIMEOUT"


def test_a_step_reads_only_what_its_templates_name():
    reader = effect("reader", ["a", "b"], value="{{ tasks.a.output.x }}")
    journey = on({"tasks": [effect("a"), effect("b"), reader]})
    step = journey.graph.steps[2]
    assert reads_of(journey.place, step) == ["a.main"]
    assert missing(journey, step) == ["a.main"]
    journey.learn([("a.main", "SUCCESS", "success", {"x": 1}, "", "")])
    assert missing(journey, step) == []
