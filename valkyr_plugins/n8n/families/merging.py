"""Merge: a task that waits for all of its inputs."""

from valkyr_plugins.n8n.shape import Shape, many, one, operand
from valkyr_plugins.n8n.work import MERGE, Left, Made, NodeWork, family

BY_PLACE = ("mergeByPosition", "combineByPosition", "mergeByIndex", "multiplex", "combineAll")


@family("merge", takes=MERGE)
def merge(work: NodeWork) -> Made:
    """`flow.noop` with `join: all`: all items, one input's, or the objects in one."""
    if work.exclusive:
        work.remark("Only one of its branches is taken, so it goes on as soon as that one is done.")
        return Made("flow.noop", {}, work.shape)
    mode = work.word("mode", "append")
    how = work.word("combineBy", work.word("combinationMode", "combineByFields"))
    if mode in ("passThrough", "chooseBranch"):
        return _chosen(work)
    if mode in ("append", "wait"):
        return _appended(work)
    if mode in BY_PLACE or (mode == "combine" and how in BY_PLACE):
        return _combined(work)
    raise Left(
        "it joins items by fields or by SQL; gather both lists and join them in python.code, or in "
        "the database"
    )


def _shapes(work: NodeWork) -> list[Shape]:
    return [work.inputs[place] for place in sorted(work.inputs)]


def _chosen(work: NodeWork) -> Made:
    given = work.get("useDataOfInput", work.word("output", "input1"))
    last = str(given)[-1:]
    place = int(last) - 1 if last.isdigit() and last != "0" else 0
    return Made("flow.noop", {}, work.inputs.get(place, work.shape), join="all")


def _appended(work: NodeWork) -> Made:
    shapes = _shapes(work)
    if len(shapes) < 2:
        return Made("flow.noop", {}, work.shape, join="all")
    if any(shape.items is None and shape.whole is None for shape in shapes):
        raise Left("it joins what is not known; gather both lists in a data.set")
    lists = [operand(shape.items) if shape.items else f"[{shape.whole}]" for shape in shapes]
    value = "{{ " + " + ".join(lists) + " }}"
    return Made("flow.noop", {"value": value}, many(work.output), join="all")


def _combined(work: NodeWork) -> Made:
    shapes = _shapes(work)
    if not shapes or any(shape.whole is None for shape in shapes):
        raise Left("it joins lists item by item; do it in python.code")
    places = ", ".join(f"@[{place}]" for place in range(len(shapes)))
    data = ["{{ " + str(shape.whole) + " }}" for shape in shapes]
    inputs = {"expression": f"merge({places})", "data": data}
    return Made("data.jmespath", inputs, one(f"{work.output}.result"), join="all")
