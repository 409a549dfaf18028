"""Segments that are sent together: chords where branches meet, chains where queues change,
otherwise one each.
"""

from executions.definition.graph.places import Place
from runners.dispatch.canvas import (
    Chain,
    Chord,
    SegmentLink,
    arrange,
    chain_of,
    join_of,
    ours,
    successor,
)
from tests.support.compiled import graph_of
from tests.support.workflows import effect, task

DIAMOND = [effect("begin"), effect("a", "begin"), effect("b", "begin"), effect("end", ["a", "b"])]


def on_io(name, after=None):
    return {**effect(name, after), "queue": "io"}


def arranged(document, *names, headers=100, links=8):
    graph = graph_of(document)
    return arrange(
        Place("", graph), [graph.by_path[f"{n}.main"] for n in names], headers=headers, links=links
    )


def segments(canvas):
    links = canvas.headers if isinstance(canvas, Chord) else canvas.links
    return [link.segment.removesuffix(".main") for link in links]


def test_branches_that_lead_to_one_join_are_a_chord():
    [chord] = arranged({"tasks": DIAMOND}, "a", "b")
    assert isinstance(chord, Chord)
    assert segments(chord) == ["a", "b"]
    assert chord.headers[0] == SegmentLink("a.main", "default", "tested: a.main")


def test_more_branches_than_a_chord_may_have_are_several():
    fork = [effect(f"part{n}") for n in range(7)]
    join = effect("join", [task["id"] for task in fork])
    canvas = arranged({"tasks": [*fork, join]}, *(t["id"] for t in fork), headers=3)
    assert [len(segments(part)) for part in canvas] == [3, 3, 1]
    assert isinstance(canvas[2], Chain)


def test_a_lone_branch_to_a_join_is_no_chord():
    [single] = arranged({"tasks": DIAMOND}, "a")
    assert single == Chain((SegmentLink("a.main", "default", "tested: a.main"),))


def test_branches_of_several_steps_meet_in_their_chord():
    tasks = [
        effect("a"), effect("a2", "a"), effect("b"), effect("end", ["a2", "b"]),
    ]  # fmt: skip
    [chord] = arranged({"tasks": tasks}, "a", "b")
    assert segments(chord) == ["a", "b"]


def test_no_chord_reaches_across_a_gate():
    gate = task("gate", "flow.if", **{"with": {"condition": True}})
    tasks = [gate, effect("b"), effect("end", ["gate:true", "b"])]
    canvas = arranged({"tasks": tasks}, "gate", "b")
    assert all(isinstance(part, Chain) for part in canvas)


def test_no_chord_reaches_across_queues():
    tasks = [effect("a"), on_io("a2", "a"), effect("b"), effect("end", ["a2", "b"])]
    canvas = arranged({"tasks": tasks}, "a", "b")
    assert [type(part) for part in canvas] == [Chain, Chain]


def test_segments_that_change_queue_are_a_chain():
    tasks = [effect("a"), effect("b", "a"), on_io("c", "b"), effect("d", "c")]
    [chain] = arranged({"tasks": tasks}, "a")
    assert segments(chain) == ["a", "c", "d"]
    assert [link.queue for link in chain.links] == ["default", "io", "default"]


def test_a_chain_is_bounded():
    tasks = [effect("t0")]
    tasks += [(on_io if n % 2 else effect)(f"t{n}", f"t{n - 1}") for n in range(1, 20)]
    graph = graph_of({"tasks": tasks})
    assert len(chain_of(Place("", graph), graph.steps[0], 8)) == 8


def test_a_chain_ends_where_the_way_is_not_certain():
    join = graph_of({"tasks": [effect("a"), effect("b"), on_io("end", ["a", "b"])]})
    assert successor(join, join.steps[0]) is None
    fork = graph_of({"tasks": [effect("a"), on_io("b", "a"), on_io("c", "a")]})
    assert successor(fork, fork.steps[0]) is None
    rescue = graph_of({"tasks": [effect("a"), on_io("b", "a:error")]})
    assert successor(rescue, rescue.steps[0]) is None


def test_the_steps_of_a_task_follow_each_other():
    chained = {"id": "a", "modules": [{"id": n, "use": "test.effect"} for n in ("one", "two")]}
    graph = graph_of({"tasks": [chained, effect("b", "a")]})
    one, two, b = graph.steps
    assert successor(graph, one) is two
    assert successor(graph, two) is b
    assert join_of(graph, one) is None


GPU = frozenset({"gpu"})


def linked(*queues):
    return tuple(SegmentLink(f"s{n}.main", queue, "") for n, queue in enumerate(queues))


def test_a_chain_ends_before_the_first_remote_segment():
    chain = Chain(linked("default", "io", "gpu", "io"))
    assert ours(chain, GPU) == [Chain(chain.links[:2])]
    assert ours(Chain(linked("gpu", "io")), GPU) == []


def test_a_chord_with_a_remote_branch_goes_one_by_one():
    chord = Chord(linked("default", "gpu", "default"))
    assert ours(chord, GPU) == [Chain((chord.headers[0],)), Chain((chord.headers[2],))]


def test_what_has_no_remote_segment_stays_as_it_is():
    for canvas in (Chain(linked("default", "io")), Chord(linked("default", "default"))):
        assert ours(canvas, GPU) == [canvas]
