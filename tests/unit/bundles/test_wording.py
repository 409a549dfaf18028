"""The texts with which a plan describes the difference between definitions."""

from typing import Any

from executions.bundles.wording import (
    MOST_LINES,
    contents_of_graph,
    difference_of_graphs,
    difference_of_values,
)


def flow(*tasks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"schema": "valkyr/1", "name": "w", "tasks": list(tasks), **more}


def said(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [f"{line.sign} {line.text}" for line in difference_of_graphs(before, after)]


FETCH = {"id": "fetch", "use": "http.request", "with": {"url": "https://a.example"}}
SHIP = {"id": "ship", "use": "flow.noop", "after": "fetch"}


def test_equal_definitions_have_no_difference_whatever_their_order_and_notation() -> None:
    edges = flow(FETCH, {"use": "flow.noop", "id": "ship"}, edges=[{"from": "fetch", "to": "ship"}])
    moved = {**FETCH, "ui": {"x": 1}}

    assert said(flow(FETCH, SHIP), edges) == []
    assert said(flow(FETCH), flow(moved)) == []
    assert (
        said(
            flow({"id": "a", "use": "flow.noop"}), flow({"id": "a", "use": "flow.noop", "with": {}})
        )
        == []
    )


def test_a_new_task_and_its_edge_are_named() -> None:
    assert said(flow(FETCH), flow(FETCH, SHIP)) == [
        "+ task ship (flow.noop)",
        "+ edge fetch → ship",
    ]


def test_a_removed_task_and_its_edge_are_named() -> None:
    assert said(flow(FETCH, SHIP), flow(FETCH)) == [
        "- task ship (flow.noop)",
        "- edge fetch → ship",
    ]


def test_a_changed_value_is_shown_before_and_after() -> None:
    other = {**FETCH, "with": {"url": "https://b.example", "method": "POST"}}

    assert said(flow(FETCH), flow(other)) == [
        '~ task fetch: with.url: "https://a.example" → "https://b.example"',
        '+ task fetch: with.method: "POST"',
    ]


def test_a_renamed_task_is_one_line() -> None:
    found = said(flow(FETCH), flow({**FETCH, "id": "load"}))

    assert found == ["~ task fetch is now called load"]


def test_the_workflow_itself_and_its_triggers_are_compared() -> None:
    old = flow(
        FETCH, settings={"timeoutSeconds": 30}, triggers=[{"type": "CRON", "cron": "0 * * * *"}]
    )
    new = flow(FETCH, settings={"priority": 5}, triggers=[{"type": "CRON", "cron": "5 * * * *"}])

    assert said(old, new | {"name": "v"}) == [
        '~ name: "w" → "v"',
        "- settings.timeoutSeconds: 30",
        "+ settings.priority: 5",
        '~ triggers[0].cron: "0 * * * *" → "5 * * * *"',
    ]


def test_bodies_are_compared_by_the_paths_of_their_tasks() -> None:
    def loop(*tasks: dict[str, Any]) -> dict[str, Any]:
        return {"id": "each", "use": "flow.map", "body": {"tasks": list(tasks)}}

    found = said(flow(loop(FETCH)), flow(loop(FETCH, {**SHIP, "after": "fetch:error"})))

    assert found == [
        "+ task each.ship (flow.noop)",
        "+ edge fetch → ship on error (in each)",
    ]


def test_long_values_and_many_lines_are_cut() -> None:
    long = {**FETCH, "with": {"url": "x" * 500}}
    many = [{"id": f"t{n}", "use": "flow.noop"} for n in range(MOST_LINES + 5)]

    (line,) = difference_of_graphs(flow(FETCH), flow(long))
    lines = difference_of_graphs(flow(), flow(*many))

    assert len(line.text) < 200
    assert len(lines) == MOST_LINES
    assert lines[-1].text == "and 6 more changes"


def test_a_malformed_definition_has_a_difference_too() -> None:
    broken = {"name": 5, "tasks": "none", "edges": [3, {"from": "a"}]}

    assert contents_of_graph(broken)
    assert difference_of_graphs(flow(FETCH), broken)


def test_items_are_compared_by_their_innermost_values() -> None:
    found = difference_of_values(
        {"amount": "5", "kinds": ["A"]}, {"amount": "6", "kinds": ["A", "B"]}
    )

    assert [f"{line.sign} {line.text}" for line in found] == [
        '~ amount: "5" → "6"',
        '+ kinds[1]: "B"',
    ]
