"""How graphs are laid out for the monitor: nothing overlaps, everything leads on, all in bounds."""

from itertools import combinations
from random import Random
from typing import Any

import pytest

from runners.monitor.drawing import Box, Drawing, draw
from tests.support.compiled import graph_of
from tests.support.real_graphs import NAMES, real_graph
from tests.support.workflows import task


def drawn(*tasks: dict[str, Any], edges: list[dict[str, str]] | None = None) -> Drawing:
    return draw(graph_of({"tasks": list(tasks), "edges": edges or []}))


def box(drawing: Drawing, path: str) -> Box:
    return next(found for found in drawing.boxes if found.path == path)


def overlap(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.w
        and other.x < one.x + one.w
        and one.y < other.y + other.h
        and other.y < one.y + one.h
    )


def holds(outer: Box, inner: Box) -> bool:
    return (
        outer.x < inner.x
        and outer.y < inner.y
        and inner.x + inner.w < outer.x + outer.w
        and inner.y + inner.h < outer.y + outer.h
    )


def chain(length: int) -> Drawing:
    return drawn(task("s0"), *(task(f"s{i}", after=f"s{i - 1}") for i in range(1, length)))


def test_a_task_stands_right_of_all_before_it() -> None:
    drawing = drawn(
        task("a"), task("b", after="a"), task("c", after="a"), task("d", after=["b", "c"])
    )

    a, b, c, d = (box(drawing, name) for name in "abcd")
    assert a.x + a.w < b.x == c.x
    assert b.x + b.w < d.x
    assert a.y == d.y == (b.y + c.y) / 2


@pytest.mark.parametrize("name", NAMES)
def test_no_boxes_of_real_graphs_overlap(name: str) -> None:
    drawing = draw(graph_of(real_graph(name)))

    found = [pair for pair in combinations(drawing.boxes, 2) if overlap(*pair)]
    assert found == []


def test_every_line_leads_from_side_to_side() -> None:
    drawing = draw(graph_of(real_graph(NAMES[0])))

    for line in drawing.lines:
        source, target = box(drawing, line.source), box(drawing, line.target)
        assert line.points[0] == (source.x + source.w, source.y + source.h / 2)
        assert line.points[-1] == (target.x, target.y + target.h / 2)


def test_a_body_stands_within_its_container() -> None:
    inner = task("items", "flow.map", **{
        "with": {"items": [1]}, "body": {"tasks": [task("pick"), task("pack", after="pick")]},
    })  # fmt: skip
    outer = task("again", "flow.loop", **{"with": {"count": 2}, "body": {"tasks": [inner]}})
    drawing = drawn(task("before"), outer | {"after": "before"})

    paths = [found.path for found in drawing.boxes]
    assert paths == ["before", "again", "again.items", "again.items.pick", "again.items.pack"]
    again, items, pick, pack = (box(drawing, path) for path in paths[1:])
    assert (again.container, items.container, pick.container) == ("loop", "map", "")
    assert holds(again, items)
    assert holds(items, pick)
    assert holds(items, pack)
    assert pack.steps == (("again.items.pack.main", "flow.noop"),)
    assert not overlap(box(drawing, "before"), again)


def test_a_chain_of_modules_is_one_box_with_its_steps() -> None:
    modules = [{"id": name, "use": "flow.noop"} for name in ("render", "send", "note")]
    drawing = drawn({"id": "charge", "modules": modules}, task("single"))

    charge, single = drawing.boxes
    assert [path for path, _ in charge.steps] == ["charge.render", "charge.send", "charge.note"]
    assert charge.h > single.h


def test_an_outcome_that_is_no_success_is_said() -> None:
    drawing = drawn(task("a"), task("b", after="a:error"), task("c", after="a"))

    assert [line.on for line in drawing.lines] == ["error", ""]


def test_a_very_wide_fork_fits_a_screen() -> None:
    drawing = drawn(task("a"), *(task(f"b{i}", after="a") for i in range(600)))

    assert 0.5 < drawing.width / drawing.height < 4
    sample = Random(1).sample(drawing.boxes, 100)
    assert not any(overlap(*pair) for pair in combinations(sample, 2))


def test_a_very_long_chain_goes_on_below() -> None:
    drawing = chain(300)

    assert 0.5 < drawing.width / drawing.height < 4
    assert not any(overlap(*pair) for pair in combinations(drawing.boxes, 2))
    for found in drawing.boxes:
        assert 0 <= found.x <= drawing.width - found.w
        assert 0 <= found.y <= drawing.height - found.h


def test_a_long_edge_goes_around_what_it_passes() -> None:
    drawing = drawn(
        task("a"), task("b", after="a"), task("c", after="b"), task("d", after=["a", "c"])
    )

    long = next(line for line in drawing.lines if (line.source, line.target) == ("a", "d"))
    assert len(long.points) == 4
    for path, (_, y) in zip("bc", long.points[1:3], strict=True):
        between = box(drawing, path)
        assert not between.y <= y <= between.y + between.h


def test_drawing_is_the_same_each_time() -> None:
    assert draw(graph_of(real_graph(NAMES[1]))) == draw(graph_of(real_graph(NAMES[1])))
