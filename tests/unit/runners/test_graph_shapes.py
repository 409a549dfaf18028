"""A version's graph in the API: tasks by path, their steps, and the edges of every body."""

from typing import Any

from runners.api.execution import shown
from tests.support.compiled import graph_of
from tests.support.workflows import task


def told(*tasks: dict[str, Any]) -> dict[str, Any]:
    return shown(graph_of({"tasks": list(tasks), "edges": []}))


def nested() -> dict[str, Any]:
    inner = task("items", "flow.map", **{
        "with": {"items": [1]}, "body": {"tasks": [task("pick"), task("pack", after="pick")]},
    })  # fmt: skip
    outer = task("again", "flow.loop", **{"with": {"count": 2}, "body": {"tasks": [inner]}})
    return told(task("before"), outer | {"after": "before"})


def test_containers_come_before_what_stands_in_them() -> None:
    nodes = nested()["nodes"]

    assert [(node["path"], node["parent"], node["container"]) for node in nodes] == [
        ("before", "", ""),
        ("again", "", "loop"),
        ("again.items", "again", "map"),
        ("again.items.pick", "again.items", ""),
        ("again.items.pack", "again.items", ""),
    ]
    assert nodes[-1]["steps"] == [{"path": "again.items.pack.main", "module": "flow.noop"}]


def test_edges_of_bodies_name_whole_paths() -> None:
    assert nested()["edges"] == [
        {"from": "before", "to": "again", "label": ""},
        {"from": "again.items.pick", "to": "again.items.pack", "label": ""},
    ]


def test_a_chain_of_modules_is_one_node_with_its_steps() -> None:
    modules = [{"id": name, "use": "flow.noop"} for name in ("render", "send", "note")]
    charge, single = told({"id": "charge", "modules": modules}, task("single"))["nodes"]

    assert [step["path"] for step in charge["steps"]] == [
        "charge.render",
        "charge.send",
        "charge.note",
    ]
    assert len(single["steps"]) == 1


def test_an_outcome_that_is_no_success_is_said() -> None:
    edges = told(task("a"), task("b", after="a:error"), task("c", after="a"))["edges"]

    assert sorted(edge["label"] for edge in edges) == ["", "error"]
