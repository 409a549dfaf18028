"""Ready siblings that are sent in one message."""

import pytest

from executions.definition.graph.places import Place
from runners.dispatch.canvas import Chain, Chord, arrange
from runners.dispatch.packing import Packing
from tests.support.compiled import graph_of
from tests.support.workflows import effect, task


def fan(width, **branch):
    branches = [effect(f"b{n}") | branch for n in range(width)]
    end = effect("end", [t["id"] for t in branches])
    return {"tasks": [*branches, end]}


def sent(document, width, *, milliseconds=1.0, workers=1, most=32, seconds=0.05):
    """Return the canvas for the branches, with steps known to take this time, or a time by path."""
    graph = graph_of(document)

    def estimate(step):
        return milliseconds.get(step.path) if isinstance(milliseconds, dict) else milliseconds

    return arrange(
        Place("", graph),
        [graph.by_path[f"b{n}.main"] for n in range(width)],
        headers=100,
        links=8,
        rules=Packing(seconds, most, estimate, lambda _: workers),
    )


def links(canvas):
    return [link for part in canvas for link in getattr(part, "headers", None) or part.links]


def sizes(canvas):
    return [1 + len(link.others) for link in links(canvas)]


def test_short_siblings_share_a_message():
    [header] = links(sent(fan(6), 6))
    assert header.segment == "b0.main"
    assert header.others == tuple(f"b{n}.main" for n in range(1, 6))
    assert header.name == "tested: b0.main and 5 more"


def test_steps_that_nobody_measured_are_taken_for_short_ones():
    assert sizes(sent(fan(6), 6, milliseconds=None)) == [6]


def test_a_new_fan_of_fifty_is_two_messages_for_two_workers():
    assert sizes(sent(fan(50), 50, milliseconds=None, workers=2)) == [25, 25]


@pytest.mark.parametrize(("workers", "chords"), [(1, 0), (3, 0), (5, 1), (40, 1)])
def test_a_few_packs_are_not_counted_by_celery(workers, chords):
    canvas = sent(fan(50), 50, workers=workers, most=50)
    assert [type(part) for part in canvas] == [Chord] * chords + [Chain] * len(canvas[chords:])


def test_branches_that_go_alone_are_counted_however_few():
    assert [type(part) for part in sent(fan(3), 3, milliseconds=900.0)] == [Chord]


def test_a_pack_holds_no_more_work_than_it_may():
    assert sizes(sent(fan(9), 9, milliseconds=20.0)) == [2, 2, 2, 2, 1]


def test_long_steps_go_alone_beside_short_ones():
    known = {f"b{n}.main": 1.0 for n in range(5)} | {"b2.main": 400.0}
    canvas = sent(fan(5), 5, milliseconds=known)
    assert sorted(sizes(canvas)) == [1, 4]
    assert [link.segment for link in links(canvas) if not link.others] == ["b2.main"]


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 7, 12, 50])
def test_there_are_messages_for_all_workers(workers):
    packs = sizes(sent(fan(50), 50, workers=workers))
    assert sum(packs) == 50
    assert len(packs) >= workers
    assert max(packs) - min(packs) <= max(packs) // 2, "and none is much larger than another"


def test_a_pack_has_no_more_segments_than_it_may():
    assert max(sizes(sent(fan(50), 50, most=8))) == 8


def test_what_waits_for_others_is_not_packed():
    [chord] = sent(fan(4, queue="io"), 4)
    assert sizes([chord]) == [1] * 4


def test_a_branch_costs_what_its_steps_cost_together():
    tasks = []
    for n in range(4):
        tasks += [effect(f"b{n}"), effect(f"c{n}", f"b{n}")]
    document = {"tasks": [*tasks, effect("end", [f"c{n}" for n in range(4)])]}
    known = {f"b{n}.main": 2.0 for n in range(4)} | {f"c{n}.main": 20.0 for n in range(4)}
    assert sizes(sent(document, 4, milliseconds=known)) == [2, 2]


def test_pure_steps_after_the_first_cost_nothing_worth_counting():
    tasks = []
    for n in range(4):
        tasks += [effect(f"b{n}"), task(f"c{n}", after=f"b{n}")]
    document = {"tasks": [*tasks, effect("end", [f"c{n}" for n in range(4)])]}
    known = {f"b{n}.main": 2.0 for n in range(4)}
    assert sizes(sent(document, 4, milliseconds=known)) == [4]


def test_a_single_step_is_sent_as_ever():
    [chain] = sent(fan(3), 1)
    assert isinstance(chain, Chain)
    assert not isinstance(chain, Chord)
